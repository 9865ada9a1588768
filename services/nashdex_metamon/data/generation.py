"""Plays battles between two contestants and writes both seats' trajectories in metamon's layout."""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions, Outcome
from nashdex.games.showdown.protocol import Seat
from nashdex.games.showdown.replays import rename_players
from nashdex.policies.interface import Actions, Policy
from nashdex_metamon.data.file_name import ReplayName
from nashdex_metamon.data.first_person import FirstPerson, Turn
from nashdex_metamon.data.replay_file import write
from nashdex_metamon.live import begins_battle
from nashdex_replays.following import seen_by
from nashdex_replays.replay import Result

_SEATS: Final[tuple[Seat, Seat]] = (0, 1)


class RecordedPolicy:
    """A policy whose decisions are kept. Implements ``policies.interface.Policy``."""

    needs_lines = True

    def __init__(self, policy: Policy, turns: dict[tuple[int, int], list[Turn]]) -> None:
        self.id = policy.id
        self.needs_state = policy.needs_state
        self.view = policy.view
        self._policy = policy
        self._turns = turns

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row as the policy does."""
        answers = self._policy.act(decisions, uniforms)
        rows = zip(decisions.battle.tolist(), decisions.seat.tolist(), answers.action.tolist(), strict=True)
        for row, (battle, seat, action) in enumerate(rows):
            said = decisions.lines[battle, seat]
            turns = self._turns.setdefault((battle, seat), [])
            if begins_battle(said):
                turns.clear()
            if decisions.asked_again[row] and turns:
                # The rejected answer does not count; lines and request of the first question do.
                turns[-1] = Turn(turns[-1].said, action)
            else:
                turns.append(Turn(said, action))
        return answers

    def forget(self, battle: int, seat: int) -> None:
        """Have the policy forget a seat; its decisions are kept until they are written."""
        self._policy.forget(battle, seat)


@dataclass(slots=True)
class Written:
    """What was written."""

    files: int = 0
    decisions: int = 0
    unnamed: int = 0
    results: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Header:
    """What the names of a battle's two files share."""

    battle: str
    players: tuple[str, str]
    """Players by seat."""
    date: str
    """``MM-DD-YYYY``."""

    def file_name(self, seat: int, result: Result) -> str:
        """Return the name of a seat's file."""
        return ReplayName(self.battle, None, self.players[seat], self.players[1 - seat], self.date, result).file_name


def write_battle(
    maker: FirstPerson,
    root: Path,
    outcome: Outcome,
    turns: dict[tuple[int, int], list[Turn]],
    header: Header,
    written: Written,
) -> None:
    """Write both seats' files of a battle that just ended, and drop its ``turns``.

    Args:
        maker: makes the trajectories.
        root: the folder; files go to ``{root}/{format}``.
        outcome: how the battle ended, with its log.
        turns: decisions by (battle, seat).
        header: names the files.
        written: is added to.
    """
    assert outcome.log is not None, "a battle that is written keeps its log"
    log = outcome.log.split("\n")
    for seat in _SEATS:
        recorded = turns.pop((outcome.battle, seat), [])
        num_seen = sum(len(turn.said.lines) for turn in recorded)
        replay = maker.replay(seat, recorded, seen_by(seat, log[num_seen:]))
        if replay is None:
            continue
        result: Result = "TIE" if outcome.winner is None else "WIN" if outcome.winner == seat else "LOSS"
        write(root / replay.states[0].format / header.file_name(seat, result), replay)
        written.files += 1
        written.decisions += replay.num_decisions
        written.unnamed += replay.num_unnamed
        written.results[result] += 1


def spectator_replay(outcome: Outcome, players: tuple[str, str], battle: str, format_id: str, now: datetime) -> bytes:
    """Return a line of JSON as Showdown publishes a replay: the spectators' view of a finished battle."""
    assert outcome.log is not None, "a battle that is written keeps its log"
    log = rename_players(outcome.log, players)
    for seat in _SEATS:
        log = "\n".join(seen_by(seat, log.split("\n")))
    replay = {
        "id": battle,
        "formatid": format_id,
        "players": players,
        "uploadtime": int(now.timestamp()),
        "log": log,
    }
    return json.dumps(replay).encode() + b"\n"


def player_names(policies: tuple[PolicyId, PolicyId]) -> tuple[str, str]:
    """Return two policies' ids as players' names, which differ: letters, digits and dashes."""
    first, second = (re.sub(r"[^A-Za-z0-9]+", "-", policy).strip("-") for policy in policies)
    return (f"{first}-1", f"{second}-2") if first == second else (first, second)
