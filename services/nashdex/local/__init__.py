"""Runs the plan on this machine: one process a step and shard, as many at once as there are cores."""
