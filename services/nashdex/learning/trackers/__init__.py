"""Experiment trackers: TensorBoard and Weights & Biases, where they are installed and asked for.

They see copies of numbers that are in the training's result anyway. Nothing reads them back.
"""
