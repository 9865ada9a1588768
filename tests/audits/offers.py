"""How well the choices that a log allows agree with the simulator's requests, in battles whose requests are known.

A request forbids moves (Disable, Encore, Taunt, Choice items, spent PP) and switches (traps). What is rebuilt from a
log should forbid the same of the moves that the log shows, and nothing that the request allowed.

Run: ``PYTHONPATH=tests python -m audits.offers --format gen9vgc2024regg --battles 50 --seed 1``, or with
``--goldens DIR`` for the battles of ``DIR/battles``, such as those of ``tests/data/metamon``.
"""

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.registry import game_for
from nashdex.games.showdown.doubles_slots import FIRST_MOVE, NUM_MOVES, NUM_TARGETS, PASS
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.names import DOUBLES
from nashdex.policies.interface import Actions, Policy
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import require_finished
from nashdex.rollout.session import Session
from nashdex_replays.doubles.reconstruction import joint_views
from nashdex_replays.following import Follower, seen_by
from nashdex_replays.reconstruction import views
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import RawReplay, parse_log
from nashdex_replays.words import clean_name

_SEATS: Final = (0, 1)
_RANDOM: Final = PolicyId("random")
_NUM_SWITCHES: Final = 6
_BINDING_ITEMS: Final = frozenset({"choiceband", "choicescarf", "choicespecs", "assaultvest"})


@dataclass(frozen=True, slots=True)
class Offered:
    """What a slot may do at the start of a turn."""

    moves: Mapping[str, bool]
    """Whether each known move may be used, by id."""
    can_switch: bool | None
    """None: the request leaves it open."""
    item: str
    """What its user holds, as far as known: an id."""
    bench: frozenset[str]
    """Names of the Pokémon that wait and live, as far as known."""


@dataclass(slots=True)
class Agreement:
    """What was counted."""

    format: str = ""
    battles: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    slots: int = 0
    """Slots that were asked for a move."""
    moves: int = 0
    """Moves that both requests list."""
    forbidden: int = 0
    """Those that the simulator forbids."""
    forbidden_here: int = 0
    """Those of them that are forbidden here, too."""
    switches: int = 0
    """Slots with a Pokémon that could come in."""
    trapped: int = 0
    trapped_here: int = 0
    wrong: list[str] = field(default_factory=list)
    """What is forbidden here though the simulator allows it."""
    unknown_items: int = 0
    """Moves that a Choice item or Assault Vest forbids which the log never shows."""
    missed: list[str] = field(default_factory=list)
    """What else the simulator forbids and the log does not."""

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return {
            "format": self.format,
            "battles": self.battles,
            "refused": dict(self.refused),
            "slots": self.slots,
            "moves": self.moves,
            "forbidden": self.forbidden,
            "forbidden_here": self.forbidden_here,
            "switches": self.switches,
            "trapped": self.trapped,
            "trapped_here": self.trapped_here,
            "unknown_items": self.unknown_items,
            "wrong": self.wrong,
            "missed": self.missed,
        }

    def add(self, where: str, truth: Offered, here: Offered) -> None:
        """Compare one slot."""
        unknown = truth.item if truth.item in _BINDING_ITEMS and here.item != truth.item else ""
        self.slots += 1
        for move in truth.moves.keys() & here.moves.keys():
            self.moves += 1
            self.forbidden += not truth.moves[move]
            self.forbidden_here += not truth.moves[move] and not here.moves[move]
            if truth.moves[move] != here.moves[move]:
                if not truth.moves[move] and unknown:
                    self.unknown_items += 1
                else:
                    (self.wrong if truth.moves[move] else self.missed).append(f"{where}: {move}")
        if truth.can_switch is not None and truth.bench & here.bench:
            self.switches += 1
            self.trapped += not truth.can_switch
            self.trapped_here += not truth.can_switch and not here.can_switch
            if truth.can_switch != here.can_switch:
                (self.wrong if truth.can_switch else self.missed).append(f"{where}: switch")


