"""The evaluate and gate steps: play, or compute, the payoffs that the ledger lacks. Also matches outside a run."""
