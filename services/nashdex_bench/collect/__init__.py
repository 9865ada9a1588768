"""Benchmarks of collecting: its rate, its latency, its memory, and its profile."""
