"""Where a space has its Pokémon, their moves and all else, and which of them each action names."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from nashdex.core.errors import ConfigurationError
from nashdex.games.space import ObservationBlock, Space
from nashdex.policies.networks.damage import AsObserved, DamageEstimates

_SWITCH = re.compile(r"switch (\d+)")
_MOVE = re.compile(r"(?:(.+)[ -])?move (\d+)")


@dataclass(frozen=True)
class Side:
    """One side's Pokémon and moves. Row k · p + m of the moves is move m of Pokémon p."""

    pokemon: ObservationBlock
    moves: ObservationBlock
    active: slice
    """The observation's columns that say, Pokémon by Pokémon, whether it is active."""

    @property
    def moves_each(self) -> int:
        """How many moves a Pokémon has."""
        return self.moves.rows // self.pokemon.rows


class Target(NamedTuple):
    """What an action names."""

    is_move: bool
    row: int
    """Row of the own Pokémon, or of the own active Pokémon's moves."""
    kind: str
    """``switch``, ``move``, or how a move is used, such as ``terastallize``."""


@dataclass(frozen=True)
class Layout:
    """A space as the pointer network reads it."""

    own: Side
    opponent: Side
    others: tuple[ObservationBlock, ...]
    targets: tuple[Target, ...]
    """Targets by action."""
    sees: AsObserved
    """What makes of an observation what the blocks have."""

    @property
    def sides(self) -> tuple[Side, Side]:
        """The own side, then the opponent's; both have the same number of Pokémon and of moves."""
        return self.own, self.opponent


def layout_of(space: Space, *, estimates_damage: bool = False) -> Layout:
    """Return the layout of ``space``, with estimates of damage if asked for.

    Raises:
        ConfigurationError: it has no two sides of Pokémon with moves, or an action names neither of them.
    """
    sees = DamageEstimates(space) if estimates_damage else AsObserved(space)
    space = sees.space
    blocks = {block.name: block for block in space.blocks}
    own, opponent = _side(space, blocks, "own"), _side(space, blocks, "opponent")
    if (own.pokemon.rows, own.moves.rows) != (opponent.pokemon.rows, opponent.moves.rows):
        raise _unfit(space, "its sides differ in the number of Pokémon or moves")
    for one, other in zip((own.pokemon, own.moves), (opponent.pokemon, opponent.moves), strict=True):
        if _vocabularies(one) != _vocabularies(other):
            raise _unfit(space, f"its blocks {one.name!r} and {other.name!r} differ in their categories")
    used = {block.name for side in (own, opponent) for block in (side.pokemon, side.moves)}
    return Layout(
        own=own,
        opponent=opponent,
        others=tuple(block for block in space.blocks if block.name not in used),
        targets=tuple(_target(space, own, action) for action in space.actions),
        sees=sees,
    )


def _vocabularies(block: ObservationBlock) -> list[str]:
    return [str(field.vocabulary) for field in block.fields for _ in range(field.size) if field.kind == "category"]


def _side(space: Space, blocks: dict[str, ObservationBlock], name: str) -> Side:
    pokemon, moves = blocks.get(name), blocks.get(f"{name}_moves")
    if pokemon is None or moves is None or moves.rows % pokemon.rows:
        raise _unfit(space, f"it has no blocks {name!r} and {name + '_moves'!r} with the same number of moves each")
    for field in pokemon.fields:
        if field.name == "active" and field.kind == "number" and field.size == 1:
            start = pokemon.offset + field.offset
            return Side(pokemon, moves, slice(start, pokemon.offset + pokemon.rows * pokemon.stride, pokemon.stride))
    raise _unfit(space, f"its block {name!r} has no number 'active'")


def _target(space: Space, own: Side, action: str) -> Target:
    switch, move = _SWITCH.fullmatch(action), _MOVE.fullmatch(action)
    if switch and 1 <= int(switch[1]) <= own.pokemon.rows:
        return Target(is_move=False, row=int(switch[1]) - 1, kind="switch")
    if move and 1 <= int(move[2]) <= own.moves_each:
        return Target(is_move=True, row=int(move[2]) - 1, kind=move[1] or "move")
    raise _unfit(space, f"its action {action!r} names neither an own Pokémon nor a move of the active one")


def _unfit(space: Space, why: str) -> ConfigurationError:
    return ConfigurationError(
        f'network.kind "pointer" does not fit {space.format}: {why}; set network.kind = "slots", which fits every game'
    )
