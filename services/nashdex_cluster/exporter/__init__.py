"""Exports the reports of active runs to Prometheus, because the pods that computed them are gone.

Reads published documents only, and computes no more than a maximum or a difference.
"""
