"""Metamon's world under its own names: states, observations, actions, rewards, vocabularies and baselines.

metamon is a project on Pokémon battles whose models, data and baselines use spaces of their own. This package reads and
writes them: pure functions of one JSON state and of a seat's history. It plays nothing and trains nothing; the
simulator's numbering of actions stays the only one in shards and on the wire. Sources: metamon (UT Austin, MIT),
its ``interface.py`` and ``tokenizer``; poke-env 0.8.3, whose names its states use.
"""
