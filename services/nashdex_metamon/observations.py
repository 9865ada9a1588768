"""Metamon's observations: words and numbers of a state, in each of its four spaces.

A space is a pure function of the state and of what the seat has seen so far (``SeenOpponents``).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex_metamon.actions import sorted_moves, sorted_switches
from nashdex_metamon.names import BLANK
from nashdex_metamon.state import NUM_MOVES, NUM_SWITCHES, TEAM_SIZE, BattleState, MoveState, PokemonState

_MISSING = -2.0
"""The number of a move or Pokémon that is not there."""
_BASE_STAT_SCALE = 255.0
_BOOST_SCALE = 6.0
_BASE_STATS: Final = ("atk", "spa", "def", "spd", "spe", "hp")
_BOOSTS: Final = ("atk", "spa", "def", "spd", "spe", "accuracy", "evasion")
_HIGH_PP, _LOW_PP = 0.5, 0.25
"""Shares of the PP at which the fourth number of a move changes."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a policy reads."""

    words: tuple[str, ...]
    numbers: NDArray[np.float32]

    @property
    def text(self) -> str:
        """The words with one space between them."""
        return " ".join(self.words)


@dataclass(slots=True)
class SeenOpponents:
    """What one seat has seen of its opponent in a battle so far. Begin each battle with a new one."""

    asleep: bool = False
    frozen: bool = False
    species: set[str] = field(default_factory=set)
    """Base species of the Pokémon that were active."""

    def add(self, state: BattleState) -> None:
        """Add what a state shows; call it once a decision, and once with the state at the battle's end."""
        opponent = state.opponent_active_pokemon
        self.asleep = self.asleep or opponent.status == "slp"
        self.frozen = self.frozen or opponent.status == "frz"
        self.species.add(opponent.base_species)


@dataclass(frozen=True, slots=True)
class ObservationSpace:
    """One of the spaces."""

    name: str
    num_words: int
    num_numbers: int
    expanded: bool = False
    """Adds tera types, PP, and what was seen of the opponent."""
    preview: bool = False
    """Adds the species of the opponent's Team Preview."""
    opponent_moves: bool = False
    """Replaces the categories of the own moves by the opponent's moves."""

    def observe(self, state: BattleState, seen: SeenOpponents) -> Observation:
        """Return the observation of a decision. ``seen`` includes the state (``SeenOpponents.add``)."""
        return Observation(tuple(self._words(state, seen)), np.array(self._numbers(state, seen), dtype=np.float32))

    def _words(self, state: BattleState, seen: SeenOpponents) -> list[str]:
        player, opponent = state.player_active_pokemon, state.opponent_active_pokemon
        words = [f"<{state.format}>", "<forcedswitch>" if state.forced_switch else "<anychoice>", "<player>"]
        words += self._active(player)
        moves = sorted_moves(player)[:NUM_MOVES]
        for move in moves:
            words += ("<move>", move.name, move.move_type)
            if not self.opponent_moves:
                words.append(move.category)
        blanks = 2 if self.opponent_moves else 3
        words += ["<move>", *[BLANK] * blanks] * (NUM_MOVES - len(moves))
        bench = sorted_switches(state)[:NUM_SWITCHES]
        for pokemon in bench:
            words += ("<switch>", pokemon.name, pokemon.item, pokemon.ability, "<moveset>")
            words += _padded((move.name for move in sorted_moves(pokemon)), NUM_MOVES)
            if self.expanded:
                words.append(pokemon.tera_type)
        words += ["<switch>", *[BLANK] * (8 + self.expanded)] * (NUM_SWITCHES - len(bench))
        words.append("<opponent>")
        words += self._active(opponent)
        if self.opponent_moves:
            words += _padded((move.name for move in sorted_moves(opponent)), NUM_MOVES)
        words += ("<conditions>", state.weather, state.player_conditions, state.opponent_conditions)
        words += ("<player_prev>", state.player_prev_move.name, "<opp_prev>", state.opponent_prev_move.name)
        if self.expanded:
            words += _padded(sorted(seen.species), TEAM_SIZE)
        if self.preview:
            words += _padded(sorted(state.opponent_teampreview), TEAM_SIZE)
        return words

    def _active(self, pokemon: PokemonState) -> list[str]:
        words = [pokemon.name, pokemon.item, pokemon.ability, *pokemon.types.split(" "), pokemon.effect, pokemon.status]
        if self.expanded:
            words.append(pokemon.tera_type)
        return words

    def _numbers(self, state: BattleState, seen: SeenOpponents) -> list[float]:
        numbers = [state.opponents_remaining / TEAM_SIZE, *_active_numbers(state.player_active_pokemon)]
        moves = sorted_moves(state.player_active_pokemon)[:NUM_MOVES]
        for move in moves:
            numbers += (move.base_power / 200.0, move.accuracy, move.priority / 5.0)
            if self.expanded:
                numbers.append(_pp_level(move))
        numbers += [_MISSING] * ((3 + self.expanded) * (NUM_MOVES - len(moves)))
        bench = sorted_switches(state)[:NUM_SWITCHES]
        numbers += [pokemon.hp_pct for pokemon in bench]
        numbers += [_MISSING] * (NUM_SWITCHES - len(bench))
        numbers += _active_numbers(state.opponent_active_pokemon)
        if self.expanded:
            numbers += (float(seen.asleep), float(seen.frozen), float(state.can_tera))
        return numbers


def _active_numbers(pokemon: PokemonState) -> list[float]:
    return [
        pokemon.hp_pct,
        pokemon.lvl / 100.0,
        *(getattr(pokemon, f"base_{stat}") / _BASE_STAT_SCALE for stat in _BASE_STATS),
        *(getattr(pokemon, f"{stat}_boost") / _BOOST_SCALE for stat in _BOOSTS),
    ]


def _pp_level(move: MoveState) -> float:
    share = move.current_pp / move.max_pp if move.max_pp else 0.0
    return float((share >= _HIGH_PP) + (share >= _LOW_PP) + (share > 0))


def _padded(words: Iterable[str], size: int) -> list[str]:
    kept = list(words)[:size]
    return kept + [BLANK] * (size - len(kept))


OBSERVATION_SPACES: Final = {
    space.name: space
    for space in (
        ObservationSpace("DefaultObservationSpace", 87, 48),
        ObservationSpace("ExpandedObservationSpace", 100, 55, expanded=True),
        ObservationSpace("TeamPreviewObservationSpace", 106, 55, expanded=True, preview=True),
        ObservationSpace("OpponentMoveObservationSpace", 106, 55, expanded=True, preview=True, opponent_moves=True),
    )
}


def observation_space(name: str) -> ObservationSpace:
    """Return the observation space called ``name``. Raises ConfigurationError: there is none."""
    if name not in OBSERVATION_SPACES:
        raise ConfigurationError(
            f"there is no observation space {name!r}: expected one of {', '.join(OBSERVATION_SPACES)}"
        )
    return OBSERVATION_SPACES[name]
