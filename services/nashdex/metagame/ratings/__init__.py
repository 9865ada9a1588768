"""Ratings: one number per policy, with intervals. Bradley-Terry is primary; Elo and Glicko are for display."""
