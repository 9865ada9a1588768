"""The collect step: battles of the learner against the meta-strategy, recorded for training."""
