"""The plan of a run as data, and what starts it elsewhere. Never runs a step itself."""
