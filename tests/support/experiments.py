"""An experiment of two arms on Kuhn poker, whose runs take seconds."""

BASE = """
format = "kuhn_poker"
iterations = 2
opponents = "self-play"
population.initial = ["random"]
network = { embedding_size = 4, entity_size = 16, hidden_size = 16, num_hidden_layers = 1 }
collect = { teacher = "random", battles = 300, shards = 1 }
arena = { concurrent_battles = 300 }
train.first = { num_epochs = 1, critic_warmup_epochs = 1 }
evaluate.shards = 1
[train.oracle]
decisions = 1500
round_battles = 200
num_epochs = 1
minibatch_decisions = 128
evaluation = { every_decisions = 1000, battles = 40, anchors = ["random"] }
damping = { preset = "none" }
"""
PLAN = """
hypothesis = "A step size of nearly 0 learns nothing."
base = "base.toml"
seeds = [1]
arms_at_once = 2
measure = { anchors = { random = 0.0 }, battles = 40 }
verdict = { kind = "difference", control = "base" }
[[arms]]
name = "base"
[[arms]]
name = "still"
settings = { "train.oracle.learning_rate" = 1e-9 }
"""
