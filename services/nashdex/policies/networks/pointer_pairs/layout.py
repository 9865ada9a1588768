"""Where a doubles space has its Pokémon, their moves and both slots, and what each action of a slot names."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from nashdex.core.errors import ConfigurationError
from nashdex.games.space import ObservationBlock, Space
from nashdex.policies.networks.damage import AsObserved, DamageEstimates
from nashdex.policies.networks.entities import active_columns

_SWITCH = re.compile(r"switch (\d+)")
_MOVE = re.compile(r"(?:(.+)[ -])?move (\d+)(?: at (own|foe) ([12]))?")
PASS = "pass"  # noqa: S105 - an action

TARGETS = ("ally", "self", "none", "foe 1", "foe 2")
"""Where a move goes, from the view of its user's slot."""


@dataclass(frozen=True)
class Side:
    """One side's Pokémon, moves and slots. Row k · p + m of the moves is move m of Pokémon p."""

    pokemon: ObservationBlock
    moves: ObservationBlock
    slots: ObservationBlock
    active: tuple[slice, slice]
    """Columns of the observation for each slot: the flags, Pokémon by Pokémon, whether the Pokémon is in the slot."""

    @property
    def moves_each(self) -> int:
        """How many moves a Pokémon has."""
        return self.moves.rows // self.pokemon.rows


class Candidate(NamedTuple):
    """What an action of one slot names."""

    kind: str
    """``pass``, ``switch``, ``move``, or how a move is used, such as ``terastallize``."""
    row: int = 0
    """Row of the own Pokémon, or of the Pokémon's moves."""
    target: str = "none"


@dataclass(frozen=True)
class Layout:
    """A doubles space as the pointer-pairs network reads it."""

    own: Side
    opponent: Side
    others: tuple[ObservationBlock, ...]
    candidates: tuple[tuple[Candidate, ...], tuple[Candidate, ...]]
    """Candidates by slot and action."""
    sees: AsObserved
    """What makes of an observation what the blocks have."""

    @property
    def sides(self) -> tuple[Side, Side]:
        """The own side, then the opponent's."""
        return self.own, self.opponent

    @property
    def move_kinds(self) -> tuple[str, ...]:
        """How moves can be used, in the order of the actions."""
        kinds = dict.fromkeys(candidate.kind for candidate in self.candidates[0])
        return tuple(kind for kind in kinds if kind not in {PASS, "switch"})


def layout_of(space: Space, *, estimates_damage: bool = False) -> Layout:
    """Return the layout of ``space``, with estimates of damage if asked for.

    Raises:
        ConfigurationError: it has no two sides of Pokémon with moves and two slots, or an action names none of them.
    """
    sees = DamageEstimates(space) if estimates_damage else AsObserved(space)
    space = sees.space
    blocks = {block.name: block for block in space.blocks}
    own, opponent = _side(space, blocks, "own"), _side(space, blocks, "opponent")
    used = {block.name for side in (own, opponent) for block in (side.pokemon, side.moves, side.slots)}
    return Layout(
        own=own,
        opponent=opponent,
        others=tuple(block for block in space.blocks if block.name not in used),
        candidates=(_candidates(space, own, 0), _candidates(space, own, 1)),
        sees=sees,
    )


def _side(space: Space, blocks: dict[str, ObservationBlock], name: str) -> Side:
    pokemon, moves, slots = blocks.get(name), blocks.get(f"{name}_moves"), blocks.get(f"{name}_active")
    if pokemon is None or moves is None or slots is None or moves.rows % pokemon.rows or slots.rows != space.num_slots:
        raise _unfit(space, f"it has no blocks {name!r}, '{name}_moves' and '{name}_active' of two slots")
    columns = active_columns(pokemon)
    if len(columns) != space.num_slots:
        raise _unfit(space, f"its block {name!r} has no numbers 'active_a' and 'active_b'")
    return Side(pokemon, moves, slots, (columns[0], columns[1]))


def _candidates(space: Space, own: Side, slot: int) -> tuple[Candidate, ...]:
    return tuple(_candidate(space, own, slot, action) for action in space.actions)


def _candidate(space: Space, own: Side, slot: int, action: str) -> Candidate:
    if action == PASS:
        return Candidate(PASS)
    switch, move = _SWITCH.fullmatch(action), _MOVE.fullmatch(action)
    if switch and 1 <= int(switch[1]) <= own.pokemon.rows:
        return Candidate("switch", int(switch[1]) - 1)
    if move and 1 <= int(move[2]) <= own.moves_each:
        if move[3] is None:
            target = "none"
        elif move[3] == "foe":
            target = f"foe {move[4]}"
        else:
            target = "self" if int(move[4]) == slot + 1 else "ally"
        return Candidate(move[1] or "move", int(move[2]) - 1, target)
    raise _unfit(space, f"its action {action!r} names neither an own Pokémon nor a move")


def _unfit(space: Space, why: str) -> ConfigurationError:
    return ConfigurationError(
        f'network.kind "pointer-pairs" does not fit {space.format}: {why}; expected a game with such blocks, or '
        "a network of an installed package"
    )
