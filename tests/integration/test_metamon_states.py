"""States that nashdex builds from a battle's lines equal those of metamon's own code, with known differences."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.protocol import Lines, Track, TrackedSeat
from nashdex.metamon.conditions import Conditions
from nashdex.metamon.dex import dex
from nashdex.metamon.lines import read_lines
from nashdex.metamon.tracked import battle_state
from support.metamon_goldens import BATTLES, golden

LEAST_EQUAL = 0.995


@pytest.mark.slow
def test_states_of_golden_battles() -> None:
    """At least 99.5 % of the fields are equal, and every difference has a known reason."""
    reasons: Counter[str] = Counter()
    num_fields = 0
    for battle in BATTLES:
        for state, expected in _states(battle):
            ours, theirs = dict(_fields(state)), dict(_fields(expected))
            num_fields += len(theirs)
            for field, value in theirs.items():
                if not _are_equal(ours.get(field), value):
                    reasons[_reason(field, ours.get(field), expected)] += 1
    assert reasons.keys() <= {"ability shown", "item shown", "fainted", "transformed", "disguise"}
    assert num_fields > 300_000
    assert 1 - reasons.total() / num_fields >= LEAST_EQUAL


def _states(battle: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield our state and metamon's of each decision and end of a golden battle."""
    format_id = battle.partition("-")[0]
    generation = dex(int(format_id[3]))
    gateway = Gateway(format_id)
    conditions = (Conditions(), Conditions())
    expected = [
        [row["state"] for row in golden("spaces", battle)["decisions"] if row["seat"] == seat] for seat in (0, 1)
    ]
    try:
        for row in golden("battles", battle)["rows"]:
            seat, request = row["seat"], row["request"]
            tracked = TrackedSeat(battle=1, seat=seat, lines=tuple(row["lines"]), request=request, state=True)
            gateway.send(Track(rows=(tracked,)))
            gateway.flush()
            while not isinstance(message := gateway.receive(60.0), Lines):
                assert message is not None
            read_lines(conditions[seat], row["lines"])
            if not request or not (request.get("wait") or request.get("teamPreview")):
                tracker = message.rows[0].state
                assert tracker is not None
                state = battle_state(format_id, seat, tracker, conditions[seat], generation)
                yield state.to_json(), expected[seat].pop(0)
    finally:
        gateway.close()
    assert expected == [[], []]


def _fields(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each field of a state by its path; Pokémon and moves of a list by their names."""
    for name, value in values.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _fields(value, f"{path}.")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield path, sorted(part["name"] for part in value)
            for part in value:
                yield from _fields(part, f"{path}[{part['name']}].")
        else:
            yield path, sorted(value) if isinstance(value, list) else value


def _are_equal(ours: object, theirs: object) -> bool:
    if isinstance(theirs, float) and isinstance(ours, int | float):
        return abs(ours - theirs) < 1e-9
    return ours == theirs


def _reason(field: str, ours: object, expected: dict[str, Any]) -> str:
    """Return why a field differs."""
    pokemon = expected[field.partition(".")[0]] if "active_pokemon" in field else None
    if pokemon is not None and pokemon["status"] == "fnt":
        return (
            "fainted"  # The tracker clears what a Pokémon loses by leaving; poke-env keeps it until the next comes in.
        )
    if (
        field == "opponent_active_pokemon.ability"
        and expected["opponent_active_pokemon"]["ability"] == "unknownability"
    ):
        return "ability shown"  # By "[from] ability: …" on a line that poke-env 0.8.3 does not search.
    if field == "opponent_active_pokemon.item" and expected["opponent_active_pokemon"]["item"] == "unknownitem":
        return "item shown"  # By "[from] item: …".
    actives = (expected["player_active_pokemon"], expected["opponent_active_pokemon"])
    if any("transform" in [move["name"] for move in active["moves"]] or active["name"] == "mew" for active in actives):
        return "transformed"  # poke-env adds moves that a copy uses to its own; the tracker knows all that it copied.
    if pokemon is not None and pokemon["name"].startswith("mimikyu"):
        return "disguise"  # poke-env forgets a broken disguise.
    return f"unknown: {field} is {ours!r}"
