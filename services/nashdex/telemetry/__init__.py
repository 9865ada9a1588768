"""What a process says while it runs: logs, metrics, health and progress.

Knows nothing of stores or games. A step needs `progress` (which also keeps health and most metrics) and, for what
has labels of its own, `metrics`; the command line calls `startup` once.
"""
