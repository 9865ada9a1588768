"""The evaluate step: plays the pairs of the population that are new, and counts."""
