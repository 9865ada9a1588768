"""``emerald-kaizo``: the move scores of a difficult fan-made game, as metamon has them, with their oddities."""
