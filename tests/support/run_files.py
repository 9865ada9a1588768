"""Settings files of small runs that several tests start."""

SMALL_GEN1OU = """
format = "gen1ou"
iterations = 2
seed = 3
[arena]
concurrent_battles = 12
[collect]
battles = 24
shards = 2
[train.oracle]
decisions = 2000
round_battles = 16
[evaluate]
battles_per_pair = 4
[solve]
num_draws = 100
"""
