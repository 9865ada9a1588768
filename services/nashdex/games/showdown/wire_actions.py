"""Where the simulator's numbering of actions has the switches and moves of single battles."""

from dataclasses import dataclass

from nashdex.games.space import Space


@dataclass(frozen=True, slots=True)
class WireActions:
    """Where the simulator's numbering has its switches and moves."""

    switches: tuple[int, ...]
    moves: tuple[int, ...]
    tera_moves: tuple[int, ...]
    """Empty in a generation without terastallization."""

    @classmethod
    def of(cls, space: Space) -> "WireActions":
        """Return the places in ``space``, a Showdown format's."""
        return cls(*(_places(space, name) for name in ("switch", "move", "terastallize move")))


def _places(space: Space, name: str) -> tuple[int, ...]:
    return tuple(number for number, action in enumerate(space.actions) if action.rpartition(" ")[0] == name)
