"""Policies that are programs: they need no training, never change, and anchor the ratings. Their names are their ids.

A package adds its own under the entry point group ``nashdex.scripted_policies``.
"""
