"""Advantage estimators: how much better each decision was than expected, and what the critic learns.

One estimator a file, chosen by ``train.oracle.advantages``. Imports no torch: settings declare sections from here.
"""
