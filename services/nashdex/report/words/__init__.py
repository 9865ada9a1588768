"""The report's sentences: what it finds, and what it says of each estimator and each learning curve."""
