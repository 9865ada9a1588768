"""Measured coverage: a run's own design, simulated from a known truth, through the functions that publish numbers."""
