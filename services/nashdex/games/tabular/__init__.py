"""Games small enough to write down whole: matrix games, and Kuhn and Leduc poker by OpenSpiel.

Every number here is exact, from the game's tree. Knows nothing of policies or training; never imports torch.
"""
