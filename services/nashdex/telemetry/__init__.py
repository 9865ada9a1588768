"""What a process says while it runs: logs, metrics, health and progress."""
