"""The gate for parsed replays: the content of the states must exist in the format of folder and file name."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Self

from nashdex.core.user_input import shorten
from nashdex_metamon.data.file_name import ReplayName
from nashdex_metamon.data.replay_file import ParsedReplay
from nashdex_metamon.dex import dex
from nashdex_metamon.live import generation_of
from nashdex_metamon.names import type_words
from nashdex_metamon.state import BattleState, MoveState, PokemonState
from nashdex_replays.evidence import format_problem, is_format
from nashdex_replays.first_generations import Kind, letters_only
from nashdex_replays.refusal import RefusedReplayError

_NO_NAME: Final = frozenset({"unknownitem", "noitem", "unknownability", "noability", "nomove", ""})
_STATS: Final = ("hp", "atk", "def", "spa", "spd", "spe")
_GENERATIONS: Final = range(1, 10)
_FIRST_WITH_ABILITIES: Final = 3
_FIRST_WITH_PREVIEW: Final = 5
_COPIED_PP: Final = 5
"""PP of the moves that Transform copies."""
_ANY_TYPE: Final = "hiddenpower"
_NO_TYPES: Final = type_words(())


def check(format_id: str, name: ReplayName, replay: ParsedReplay, source: str) -> None:
    """Check a parsed replay against the format that it is filed under: a folder's name, if that names a format.

    Raises:
        RefusedReplayError: the states or the battle's id are of another format, the generation lacks what a state
            names, a Pokémon on the bench has the base stats of another generation, or moves, types, abilities and
            Team Preview agree with another generation alone.
    """
    if not is_format(format_id):
        format_id = replay.states[0].format
        if not is_format(format_id):
            raise RefusedReplayError("format", f"{source} is of format {shorten(format_id)}; expected one like gen1ou")
    found = {state.format for state in replay.states}
    if found != {format_id}:
        other = shorten(min(found - {format_id}))
        raise RefusedReplayError("format", f"{source} is filed under {format_id}, but a state is of {other}")
    if (problem := format_problem(format_id, name.battle)) is not None:
        raise RefusedReplayError("id", f"{source} is filed under {format_id}, but {problem}")
    generation = generation_of(format_id)
    _check_names(generation, replay, source)
    _check_base_stats(generation, replay, source)
    facts = _Facts.of(format_id, replay)
    if (problem := facts.problem(generation)) is not None:
        fits = [other for other in _GENERATIONS if other != generation and _fits(other, replay, facts)]
        if fits:
            raise RefusedReplayError(
                "generation",
                f"{source} is of generation {generation}, but {problem}; all of it fits generation {fits[0]}",
            )


def _fits(generation: int, replay: ParsedReplay, facts: "_Facts") -> bool:
    try:
        _check_names(generation, replay, "it")
        _check_base_stats(generation, replay, "it")
    except RefusedReplayError:
        return False
    return facts.problem(generation) is None


def _check_names(generation: int, replay: ParsedReplay, source: str) -> None:
    for kind, word in {named for state in replay.states for named in _names(state)}:
        first = letters_only(kind).get(word)
        if word not in _NO_NAME and (first is None or first > generation):
            raise RefusedReplayError(
                kind, f"{source} is of generation {generation} and names the {kind} {shorten(word)}, which it lacks"
            )


def _check_base_stats(generation: int, replay: ParsedReplay, source: str) -> None:
    for pokemon in {each.name: each for state in replay.states for each in state.available_switches}.values():
        stats = tuple(getattr(pokemon, f"base_{stat}") for stat in _STATS)
        expected = _base_stats(generation, pokemon.name)
        if expected is not None and stats != expected:
            raise RefusedReplayError(
                "base-stats",
                f"{source}: {pokemon.name} has base stats {shorten(stats)}; generation {generation} has {expected}",
            )


@dataclass(frozen=True)
class _Facts:
    """What a replay shows that differs between generations, beside names and base stats."""

    moves: frozenset[MoveState]
    """Moves of the seat's own Pokémon, with full PP."""
    types: frozenset[tuple[str, str]]
    """Species and types of Pokémon on the bench: in battle types may change. Terastallized ones are left out."""
    lacks_ability: bool
    """Whether an own Pokémon has no ability."""
    has_preview: bool | None
    """Whether a state shows a Team Preview; None where the file, or the format, cannot say it."""

    @classmethod
    def of(cls, format_id: str, replay: ParsedReplay) -> Self:
        own = [each for state in replay.states for each in (state.player_active_pokemon, *state.available_switches)]
        says_preview = not replay.adapted["no-opponent_teampreview"] and "random" not in format_id
        return cls(
            moves=frozenset(replace(move, current_pp=move.max_pp) for each in own for move in each.moves),
            types=frozenset(
                (each.name, each.types)
                for state in replay.states
                for each in state.available_switches
                if each.types != type_words((each.tera_type,))
            ),
            lacks_ability=any(each.ability == "noability" for each in own),
            has_preview=any(state.opponent_teampreview for state in replay.states) if says_preview else None,
        )

    def problem(self, generation: int) -> str | None:
        """Return what cannot be in a generation, or None. What the generation lacks by name is not looked at."""
        if self.lacks_ability and generation >= _FIRST_WITH_ABILITIES:
            return "a Pokémon has no ability"
        if self.has_preview is not None and self.has_preview != (generation >= _FIRST_WITH_PREVIEW):
            return "it shows a Team Preview" if self.has_preview else "it shows no Team Preview"
        for move in sorted(self.moves, key=lambda each: each.name):
            if not _may_be(move, generation):
                return f"{shorten(move.name)} is not as this generation has it"
        for name, types in sorted(self.types):
            expected = dex(generation).species(name).types
            if expected not in {types, _NO_TYPES}:
                return f"{shorten(name)} is of type {shorten(types)}"
        return None


def _may_be(move: MoveState, generation: int) -> bool:
    """Say whether a generation has a move with these numbers; one that it lacks may be anything."""
    known = dex(generation).move(move.name)
    if not known.max_pp or move.name.startswith(_ANY_TYPE):
        return True
    has_pp = move.max_pp in {known.max_pp, _COPIED_PP}
    numbers = (move.category, move.base_power, move.accuracy, move.priority)
    return has_pp and numbers == (known.category, known.base_power, known.accuracy, known.priority)


def _names(state: BattleState) -> Iterator[tuple[Kind, str]]:
    for pokemon in (state.player_active_pokemon, state.opponent_active_pokemon, *state.available_switches):
        yield from _names_of(pokemon)
    yield "move", state.player_prev_move.name
    yield "move", state.opponent_prev_move.name


def _names_of(pokemon: PokemonState) -> Iterator[tuple[Kind, str]]:
    yield "species", "".join(filter(str.isalpha, pokemon.name))
    yield "item", pokemon.item
    yield "ability", pokemon.ability
    for move in pokemon.moves:
        yield "move", move.name


@cache
def _base_stats(generation: int, name: str) -> tuple[int, ...] | None:
    stats = dex(generation).species(name).base_stats
    return tuple(stats[stat] for stat in _STATS) if any(stats.values()) else None
