"""A raw replay of a double battle as both players' views: their observations, and the known choices of their slots.

D decisions, F observation values, A joint actions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import TryAgainError
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.showdown.doubles_slots import joined, slot_choice
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.protocol import Choices, Chosen, Failed, Seat, Track, TrackedAction, TrackedSeat, Untrack
from nashdex_replays.doubles.cutting import cut
from nashdex_replays.doubles.requests import AskedSlots, asked
from nashdex_replays.following import seen_by
from nashdex_replays.replay import RawReplay, each_usable, require_decisions
from nashdex_replays.sheets import fill, open_teams
from nashdex_replays.teams import Member, teams

UNKNOWN_SLOT: Final = -1
NOT_OFFERED: Final = "not-offered"
"""Cause of a choice that the rebuilt request does not allow."""
_ANSWER_SECONDS: Final = 60.0
_SEATS: Final[tuple[Seat, Seat]] = (0, 1)


@dataclass(slots=True)
class JointView:
    """One player's view of a double battle."""

    replay: RawReplay
    seat: Seat
    asked: list[AskedSlots]
    has_inputs: bool
    """The choices are the player's own, not read from lines."""
    observations: list[NDArray[np.float32]] = field(default_factory=list)
    """Observation of each decision, shape (F,)."""
    legal: list[NDArray[np.uint16]] = field(default_factory=list)
    """Legal joint actions of each decision."""
    agreeing: list[NDArray[np.uint16]] = field(default_factory=list)
    """Actions that agree with the known part of the choice; at least one."""
    slots: list[tuple[int, int]] = field(default_factory=list)
    """Number of each slot's choice; ``UNKNOWN_SLOT`` where it is unknown."""
    causes: list[tuple[str, str]] = field(default_factory=list)
    """Why; empty where it is known."""
    failure: str | None = None

    def keep(self, observation: NDArray[np.float32], legal: NDArray[np.uint16], size: int) -> None:
        """Take in the tracker's view of the next decision, with ``size`` choices of a slot."""
        place = len(self.legal)
        row = _with_only_targets(self.asked[place], legal, size)
        agreeing = _agreeing(row, legal, size)
        if not len(agreeing):  # a slot may have used a move that the log does not show
            parts = zip(row.choices, row.options, strict=True)
            first, second = (options if choice.is_known else None for choice, options in parts)
            row = replace(row, options=(first, second))
            agreeing = _agreeing(row, legal, size)
        self.asked[place] = row
        numbers, causes = [], []
        for choice, options in zip(row.choices, row.options, strict=True):
            is_known = len(agreeing) > 0 and options is not None and len(options) == 1
            numbers.append(next(iter(options)) if is_known and options is not None else UNKNOWN_SLOT)
            causes.append("" if is_known else choice.cause or NOT_OFFERED)
        self.observations.append(observation)
        self.legal.append(legal)
        self.agreeing.append(agreeing if len(agreeing) else legal)
        self.slots.append((numbers[0], numbers[1]))
        self.causes.append((causes[0], causes[1]))

    def legal_actions(self, num_actions: int) -> LegalActions:
        """Return the legal actions of all decisions, of ``num_actions`` in the space."""
        return _ragged(self.legal, num_actions)

    def agreeing_actions(self, num_actions: int) -> LegalActions:
        """Return the actions that agree with the known part of each choice."""
        return _ragged(self.agreeing, num_actions)


def _ragged(rows: Sequence[NDArray[np.uint16]], num_actions: int) -> LegalActions:
    return LegalActions.of_counts(np.array([len(row) for row in rows], np.int64), np.concatenate(rows), num_actions)


def _with_only_targets(row: AskedSlots, legal: NDArray[np.uint16], size: int) -> AskedSlots:
    """Return a decision with each target that the lines do not show but that is a known move's only legal one."""
    if row.asks != "move":
        return row
    agreeing = _agreeing(row, legal, size)
    choices, options = list(row.choices), list(row.options)
    for slot, numbers in enumerate(np.divmod(agreeing, size)):
        left, choice = np.unique(numbers), choices[slot]
        if choice.kind == "move" and choice.target is None and choice.cause != "automatic" and len(left) == 1:
            number = int(left[0])
            choices[slot] = replace(choice, target=slot_choice(number).target, cause="")
            options[slot] = frozenset({number})
    return replace(row, choices=(choices[0], choices[1]), options=(options[0], options[1]))


def _agreeing(row: AskedSlots, legal: NDArray[np.uint16], size: int) -> NDArray[np.uint16]:
    """Return the legal actions that agree with the known part of a choice; none if it is not among them."""
    slots = np.divmod(legal, size)
    agrees = np.ones(len(legal), np.bool_)
    known = [options for options in row.options if options is not None]
    if row.asks == "bench":  # who waits is known, not in which order, and the order has no effect
        for options in known:
            agrees &= np.isin(slots[0], list(options)) | np.isin(slots[1], list(options))
    else:
        for numbers, allowed in zip(slots, row.options, strict=True):
            if allowed is not None:
                agrees &= np.isin(numbers, list(allowed))
    return legal[agrees]


