"""The solve and report steps: from counted battles to meta-strategy, exploitability, ratings and a page to read."""
