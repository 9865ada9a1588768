"""Logs, metrics, health and progress of a process.

Knows nothing of stores or games. A step uses `progress`, which also sets health and most metrics, and `metrics` for
those with labels of their own. The command line calls `startup` once.
"""
