"""Deciding what an iteration does: its DAG of steps, and the plan step that names learner and opponents."""
