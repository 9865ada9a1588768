"""Opponent rules: the mixture of policies that a learner plays against. One file for each rule."""
