"""Benchmarks. No package that runs a training imports this one."""
