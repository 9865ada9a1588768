"""Which battles a tournament plays, and the sequential test that admits a new policy."""
