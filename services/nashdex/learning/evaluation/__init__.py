"""Evaluation during training: its battles, the learning curve, and which weights were the best."""
