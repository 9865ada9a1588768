"""How two folders of trajectories differ: value by value where they hold the same battles, else as distributions.

The distance of two distributions is their total variation, ½ Σ |p − q|: 0 for equal ones, 1 where they share nothing.
Its chance level is the mean distance after the files of both folders were shuffled and dealt out again: what two
samples of one distribution of this size have between them.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from nashdex_metamon.actions import FIRST_SWITCH, FIRST_TERA, UNKNOWN_ACTION, sorted_moves, sorted_switches
from nashdex_metamon.data.folder import Entry
from nashdex_metamon.data.replay_file import ParsedReplay
from nashdex_metamon.state import BattleState, Number
from nashdex_replays.refusal import RefusedReplayError

_NUM_SHUFFLES: Final = 20
_HP_BINS: Final = 4
_SAME_HP: Final = 0.0101
"""Spectators see HP in whole percents."""

Counts = dict[str, Counter[str]]
"""How often each value occurs, by field."""


@dataclass(frozen=True, slots=True)
class Distance:
    """Between two folders' distributions of a field."""

    total_variation: float
    by_chance: float
    """Between two random halves of the same sizes."""


@dataclass(slots=True)
class Gap:
    """What differs."""

    files: tuple[int, int]
    decisions: tuple[int, int]
    distances: dict[str, Distance]
    same_battles: int
    """Trajectories that both folders have."""
    equal: dict[str, float]
    """Share of the decisions of these trajectories with equal values, by field."""
    refused: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "files": list(self.files),
            "decisions": list(self.decisions),
            "distances": {
                name: {"total_variation": round(d.total_variation, 4), "by_chance": round(d.by_chance, 4)}
                for name, d in self.distances.items()
            },
            "same_battles": self.same_battles,
            "equal": {name: round(share, 5) for name, share in self.equal.items()},
            "refused": dict(sorted(self.refused.items())),
        }


def gap(first: Iterable[Entry], second: Iterable[Entry], max_files: int, seed: int) -> Gap:
    """Compare at most ``max_files`` trajectories of each folder."""
    refused: Counter[str] = Counter()
    folders = [_read(entries, max_files, refused) for entries in (first, second)]
    counts = [[_counts(replay) for replay in folder.values()] for folder in folders]
    shared = sorted(folders[0].keys() & folders[1].keys())
    return Gap(
        files=(len(folders[0]), len(folders[1])),
        decisions=(_num_decisions(folders[0]), _num_decisions(folders[1])),
        distances=_distances(counts[0], counts[1], seed),
        same_battles=len(shared),
        equal=_equal([(folders[0][key], folders[1][key]) for key in shared]),
        refused=refused,
    )


def _read(entries: Iterable[Entry], max_files: int, refused: Counter[str]) -> dict[tuple[str, str], ParsedReplay]:
    """Return trajectories by battle and player."""
    found: dict[tuple[str, str], ParsedReplay] = {}
    for entry in entries:
        if len(found) >= max_files:
            break
        try:
            name, replay = entry.read()
        except RefusedReplayError as refusal:
            refused[refusal.cause] += 1
        else:
            found[name.battle, name.player] = replay
    return found


def _num_decisions(folder: Mapping[tuple[str, str], ParsedReplay]) -> int:
    return sum(replay.num_decisions for replay in folder.values())


def _counts(replay: ParsedReplay) -> Counts:
    """Count the values of one trajectory."""
    counts: Counts = {}
    for state, action in zip(replay.states[:-1], replay.actions[:-1], strict=True):
        for name, value in _values(state, action):
            counts.setdefault(name, Counter())[value] += 1
    counts["turns"] = Counter([f"{10 * (replay.num_decisions // 10)}+"])
    return counts


def _values(state: BattleState, action: int) -> Iterator[tuple[str, str]]:
    active, opponent = state.player_active_pokemon, state.opponent_active_pokemon
    yield "action", _kind(action)
    if FIRST_SWITCH <= action < FIRST_TERA:
        bench = sorted_switches(state)
        if action - FIRST_SWITCH < len(bench):
            yield "switch to", bench[action - FIRST_SWITCH].name
    elif action != UNKNOWN_ACTION:
        moves = sorted_moves(active)
        place = action - FIRST_TERA if action >= FIRST_TERA else action
        if place < len(moves):
            yield "move used", moves[place].name
    yield "own active", active.name
    yield "opponent active", opponent.name
    yield "own status", active.status
    yield "opponent status", opponent.status
    yield "own hp", _bin(active.hp_pct)
    yield "opponent hp", _bin(opponent.hp_pct)
    yield "own item", active.item
    yield "own ability", active.ability
    yield "own moves known", str(len(active.moves))
    yield "opponent moves known", str(len(opponent.moves))
    yield "bench", str(len(state.available_switches))
    yield "opponents left", str(state.opponents_remaining)
    yield "weather", state.weather
    yield "own side", state.player_conditions
    yield "opponent side", state.opponent_conditions
    yield "forced switch", str(state.forced_switch)


