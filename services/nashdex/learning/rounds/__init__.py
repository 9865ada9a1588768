"""Rounds of battles within a training: their battles, players, snapshots and order."""
