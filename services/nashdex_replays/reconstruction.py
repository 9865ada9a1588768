"""A raw replay as both players' views: what each saw and chose, in the simulator's numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nashdex.games.showdown.protocol import Seat
from nashdex_replays.cutting import Decision, cut
from nashdex_replays.following import Followed, Follower, seen_by
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import RawReplay, each_usable, require_decisions
from nashdex_replays.requests import NO_ACTION, asked
from nashdex_replays.teams import teams

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
    pairs, refused = each_usable(replays, lambda replay: _pair(replay, follower))
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
        require_decisions(replay, len(decisions))
        # Where a log has exact HP, a player still sees the opponent's in percent.
        lines = seen_by(seat, replay.lines)
        _require_both_on_field(replay, lines, decisions)
        rows = list(asked(lines, seat, decisions, members, replay.generation, follower.wire))
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
