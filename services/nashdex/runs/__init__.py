"""A run before it starts: its input files, the check that its settings go together, its stored configuration."""