def offered(
    request: Mapping[str, Any], position: int, *, usable: frozenset[int] | None, can_switch: bool | None
) -> Offered | None:
    """Return what a request offers a slot; None if it can only pass.

    ``usable``: places of the moves that the tracker counts as legal. None: as the request says.
    """
    team = request["side"]["pokemon"]
    num_active = len(request["active"])
    if num_active == 1:  # a rebuilt request for a single battle keeps the team's order
        team = sorted(team, key=lambda entry: not entry["active"])
    if position >= len(team) or team[position].get("condition", "").endswith(" fnt"):
        return None
    listed = request["active"][position]["moves"]
    if len(listed) == 1 and len(team[position]["moves"]) != 1:  # locked, or left with Struggle
        known = {_id(move): _id(move) == _id(listed[0]["id"]) for move in team[position]["moves"]}
        moves = known | {_id(listed[0]["id"]): True}
    else:
        moves = {
            _id(move["id"]): not move.get("disabled") if usable is None else place in usable
            for place, move in enumerate(listed)
        }
    bench = frozenset(entry["ident"] for entry in team[num_active:] if not entry.get("condition", "").endswith(" fnt"))
    return Offered(moves, can_switch, clean_name(team[position].get("item") or ""), bench)


def _id(move: str) -> str:
    return "hiddenpower" if move.startswith("hiddenpower") else move


_Kept = dict[tuple[int, int], list[tuple[dict[str, Any], NDArray[np.int64]]]]
"""Requests and legal actions, by battle and seat."""


class _Recorder:
    """A policy whose requests and legal actions are kept. Implements ``policies.interface.Policy``."""

    needs_lines = True

    def __init__(
        self, policy: Policy, kept: dict[tuple[int, int], list[tuple[dict[str, Any], NDArray[np.int64]]]]
    ) -> None:
        self.id = policy.id
        self.needs_state = policy.needs_state
        self.view = policy.view
        self._policy = policy
        self._kept = kept

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row as the policy does."""
        rows = zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)
        for row, key in enumerate(rows):
            if not decisions.asked_again[row]:
                legal = np.asarray(decisions.legal[row]).astype(np.int64)
                self._kept.setdefault(key, []).append((dict(decisions.lines[key].request), legal))
        return self._policy.act(decisions, uniforms)

    def forget(self, battle: int, seat: int) -> None:
        """Have the policy forget a seat; its requests are kept until they are compared."""
        self._policy.forget(battle, seat)


def audit(format_id: str, battles: int, seed: int) -> Agreement:
    """Play ``battles`` battles of random choices, and compare."""
    game = game_for(format_id)
    kept: _Kept = {}
    result = Agreement(format_id)
    with (
        closing(_Rebuilder(format_id)) as rebuilder,
        Session(game.open_arena(num_gateways=1), min(battles, 16)) as session,
    ):
        session.policies[_RANDOM] = _Recorder(scripted_policy(_RANDOM, session.space), kept)
        size = len(session.space.actions)
        paired = PairedBattles(seed, game.teams(), 300.0)
        planned = (paired.assignment(number, (_RANDOM, _RANDOM), log=True) for number in range(battles))
        for finished in session.play(planned):
            outcome = require_finished(finished)
            assert outcome.log is not None, "the battle keeps its log"
            truth = []
            for seat in _SEATS:
                rows = kept.pop((outcome.battle, seat), [])
                truth.append([(request, legal) for request, legal in rows if _asks_for_moves(request)])
            public = "\n".join(seen_by(0, seen_by(1, outcome.log.split("\n"))))
            battle = f"{format_id}-{finished.assignment.number}"
            result.battles += 1
            requests = rebuilder.requests(public, battle, format_id, result)
            for seat, here in requests.items():
                _compare(f"{battle} seat {seat}", truth[seat], here, size, result)
    return result


def audit_goldens(folder: Path) -> Iterator[Agreement]:
    """Compare battles of ``folder``, which hold every request."""
    results: dict[str, Agreement] = {}
    for path in sorted((folder / "battles").glob("*.json.gz")):
        with gzip.open(path) as file:
            given = json.load(file)
        format_id = given["formatid"]
        result = results.setdefault(format_id, Agreement(format_id))
        result.battles += 1
        with closing(_Rebuilder(format_id)) as rebuilder:
            for seat, here in rebuilder.requests(given["log"], given["id"], format_id, result).items():
                truth = [
                    (row["request"], None)
                    for row in given["rows"]
                    if row["seat"] == seat and row["request"] and _asks_for_moves(row["request"])
                ]
                _compare(f"{given['id']} seat {seat}", truth, here, 0, result)
    yield from results.values()


class _Rebuilder:
    """Rebuilds requests, single and double."""

    def __init__(self, format_id: str) -> None:
        self._gateway = Gateway(format_id) if format_id in DOUBLES else None
        self._follower = None if format_id in DOUBLES else Follower(format_id)

    def requests(
        self, log: str, battle: str, format_id: str, result: Agreement
    ) -> dict[int, list[tuple[dict[str, Any], NDArray[np.int64]]]]:
        """Return each seat's requests for moves, with the legal actions."""
        try:
            replay: RawReplay = parse_log(log, battle, format_id, 0, battle)
        except RefusedReplayError as refusal:
            result.refused[refusal.cause] += 1
            return {}
        found = {}
        if self._gateway is not None:
            pairs, refused = joint_views([replay], self._gateway)
            for joint in (view for pair in pairs for view in pair):
                rows = zip(joint.asked, joint.legal, strict=True)
                found[int(joint.seat)] = [
                    (row.request, legal.astype(np.int64)) for row, legal in rows if row.request and row.asks == "move"
                ]
        else:
            assert self._follower is not None, "one of the two is there"
            singles, refused = views([replay], self._follower)
            for view in (view for pair in singles for view in pair):
                masked = zip(view.followed.asked, view.followed.masks, strict=True)
                found[int(view.seat)] = [
                    (row.request, np.flatnonzero(mask)) for row, mask in masked if _asks_for_moves(row.request)
                ]
        result.refused.update(refused)
        return found

    def close(self) -> None:
        """Stop the gateway."""
        if self._gateway is not None:
            self._gateway.close()
        if self._follower is not None:
            self._follower.__exit__()


