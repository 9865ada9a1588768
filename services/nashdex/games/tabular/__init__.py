"""Games small enough to write down: matrix games, and Kuhn and Leduc poker from OpenSpiel.

Every number here is exact and comes from the game's tree. Does not import policies, training or torch.
"""
