"""Rewards by name: what a training maximises."""