def _asks_for_moves(request: Mapping[str, Any]) -> bool:
    return bool(request.get("active")) and not request.get("wait")


_Row = tuple[Mapping[str, Any], NDArray[np.int64] | None]


def _compare(where: str, truth: Sequence[_Row], here: Sequence[_Row], size: int, result: Agreement) -> None:
    if len(truth) != len(here):
        result.wrong.append(f"{where}: {len(here)} requests, and the simulator made {len(truth)}")
        return
    for number, (known, rebuilt) in enumerate(zip(truth, here, strict=True)):
        for position in range(len(known[0]["active"])):
            allowed = [
                offered(
                    request,
                    position,
                    usable=_usable(request, legal, position, size),
                    can_switch=_can_switch(request, legal, position, size),
                )
                for request, legal in (known, rebuilt)
            ]
            if allowed[0] is not None and allowed[1] is not None:
                result.add(f"{where} request {number} slot {position}", allowed[0], allowed[1])


def _can_switch(request: Mapping[str, Any], legal: NDArray[np.int64] | None, position: int, size: int) -> bool | None:
    if legal is None:
        active = request["active"][position]
        return None if active.get("maybeTrapped") else not active.get("trapped", False)
    if len(request["active"]) == 1:
        return bool((legal < _NUM_SWITCHES).any())
    numbers = legal % size if position else legal // size
    return bool(((numbers > PASS) & (numbers < FIRST_MOVE)).any())


def _usable(
    request: Mapping[str, Any], legal: NDArray[np.int64] | None, position: int, size: int
) -> frozenset[int] | None:
    if legal is None:
        return None
    if len(request["active"]) == 1:
        return frozenset(int(action - _NUM_SWITCHES) for action in legal if 0 <= action - _NUM_SWITCHES < NUM_MOVES)
    numbers = legal % size if position else legal // size
    places = {int(number - FIRST_MOVE) // NUM_TARGETS for number in numbers if number >= FIRST_MOVE}
    return frozenset(place for place in places if place < NUM_MOVES)  # others are with a gimmick


def main() -> None:
    """Print one count a format, as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", action="append", default=[])
    parser.add_argument("--battles", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--goldens", type=Path, metavar="DIR")
    arguments = parser.parse_args()
    found = (
        audit_goldens(arguments.goldens)
        if arguments.goldens is not None
        else (audit(name, arguments.battles, arguments.seed) for name in arguments.format)
    )
    for one in found:
        print(json.dumps(one.to_json()))  # noqa: T201


if __name__ == "__main__":
    main()
