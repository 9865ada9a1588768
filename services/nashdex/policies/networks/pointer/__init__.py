"""A network that scores each action by its Pokémon or move. It fits Showdown's spaces."""
