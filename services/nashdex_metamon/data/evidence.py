"""The gate for parsed replays: the content of the states must exist in the format of folder and file name."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from nashdex.core.user_input import shorten
from nashdex.games.showdown.logs.evidence import format_problem, is_format
from nashdex.games.showdown.logs.first_generations import Kind, letters_only
from nashdex.games.showdown.logs.refusal import RefusedReplayError
from nashdex_metamon.data.file_name import ReplayName
from nashdex_metamon.data.replay_file import ParsedReplay
from nashdex_metamon.dex import dex
from nashdex_metamon.live import generation_of
from nashdex_metamon.state import BattleState, PokemonState

_NO_NAME: Final = frozenset({"unknownitem", "noitem", "unknownability", "noability", "nomove", ""})
_STATS: Final = ("hp", "atk", "def", "spa", "spd", "spe")


def check(format_id: str, name: ReplayName, replay: ParsedReplay, source: str) -> None:
    """Check a parsed replay against the format that it is filed under: a folder's name, if that names a format.

    Raises:
        RefusedReplayError: the states or the battle's id are of another format, the generation lacks what a state
            names, or a Pokémon on the bench has the base stats of another generation.
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
    for kind, word in {named for state in replay.states for named in _names(state)}:
        first = letters_only(kind).get(word)
        if word not in _NO_NAME and (first is None or first > generation):
            raise RefusedReplayError(
                kind, f"{source} is of generation {generation} and names the {kind} {shorten(word)}, which it lacks"
            )
    for pokemon in {each.name: each for state in replay.states for each in state.available_switches}.values():
        stats = tuple(getattr(pokemon, f"base_{stat}") for stat in _STATS)
        expected = _base_stats(generation, pokemon.name)
        if expected is not None and stats != expected:
            raise RefusedReplayError(
                "base-stats",
                f"{source}: {pokemon.name} has base stats {shorten(stats)}; generation {generation} has {expected}",
            )


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
