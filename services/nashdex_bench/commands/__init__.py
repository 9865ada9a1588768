"""The commands that this package adds to ``nashdex bench``. Heavy imports are inside the functions."""
