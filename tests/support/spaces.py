"""A small space, and a small game in it, for tests that need no Showdown."""

from nashdex.games.space import ObservationBlock, ObservationField, Space


def tiny_space(num_actions: int = 2) -> Space:
    """Return a space of two rows (a category and a number each) and one row of three numbers."""
    own = ObservationBlock(
        name="own",
        offset=0,
        rows=2,
        stride=2,
        fields=(
            ObservationField(name="species", offset=0, size=1, kind="category", vocabulary="species"),
            ObservationField(name="hp", offset=1, size=1, kind="number"),
        ),
    )
    field = ObservationBlock(
        name="field",
        offset=4,
        rows=1,
        stride=3,
        fields=(ObservationField(name="turn", offset=0, size=3, kind="number"),),
    )
    return Space(
        game="tiny",
        format="tiny",
        version="1",
        observation_size=7,
        num_actions=num_actions,
        actions=tuple("abcdefgh"[:num_actions])
        if num_actions <= 8
        else tuple(f"action {i}" for i in range(num_actions)),
        vocabularies={"species": 5},
        blocks=(own, field),
    )
