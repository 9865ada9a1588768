"""Plays battles with batched inference: poll, group by policy, one forward pass per policy, answer.

``session`` is the one way to play; ``pairs`` plans side-swapped battles. Writes nothing and knows no step.
"""
