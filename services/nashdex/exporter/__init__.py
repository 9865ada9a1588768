"""Tells Prometheus what the reports of active runs say, while no pod of theirs is there to say it.

Reads published documents and nothing else; computes no more than a maximum or a difference.
"""
