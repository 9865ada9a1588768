"""Runs the plan on this machine: one process per step and shard, as many in parallel as there are cores."""
