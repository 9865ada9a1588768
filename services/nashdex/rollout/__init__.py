"""Plays assigned battles with batched inference: poll, group by policy, one forward pass each, answer."""
