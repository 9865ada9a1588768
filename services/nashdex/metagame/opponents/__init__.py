"""Opponent rules: which mixture of policies a learner plays against."""
