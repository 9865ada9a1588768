"""A run before it starts: its inputs, whether its settings fit each other, and its stored configuration."""
