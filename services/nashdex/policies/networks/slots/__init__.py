"""A network that reads an observation row by row and has one output for each action. It fits every space."""
