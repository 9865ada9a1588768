"""Metamon's baselines: rule-based players that read a battle through poke-env, under the names ``metamon:…``.

Oddities of the originals are kept, because ratings against them depend on how they play. Each is stated where it is.
"""
