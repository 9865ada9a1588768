"""A network that scores each action by the Pokémon or move that it names. It fits Showdown's spaces."""
