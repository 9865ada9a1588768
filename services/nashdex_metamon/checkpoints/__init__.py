"""Metamon's checkpoints: read with an allow-list, computed by this package's own networks, played as frozen policies.

Shapes: N rows (one decision of one seat each), W words, F numbers, A actions, D the width of a layer, H heads, T
decisions. Modules that need torch are not imported before a checkpoint is used.
"""
