"""Benchmarks of metamon's world: how strong its baselines are here, and what its views cost."""
