"""Population-based self-play for Pokémon Showdown that does not collapse, with error bars."""

__version__ = "0.1.0"
