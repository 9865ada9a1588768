"""``search:…``: scripted policies that search over sampled worlds, and stored policies with a search around them.

Nothing heavy is imported before a player is made.
"""
