"""Meta-solvers: from a payoff matrix to a mixture. Pure functions over arrays; no store, no policies."""
