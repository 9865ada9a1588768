"""The collect step: records battles of the learner against the meta-strategy for training."""
