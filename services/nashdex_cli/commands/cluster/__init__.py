"""Commands that submit a run to a cluster and follow it there."""
