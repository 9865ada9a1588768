"""The empirical game: population, payoff ledger, meta-solvers, exploitability, ratings.

Pure functions over arrays and documents. Touches no store, no process and no tensor library.
"""
