"""Payoff evidence: counts of battles or exact payoffs, and the estimates that follow from them."""
