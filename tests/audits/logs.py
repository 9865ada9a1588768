"""How well both players' views are rebuilt from a spectator's log, on battles whose truth is known.

It plays battles of random policies with the gateway, keeps what each seat saw and chose, removes everything that a
spectator does not see from the log, rebuilds both views from it, and compares.

Run: ``PYTHONPATH=tests python -m audits.logs --format gen1ou --battles 50 --seed 1``

``--goldens DIR`` takes battles that metamon's own code has seen instead: their logs and choices (``DIR/battles``) and
its states (``DIR/spaces``), such as those of ``tests/data/metamon``.
"""

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from nashdex.core.ids import PolicyId
from nashdex.games.registry import game_for
from nashdex.games.showdown.protocol import Seat
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import require_finished
from nashdex.rollout.session import Session
from nashdex_metamon.actions import FIRST_SWITCH, FIRST_TERA, UNKNOWN_ACTION, sorted_moves, sorted_switches
from nashdex_metamon.data.first_person import FirstPerson, Turn
from nashdex_metamon.data.generation import RecordedPolicy
from nashdex_metamon.data.parsing import parsed
from nashdex_metamon.data.replay_file import ParsedReplay
from nashdex_metamon.names import move_name
from nashdex_metamon.state import BattleState, PokemonState
from nashdex_replays.cutting import FIGHT, RECHARGE, STRUGGLE
from nashdex_replays.following import Follower, seen_by
from nashdex_replays.reconstruction import views
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import RawReplay, parse_log

_SEATS: Final[tuple[Seat, Seat]] = (0, 1)
_RANDOM: Final = PolicyId("random")
_PERCENT: Final = 0.0101
"""A spectator sees HP in whole percents."""


@dataclass(slots=True)
class Audit:
    """What was counted."""

    battles: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    views: int = 0
    views_of_right_length: int = 0
    decisions: int = 0
    unnamed: int = 0
    named_right: int = 0
    wrong: list[str] = field(default_factory=list)
    fields: Counter[str] = field(default_factory=Counter)
    """Compared values by field."""
    different: Counter[str] = field(default_factory=Counter)

    @property
    def named(self) -> int:
        """Decisions whose action is named."""
        return self.decisions - self.unnamed

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        equal = {name: round(1 - self.different[name] / count, 5) for name, count in self.fields.items()}
        return {
            "battles": self.battles,
            "refused": dict(self.refused),
            "views": self.views,
            "views_of_right_length": self.views_of_right_length,
            "decisions": self.decisions,
            "unnamed_ratio": round(self.unnamed / max(self.decisions, 1), 5),
            "named_right_ratio": round(self.named_right / max(self.named, 1), 5),
            "wrong": self.wrong,
            "equal_by_field": equal,
        }


def audit(format_id: str, battles: int, seed: int) -> Audit:
    """Play ``battles`` battles and compare what is rebuilt of them with the truth."""
    game = game_for(format_id)
    turns: dict[tuple[int, int], list[Turn]] = {}
    result = Audit()
    with (
        FirstPerson(format_id, "known") as maker,
        Follower(format_id) as follower,
        Session(game.open_arena(num_gateways=1), min(battles, 16)) as session,
    ):
        session.policies[_RANDOM] = RecordedPolicy(scripted_policy(_RANDOM, session.space), turns)
        paired = PairedBattles(seed, game.teams(), 300.0)
        planned = (paired.assignment(number, (_RANDOM, _RANDOM), log=True) for number in range(battles))
        for finished in session.play(planned):
            outcome = require_finished(finished)
            assert outcome.log is not None, "the battle keeps its log"
            log = outcome.log.split("\n")
            truth = []
            for seat in _SEATS:
                recorded = turns.pop((outcome.battle, seat), [])
                seen = sum(len(turn.said.lines) for turn in recorded)
                truth.append(maker.replay(seat, recorded, seen_by(seat, log[seen:])))
            public = "\n".join(seen_by(0, seen_by(1, log)))
            result.battles += 1
            try:
                replay = parse_log(public, f"{format_id}-{finished.assignment.number}", format_id, 0, "the log")
            except RefusedReplayError as refusal:
                result.refused[refusal.cause] += 1
                continue
            _compare(replay, truth, follower, result)
    return result


def audit_goldens(folder: Path) -> Audit:
    """Compare what is rebuilt of logs with what was chosen, and with the states of metamon's own code."""
    result = Audit()
    for path in sorted((folder / "battles").glob("*.json.gz")):
        given, seen = _read(path), _read(folder / "spaces" / path.name)
        result.battles += 1
        try:
            replay = parse_log(given["log"], given["id"], given["formatid"], given["uploadtime"], path.name)
        except RefusedReplayError as refusal:
            result.refused[refusal.cause] += 1
            continue
        with Follower(replay.format) as follower:
            pairs, refused = views([replay], follower)
            result.refused.update(refused)
            for view in (view for pair in pairs for view in pair):
                rebuilt = parsed(view, follower)
                rows = [row for row in given["rows"] if row["seat"] == view.seat and _is_decision(row)]
                states = [BattleState.from_json(row["state"]) for row in seen["decisions"] if row["seat"] == view.seat]
                result.views += 1
                if rebuilt is None or (rebuilt.num_decisions, len(rebuilt.states)) != (len(rows), len(states)):
                    result.wrong.append(f"{replay.battle} seat {view.seat}: another number of decisions")
                    continue
                result.views_of_right_length += 1
                asked = [decision for decision in view.decisions if decision.asks != "team"]
                for number, row in enumerate(rows):
                    result.decisions += 1
                    only = asked[number].only in {FIGHT, RECHARGE, STRUGGLE}
                    ours = action_name(rebuilt.states[number], rebuilt.actions[number])
                    if ours is None:
                        result.unnamed += 1
                    elif only or ours == _picked(row):
                        result.named_right += 1
                    else:
                        result.wrong.append(f"{replay.battle} seat {view.seat} decision {number}: {ours}")
                for ours_state, right_state in zip(rebuilt.states, states, strict=True):
                    _compare_states(ours_state, right_state, result)
    return result


