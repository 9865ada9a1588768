"""What a game is: seats, legal actions, observations, outcomes. ``showdown`` is the one that matters.

Knows nothing of policies or training, and never imports torch.
"""
