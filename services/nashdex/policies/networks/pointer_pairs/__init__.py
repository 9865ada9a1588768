"""The pointer network for two slots at once."""
