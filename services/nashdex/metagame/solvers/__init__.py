"""Meta-solvers: from a payoff matrix to a mixture, one file each. Pure functions over arrays; no store, no policies."""
