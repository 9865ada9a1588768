"""The commands that this package adds to ``nashdex``. Heavy imports are inside the functions."""
