"""Benchmarks and audits. No package that runs a training imports this one."""
