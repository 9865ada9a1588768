"""How fast battles are collected, and where the time goes."""