def joint_views(
    replays: Sequence[RawReplay], gateway: Gateway, *, use_inputs: bool = True
) -> tuple[list[tuple[JointView, JointView]], Counter[str]]:
    """Return both players' views of each replay that can be followed, and the causes of the others.

    ``use_inputs``: read the choices from the input beside a log, if there is one; otherwise from the lines.

    Raises:
        TryAgainError: the gateway is gone.
    """
    pairs, refused = each_usable(replays, lambda replay: _pair(replay, use_inputs=use_inputs))
    _follow([view for pair in pairs for view in pair], gateway)
    good = [pair for pair in pairs if all(view.failure is None for view in pair)]
    if len(good) < len(pairs):
        refused["inconsistent"] += len(pairs) - len(good)
    return good, refused


def _pair(replay: RawReplay, *, use_inputs: bool) -> tuple[JointView, JointView]:
    cuts = cut(replay.lines, replay.generation)
    members = _teams(replay)
    pair = []
    for seat in _SEATS:
        decisions = cuts[seat]
        require_decisions(replay, len(decisions))
        inputs = replay.inputs[seat] if use_inputs and replay.inputs is not None else None
        # Where a log has exact HP, a player still sees the opponent's in percent.
        lines = seen_by(seat, replay.lines)
        rows = list(asked(lines, seat, decisions, members, replay.generation, inputs))
        if inputs is not None:  # now its moves are known
            rows = list(asked(lines, seat, decisions, members, replay.generation, inputs))
        pair.append(JointView(replay, seat, rows, inputs is not None))
    return pair[0], pair[1]


def _teams(replay: RawReplay) -> tuple[list[Member], list[Member]]:
    """Return both teams as their owners know them: of the lines, of open sheets, and of sheets beside the log."""
    members = teams(replay.lines)
    shown = open_teams(replay.lines)
    for seat in _SEATS:
        sheets = replay.sheets[seat] or shown.get(seat, ())
        if sheets:
            fill(members[seat], sheets, replay.generation, len(replay.lines), replay.battle)
    return members


def _follow(views: Sequence[JointView], gateway: Gateway) -> None:
    """Fill in what each of ``views`` saw, side by side."""
    size = len(gateway.space.actions)
    for step in range(max((len(view.asked) for view in views), default=0)):
        rows = {number: view for number, view in enumerate(views) if view.failure is None and step < len(view.asked)}
        tracked, halves = [], []
        for number, view in rows.items():
            request = view.asked[step].request
            if request is None and UNKNOWN_SLOT in view.slots[step - 1]:
                view.failure = "the lines do not show who leads"
            elif request is None:
                action = joined(*view.slots[step - 1], size)  # that chose the Pokémon in front
                halves.append(TrackedAction(battle=number, seat=view.seat, action=action))
            else:
                lines = tuple(view.asked[step].lines)
                tracked.append(TrackedSeat(battle=number, seat=view.seat, lines=lines, request=request, state=False))
        if tracked:
            gateway.send(Track(rows=tuple(tracked)))
        if halves:
            gateway.send(Choices(rows=tuple(halves)))
        gateway.flush()
        _receive({number: view for number, view in rows.items() if view.failure is None}, gateway, size)
    if views:
        gateway.send(Untrack(battles=tuple(range(len(views)))))


def _receive(rows: Mapping[int, JointView], gateway: Gateway, size: int) -> None:
    """Wait for the decision of every row."""
    missing = set(rows)
    while missing:
        message = gateway.receive(_ANSWER_SECONDS)
        if message is None:
            raise TryAgainError(f"the gateway did not answer within {_ANSWER_SECONDS:.0f} s; try again")
        if isinstance(message, Decisions):
            numbers: list[int] = message.battle.tolist()
            for row, number in enumerate(numbers):
                if np.isfinite(message.observation[row]).all():
                    rows[number].keep(message.observation[row].copy(), message.legal[row].copy(), size)
                else:
                    rows[number].failure = "the lines hold numbers that no battle has"
                missing.discard(number)
            gateway.channel.recycle()
        elif isinstance(message, Chosen):
            for chosen in message.rows:
                if chosen.cause is not None:
                    rows[chosen.battle].failure = chosen.cause
                    missing.discard(chosen.battle)
        elif isinstance(message, Failed):
            for failed in message.battles:
                rows[failed.battle].failure = failed.detail.partition("\n")[0]
                missing.discard(failed.battle)
