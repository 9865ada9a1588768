"""Oracles: the algorithms that train a policy, one file each, from its settings to its words in the report.

``interface`` is the whole surface of an oracle; ``registry`` finds the built-in oracles and the ones of
installed packages. Settings import every oracle's file, so a file imports torch and the learning
machinery only when training begins.
"""
