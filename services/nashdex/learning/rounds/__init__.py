"""Rounds of battles within a training: what they play, where, against which snapshots, and when they are learned."""
