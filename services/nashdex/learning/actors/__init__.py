"""Actors: processes that play a training's battles while the learner trains, through the store alone."""
