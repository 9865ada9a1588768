"""An entity transformer: attention over Pokémon, the active ones' moves and the field. It fits Showdown's spaces."""
