"""The act step: an actor, which plays the battles of trainings that run."""
