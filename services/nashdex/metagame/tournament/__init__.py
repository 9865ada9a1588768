"""The battles of a tournament, and the sequential test that admits a new policy."""
