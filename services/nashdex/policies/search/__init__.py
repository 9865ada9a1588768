"""``search:…``: scripted policies that search over sampled worlds.

Nothing heavy is imported before a player is made.
"""