def _read(path: Path) -> dict[str, Any]:
    with gzip.open(path) as file:
        document: dict[str, Any] = json.load(file)
    return document


def _is_decision(row: dict[str, Any]) -> bool:
    return bool(row.get("pick")) and not (row["request"] or {}).get("teamPreview")


def _picked(row: dict[str, Any]) -> str:
    """Return what was truly chosen, as ``action_name`` names it."""
    kind, number, *gimmick = row["pick"].split()
    if kind == "switch":
        details: str = row["request"]["side"]["pokemon"][int(number) - 1]["details"]
        return f"switch {''.join(c for c in details.partition(',')[0].lower() if c.isalnum())}"
    move = move_name(row["request"]["active"][0]["moves"][int(number) - 1]["id"])
    return f"{move}{' terastallize' if gimmick else ''}"


def _compare(replay: RawReplay, truth: list[ParsedReplay | None], follower: Follower, result: Audit) -> None:
    pairs, refused = views([replay], follower)
    result.refused.update(refused)
    for pair in pairs:
        for view, right in zip(pair, truth, strict=True):
            rebuilt = parsed(view, follower)
            if right is None or rebuilt is None:
                continue
            result.views += 1
            if len(rebuilt.states) != len(right.states):
                result.wrong.append(f"{replay.battle} seat {view.seat}: {len(rebuilt.states)} of {len(right.states)}")
                continue
            result.views_of_right_length += 1
            asked = [decision for decision in view.decisions if decision.asks != "team"]
            for number in range(rebuilt.num_decisions):
                result.decisions += 1
                if asked[number].only in {FIGHT, RECHARGE, STRUGGLE}:  # action 0, whatever the Pokémon's first move is
                    result.named_right += rebuilt.actions[number] == right.actions[number]
                    continue
                ours = action_name(rebuilt.states[number], rebuilt.actions[number])
                theirs = action_name(right.states[number], right.actions[number])
                if ours is None:
                    result.unnamed += 1
                elif ours == theirs:
                    result.named_right += 1
                else:
                    result.wrong.append(f"{replay.battle} seat {view.seat} decision {number}: {ours}, was {theirs}")
            for ours_state, right_state in zip(rebuilt.states, right.states, strict=True):
                _compare_states(ours_state, right_state, result)


def action_name(state: BattleState, action: int) -> str | None:
    """Return what an action of metamon's means in ``state``, or None if it is unknown."""
    if action == UNKNOWN_ACTION:
        return None
    if FIRST_SWITCH <= action < FIRST_TERA:
        return f"switch {sorted_switches(state)[action - FIRST_SWITCH].name}"
    moves = sorted_moves(state.player_active_pokemon)
    place = action - FIRST_TERA if action >= FIRST_TERA else action
    name = moves[place].name if place < len(moves) else "only move"
    return f"{name} terastallize" if action >= FIRST_TERA else name


def _compare_states(ours: BattleState, right: BattleState, result: Audit) -> None:
    for name, value, expected in _values(ours, right):
        result.fields[name] += 1
        result.different[name] += not _are_equal(value, expected)


def _values(ours: BattleState, right: BattleState) -> Iterator[tuple[str, object, object]]:
    for name in (
        "weather",
        "battle_field",
        "player_conditions",
        "opponent_conditions",
        "opponents_remaining",
        "can_tera",
        "forced_switch",
        "battle_won",
        "battle_lost",
        "opponent_teampreview",
    ):
        yield name, getattr(ours, name), getattr(right, name)
    yield "previous move", ours.player_prev_move.name, right.player_prev_move.name
    yield "previous move", ours.opponent_prev_move.name, right.opponent_prev_move.name
    for whose, active, expected in (
        ("own", ours.player_active_pokemon, right.player_active_pokemon),
        ("opponent", ours.opponent_active_pokemon, right.opponent_active_pokemon),
    ):
        for name in ("name", "hp_pct", "status", "effect", "types", "atk_boost", "spe_boost", "base_species", "lvl"):
            yield name, getattr(active, name), getattr(expected, name)
        for name in ("item", "ability"):
            yield f"{whose} {name}", getattr(active, name), getattr(expected, name)
        yield f"{whose} moves", _moves(active), _moves(expected) if whose == "opponent" else _moves(active)
    known = {pokemon.name: pokemon for pokemon in right.available_switches}
    for pokemon in ours.available_switches:
        if found := known.get(pokemon.name):
            yield "bench hp_pct", pokemon.hp_pct, found.hp_pct
            yield "bench status", pokemon.status, found.status


def _moves(pokemon: PokemonState) -> list[tuple[str, int]]:
    return sorted((move.name, move.current_pp) for move in pokemon.moves)


def _are_equal(ours: object, right: object) -> bool:
    if isinstance(right, float) and isinstance(ours, int | float):
        return abs(ours - right) <= _PERCENT
    return ours == right


def main() -> None:
    """Print one audit as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", default="gen1ou")
    parser.add_argument("--battles", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--goldens", type=Path, metavar="DIR")
    arguments = parser.parse_args()
    if arguments.goldens is None:
        found = audit(arguments.format, arguments.battles, arguments.seed)
    else:
        found = audit_goldens(arguments.goldens)
    print(json.dumps(found.to_json(), indent=2))  # noqa: T201


if __name__ == "__main__":
    main()
