"""Damping: how strongly each update is held back, as data. A preset is an entry of the registry.

A coefficient is composed, never overwritten: β_k = clip(s_k · m_k, floor, 10 · initial) · min(1, k / warm-up), where
s_k is a schedule. A controller moves the multiplier m_k, and checkpoints keep it. The step size is composed the same
way. Imports no torch.
"""
