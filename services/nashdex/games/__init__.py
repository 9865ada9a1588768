"""Games: seats, legal actions, observations, outcomes. ``showdown`` and ``tabular`` implement ``interface``.

Does not import policies, training or torch.
"""
