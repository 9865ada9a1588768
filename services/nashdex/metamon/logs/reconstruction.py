"""A raw replay as both players' views: what each saw and chose, in the simulator's numbers and in metamon's."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nashdex.games.interface import SeatLines
from nashdex.games.showdown.protocol import Seat
from nashdex.metamon.actions import UNKNOWN_ACTION
from nashdex.metamon.conditions import Conditions
from nashdex.metamon.data.generation import seen_by
from nashdex.metamon.data.replay_file import ParsedReplay, RefusedReplayError
from nashdex.metamon.dex import dex
from nashdex.metamon.lines import read_lines
from nashdex.metamon.live import orders
from nashdex.metamon.logs.cutting import Decision, cut
from nashdex.metamon.logs.following import Followed, Follower
from nashdex.metamon.logs.replay import RawReplay
from nashdex.metamon.logs.requests import NO_ACTION, asked
from nashdex.metamon.logs.teams import teams
from nashdex.metamon.tracked import battle_state

MAX_DECISIONS: Final = 2000
"""Of one player. The simulator ends a battle after 1,000 turns; each keeps about 20 KB until the battle is written."""
_SEATS: Final[tuple[Seat, Seat]] = (0, 1)


@dataclass(frozen=True, slots=True)
class View:
    """One player's view of a battle."""

    replay: RawReplay
    seat: Seat
    decisions: Sequence[Decision]
    followed: Followed

    @property
    def actions(self) -> list[int]:
        """The simulator's number of each choice; ``NO_ACTION`` if it is unknown or the tracker's mask forbids it."""
        pairs = zip(self.followed.asked, self.followed.masks, strict=True)
        return [row.action if row.action != NO_ACTION and mask[row.action] else NO_ACTION for row, mask in pairs]


def views(replays: Sequence[RawReplay], follower: Follower) -> tuple[list[tuple[View, View]], Counter[str]]:
    """Return both players' views of each replay that can be followed, and the causes of the others.

    Raises:
        TryAgainError: the gateway is gone.
    """
    pairs: list[tuple[View, View]] = []
    refused: Counter[str] = Counter()
    for replay in replays:
        try:
            pairs.append(_pair(replay, follower))
        except RefusedReplayError as refusal:
            refused[refusal.cause] += 1
    follower.follow([view.followed for pair in pairs for view in pair])
    good = [pair for pair in pairs if all(view.followed.failure is None for view in pair)]
    if len(good) < len(pairs):
        refused["inconsistent"] += len(pairs) - len(good)
    return good, refused


def _pair(replay: RawReplay, follower: Follower) -> tuple[View, View]:
    cuts = cut(replay.lines, replay.generation)
    members = teams(replay.lines)
    pair = []
    for seat in _SEATS:
        decisions = cuts[seat]
        if not decisions:
            raise RefusedReplayError("no-decision", f"{replay.battle}: a player decides nothing")
        if len(decisions) > MAX_DECISIONS:
            raise RefusedReplayError(
                "too-long",
                f"{replay.battle}: a player decides {len(decisions):,} times; expected at most {MAX_DECISIONS:,}",
            )
        # Where a log has exact HP, a player still sees the opponent's in percent.
        lines = seen_by(seat, replay.lines)
        _require_both_on_field(replay, lines, decisions)
        rows = list(asked(lines, seat, decisions, members, dex(replay.generation), follower.wire))
        last = lines[decisions[-1].position :]
        pair.append(View(replay, seat, decisions, Followed(seat, rows, last)))
    return pair[0], pair[1]


def _require_both_on_field(replay: RawReplay, lines: Sequence[str], decisions: Sequence[Decision]) -> None:
    """Refuse a log in which a player chooses a move or a switch before both have a Pokémon on the field."""
    first = next((decision.position for decision in decisions if decision.asks != "team"), None)
    if first is None:
        return
    entered = {line.split("|")[2][:2] for line in lines[:first] if line.startswith(("|switch|", "|drag|"))}
    if not entered >= {"p1", "p2"}:
        raise RefusedReplayError("inconsistent", f"{replay.battle}: a player decides before both have a Pokémon")


def parsed(view: View, follower: Follower) -> ParsedReplay | None:
    """Return the view as metamon's trajectory; None if the player decided nothing but the order of the team."""
    followed, format_id = view.followed, view.replay.format
    conditions = Conditions()
    facts = dex(view.replay.generation)
    states, actions = [], []
    chosen = [*view.actions, NO_ACTION]
    lines = [*(row.lines for row in followed.asked), followed.last_lines]
    for number, (state, new) in enumerate(zip(followed.states, lines, strict=True)):
        read_lines(conditions, new)
        is_last = number == len(followed.asked)
        if not is_last and view.decisions[number].asks == "team":
            continue
        states.append(battle_state(format_id, view.seat, state, conditions, facts, "known"))
        action = UNKNOWN_ACTION
        if chosen[number] != NO_ACTION:
            said = SeatLines([], followed.asked[number].request, dict(state))
            found = np.flatnonzero(orders(said, followed.masks[number], follower.wire) == chosen[number])
            action = int(found[0]) if len(found) else UNKNOWN_ACTION
        actions.append(action)
    return ParsedReplay(tuple(states), tuple(actions)) if len(states) > 1 else None
