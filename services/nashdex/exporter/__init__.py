"""Exports to Prometheus what the reports of active runs say, because the pods that computed it are gone.

Reads published documents only, and computes no more than a maximum or a difference.
"""
