"""The report's sentences: its findings, and its texts on each estimator and each learning curve."""
