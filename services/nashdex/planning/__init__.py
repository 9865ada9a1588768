"""What an iteration does: its DAG of steps, and the plan step, which names the learner and its opponents."""
