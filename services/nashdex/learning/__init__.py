"""The machinery that oracles share: batches, the guarded training loop, damping, references, rounds, checkpoints.

Nothing here belongs to one algorithm: those are in ``nashdex.oracles``, one file each.
"""
