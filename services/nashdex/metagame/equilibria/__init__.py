"""Two-player matrix games: gains and regrets, and the equilibrium of a zero-sum game. Pure functions over arrays."""
