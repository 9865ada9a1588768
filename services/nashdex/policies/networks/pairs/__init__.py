"""The pairs network, for games whose decisions choose for two slots at once."""