def _kind(action: int) -> str:
    if action == UNKNOWN_ACTION:
        return "unknown"
    return "move" if action < FIRST_SWITCH else "switch" if action < FIRST_TERA else "terastallize"


def _bin(share: Number) -> str:
    return f"{min(int(share * _HP_BINS), _HP_BINS - 1)}/{_HP_BINS}"


def _distances(first: Sequence[Counts], second: Sequence[Counts], seed: int) -> dict[str, Distance]:
    """Return the distance of each field that both have, the largest beyond chance first."""
    if not first or not second:
        return {}
    observed = _distance_by_field(first, second)
    generator = random.Random(seed)
    pooled = [*first, *second]
    chance: Counter[str] = Counter()
    for _ in range(_NUM_SHUFFLES):
        generator.shuffle(pooled)
        for name, distance in _distance_by_field(pooled[: len(first)], pooled[len(first) :]).items():
            chance[name] += distance / _NUM_SHUFFLES  # type: ignore[assignment]  # a Counter of floats
    distances = {name: Distance(distance, float(chance[name])) for name, distance in observed.items()}
    return dict(sorted(distances.items(), key=lambda item: item[1].by_chance - item[1].total_variation))


def _distance_by_field(first: Sequence[Counts], second: Sequence[Counts]) -> dict[str, float]:
    sums = [_sum(first), _sum(second)]
    return {name: _total_variation(sums[0][name], sums[1][name]) for name in sums[0].keys() & sums[1].keys()}


def _sum(files: Sequence[Counts]) -> Counts:
    total: Counts = {}
    for counts in files:
        for name, values in counts.items():
            total.setdefault(name, Counter()).update(values)
    return total


def _total_variation(first: Counter[str], second: Counter[str]) -> float:
    sizes = first.total(), second.total()
    return sum(abs(first[value] / sizes[0] - second[value] / sizes[1]) for value in first.keys() | second.keys()) / 2


def _equal(pairs: Sequence[tuple[ParsedReplay, ParsedReplay]]) -> dict[str, float]:
    """Return the share of equal values by field, over decisions that both name; ``length`` of trajectories."""
    seen: Counter[str] = Counter()
    same: Counter[str] = Counter()
    for ours, theirs in pairs:
        seen["length"] += 1
        same["length"] += len(ours.states) == len(theirs.states)
        for state, other, action, other_action in zip(
            ours.states, theirs.states, ours.actions, theirs.actions, strict=False
        ):
            for name, value, expected in _compared(state, other):
                seen[name] += 1
                same[name] += _are_same(value, expected)
            if UNKNOWN_ACTION not in {action, other_action}:
                named, other_named = dict(_values(state, action)), dict(_values(other, other_action))
                seen["action"] += 1
                # A recharge and Struggle are action 0, whatever the Pokémon's first move is.
                same["action"] += {action, other_action} == {0} or all(
                    named.get(key) == other_named.get(key) for key in ("move used", "switch to")
                )
    return {name: same[name] / seen[name] for name in sorted(seen)}


def _compared(state: BattleState, other: BattleState) -> Iterator[tuple[str, object, object]]:
    for name in ("weather", "battle_field", "player_conditions", "opponent_conditions", "opponents_remaining"):
        yield name, getattr(state, name), getattr(other, name)
    for name in ("forced_switch", "can_tera"):
        yield name, getattr(state, name), getattr(other, name)
    for whose in ("player", "opponent"):
        active, expected = getattr(state, f"{whose}_active_pokemon"), getattr(other, f"{whose}_active_pokemon")
        for name in ("name", "hp_pct", "status", "effect", "types", "item", "ability", "tera_type", "atk_boost"):
            yield f"{whose} {name}", getattr(active, name), getattr(expected, name)
        yield f"{whose} moves", {move.name for move in active.moves}, {move.name for move in expected.moves}
        move, expected_move = getattr(state, f"{whose}_prev_move"), getattr(other, f"{whose}_prev_move")
        yield f"{whose} previous move", move.name, expected_move.name
    names = [{pokemon.name for pokemon in each.available_switches} for each in (state, other)]
    yield "bench", names[0], names[1]


def _are_same(value: object, expected: object) -> bool:
    if isinstance(value, float) and isinstance(expected, int | float):
        return abs(value - expected) <= _SAME_HP
    return value == expected
