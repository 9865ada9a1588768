"""Reads the protocol's lines into a battle's conditions, as poke-env 0.8.3 does."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from nashdex_metamon.appearance import NOT_KEPT
from nashdex_metamon.conditions import Conditions
from nashdex_metamon.effects import (
    COUNT_STARTS,
    COUNT_TURNS,
    EFFECTS,
    END_WITH_TURN,
    FIELDS,
    SIDE_CONDITIONS,
    STACKABLE,
    WEATHERS,
)
from nashdex_metamon.names import NO_WEATHER
from nashdex_replays.words import clean_name, whole_number

_UNKNOWN: Final = "unknown"
_KINDS: Final = ("item: ", "move: ", "ability: ")
_NOT_EFFECTS: Final = frozenset({"skillswap", "symbiosis", "leppaberry", "mimic"})
"""Activations that poke-env reads as something other than an effect. So are all of abilities."""
_VARIANTS: Final = ("protosynthesis", "quarkdrive")
"""Effects whose end also ends their variants named after a stat."""


def read_lines(conditions: Conditions, lines: Iterable[str]) -> None:
    """Read lines in order; unknown and incomplete ones change nothing."""
    for line in lines:
        parts = line.split("|")
        if len(parts) == 1:
            continue
        conditions.appearances.read(parts[1], parts[2:])
        found = _HANDLERS.get(parts[1])
        if found is not None:
            num_parts, handler = found
            if len(parts) >= num_parts + 2:
                handler(conditions, parts[2:])


def read_request(conditions: Conditions, request: Mapping[str, Any]) -> None:
    """Read the own team in a request: its names, which come with cosmetic formes, and its own abilities."""
    team = request.get("side", {}).get("pokemon", ())
    if team:
        conditions.own_names = tuple(clean_name(pokemon["details"].partition(",")[0]) for pokemon in team)
        for pokemon in team:
            if ability := pokemon.get("baseAbility"):
                conditions.appearances.named(pokemon["ident"]).ability = clean_name(ability)


def shown_species(lines: Iterable[str], side: str) -> tuple[str, ...]:
    """Return the species by id, with cosmetic formes, of each Pokémon of ``side`` as it came in first."""
    first: dict[str, str] = {}
    for line in lines:
        if line.startswith((f"|switch|{side}", f"|drag|{side}")):
            pokemon, details, *_ = *line.split("|")[2:], ""
            first.setdefault(pokemon, clean_name(details.partition(",")[0]))
    return tuple(first.values())


def _switch(conditions: Conditions, parts: list[str]) -> None:
    pokemon = _pokemon(parts[0])
    side = pokemon[:2]
    _leave(conditions, conditions.active.get(side))
    conditions.active[side] = pokemon


def _leave(conditions: Conditions, pokemon: str | None) -> None:
    if pokemon is None:
        return
    conditions.effects.pop(pokemon, None)


def _faint(conditions: Conditions, parts: list[str]) -> None:
    _leave(conditions, _pokemon(parts[0]))


def _replace(conditions: Conditions, parts: list[str]) -> None:
    conditions.active[parts[0][:2]] = _pokemon(parts[0])


def _move(conditions: Conditions, parts: list[str]) -> None:
    pokemon = _pokemon(parts[0])
    effects = conditions.effects.get(pokemon, {})
    move = clean_name(parts[1])
    dex = conditions.appearances.dex
    effects.pop("glaiverush", None)
    if dex is not None and dex.move(move).type == "electric":
        effects.pop("charge", None)
    conditions.last_moves[pokemon] = None if move in NOT_KEPT else move
    if clean_name(parts[1]) == "minimize":
        _begin(conditions, pokemon, "Minimize")


def _begin(conditions: Conditions, pokemon: str, text: str) -> None:
    effect = _effect(text)
    effects = conditions.effects.setdefault(pokemon, {})
    if effect not in effects:
        effects[effect] = 0
    elif effect in COUNT_STARTS:
        effects[effect] += 1


def _start(conditions: Conditions, parts: list[str]) -> None:
    _begin(conditions, _pokemon(parts[0]), parts[1])


def _activate(conditions: Conditions, parts: list[str]) -> None:
    is_ability = parts[1].startswith("ability: ")
    if parts[0] and not is_ability and clean_name(_bare(parts[1])) not in _NOT_EFFECTS:
        _begin(conditions, _pokemon(parts[0]), parts[1])


def _end(conditions: Conditions, parts: list[str]) -> None:
    effects, ended = conditions.effects.get(_pokemon(parts[0]), {}), _effect(parts[1])
    for effect in list(effects):
        if effect == ended or (ended in _VARIANTS and effect.startswith(ended)):
            del effects[effect]


def _turn(conditions: Conditions, parts: list[str]) -> None:
    turn = whole_number(parts[0])
    conditions.turn = conditions.turn if turn is None else turn
    for pokemon in conditions.active.values():
        effects = conditions.effects.get(pokemon, {})
        for effect in list(effects):
            if effect in COUNT_TURNS:
                effects[effect] += 1
            if effect in END_WITH_TURN:
                del effects[effect]


def _weather(conditions: Conditions, parts: list[str]) -> None:
    weather = clean_name(parts[0])
    conditions.weather = NO_WEATHER if weather == "none" else weather if weather in WEATHERS else _UNKNOWN


def _field_start(conditions: Conditions, parts: list[str]) -> None:
    name = _known(parts[0], FIELDS)
    if name.endswith("terrain"):
        conditions.fields = {other: turn for other, turn in conditions.fields.items() if not other.endswith("terrain")}
    conditions.fields[name] = conditions.turn


def _field_end(conditions: Conditions, parts: list[str]) -> None:
    conditions.fields.pop(_known(parts[0], FIELDS), None)


def _side_start(conditions: Conditions, parts: list[str]) -> None:
    condition = _known(parts[1], SIDE_CONDITIONS)
    layers = conditions.sides.setdefault(parts[0][:2], {})
    if condition in STACKABLE:
        layers[condition] = min(layers.get(condition, 0) + 1, STACKABLE[condition])
    else:
        layers.setdefault(condition, conditions.turn)


def _side_end(conditions: Conditions, parts: list[str]) -> None:
    conditions.sides.setdefault(parts[0][:2], {}).pop(_known(parts[1], SIDE_CONDITIONS), None)


def _swap_sides(conditions: Conditions, parts: list[str]) -> None:
    del parts
    conditions.sides["p1"], conditions.sides["p2"] = conditions.sides["p2"], conditions.sides["p1"]


def _poke(conditions: Conditions, parts: list[str]) -> None:
    conditions.preview.setdefault(parts[0], []).append(clean_name(parts[1].partition(",")[0]))


def _player(conditions: Conditions, parts: list[str]) -> None:
    if parts[1]:
        conditions.players[parts[0]] = parts[1]


def _win(conditions: Conditions, parts: list[str]) -> None:
    conditions.winner = parts[0]


def _pokemon(text: str) -> str:
    """Return "p1: Pikachu" of "p1a: Pikachu"."""
    position, _, name = text.partition(": ")
    return f"{position[:2]}: {name}"


def _bare(text: str) -> str:
    for kind in _KINDS:
        text = text.removeprefix(kind)
    return text


def _effect(text: str) -> str:
    return _known(text, EFFECTS)


def _known(text: str, names: frozenset[str]) -> str:
    name = clean_name(_bare(text))
    return name if name in names else _UNKNOWN


_HANDLERS: Final[dict[str, tuple[int, Callable[[Conditions, list[str]], None]]]] = {
    "switch": (1, _switch),
    "drag": (1, _switch),
    "faint": (1, _faint),
    "replace": (1, _replace),
    "move": (2, _move),
    "-start": (2, _start),
    "-singleturn": (2, _start),
    "-singlemove": (2, _start),
    "-activate": (2, _activate),
    "-end": (2, _end),
    "turn": (1, _turn),
    "-weather": (1, _weather),
    "-fieldstart": (1, _field_start),
    "-fieldend": (1, _field_end),
    "-sidestart": (2, _side_start),
    "-sideend": (2, _side_end),
    "-swapsideconditions": (0, _swap_sides),
    "poke": (2, _poke),
    "player": (2, _player),
    "win": (1, _win),
}
"""By type of line: how many parts it has at least, and what reads them."""
