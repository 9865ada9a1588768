"""Choices for open requests: the gateway follows the battles, and a policy decides, all of them in one batch."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import structlog
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId, policy_id
from nashdex.core.seeds import derive_seed, derive_uniform
from nashdex.games.interface import Decisions, Game
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.protocol import Choice, TrackedSeat
from nashdex.games.space import Space
from nashdex.policies.interface import Actions, Policy, with_processes
from nashdex.rollout.contestants import open_contestant
from nashdex.rollout.recording import Recorder
from nashdex.rollout.seats import Seats
from nashdex.serve.lines import to_id
from nashdex.serve.room import SCORES, Room
from nashdex.serve.tracking import Tracking, neutral_request
from nashdex.trajectory.episode import Episode

MOST_BATTLES: Final = 64
DEFAULT: Final = "default"
"""The choice that leaves the decision to the server; it takes the first legal one."""
_log = structlog.get_logger()


class DecidedBattle(NamedTuple):
    """Who played a battle that is over, and its decisions."""

    policy: PolicyId
    episode: Episode | None
    """None: other decisions than the policy's were among them, or another process made some of them."""


class Decider:
    """Decides for up to ``MOST_BATTLES`` rooms of one format."""

    def __init__(
        self, gateway: Gateway, policies: Mapping[PolicyId, Policy], draw: Callable[[str], PolicyId], seed: int
    ) -> None:
        """``draw`` takes the id of a room whose battle begins, and returns the policy that plays it."""
        self._gateway = gateway
        self._tracking = Tracking(gateway)
        self._policies = policies
        self._draw = draw
        self._seed = seed
        self._seats = Seats(policies, MOST_BATTLES)
        self._recorder = Recorder(MOST_BATTLES, gateway.space)
        self._free = list(range(MOST_BATTLES))
        self._policy_of: dict[int, PolicyId] = {}

    @property
    def space(self) -> Space:
        """Layout of observations and actions."""
        return self._gateway.space

    def open(self, room_id: str, name: str) -> Room:
        """Return a new room. All draws of its policy follow from the seed and the room's id, also after a restart."""
        if len(self._free) == MOST_BATTLES and not self._gateway.is_open():
            self._gateway.close()
            self._gateway = Gateway(self.space.format)
            self._tracking = Tracking(self._gateway)
        number = self._free.pop()
        self._policy_of[number] = self._draw(room_id)
        for seat in (0, 1):
            self._seats.sit(number, seat, self._policy_of[number], derive_seed(self._seed, room_id))
        self._recorder.begin(number, (True, True))
        return Room(room_id, name, number)

    def begin_again(self, room: Room) -> None:
        """Forget what was read of a room, for its whole log follows.

        A policy that reads the log forgets it too. One that reads observations keeps its memory of the battle: those
        of decisions that are made do not come again.
        """
        self._tracking.forget((room.number,))
        if self._policies[self._policy_of[room.number]].needs_lines:
            self._forget_seats(room)

    def _forget_seats(self, room: Room) -> None:
        for seat in (0, 1):
            self._seats.forget(room.number, seat)

    def finish(self, room: Room) -> DecidedBattle:
        """Forget a room whose battle is over, and return its player and its record."""
        policy = self._policy_of[room.number]
        episode = None
        if room.is_whole and room.result is not None and room.seat is not None and room.num_decisions:
            steps = self._recorder.take(room.number, room.seat)
            episode = Episode(
                seed=derive_seed(self._seed, room.id),
                seat=room.seat,
                policy=policy,
                opponent=policy_id(f"user:{to_id(room.opponent)}"),
                score=SCORES[room.result],
                observations=steps.observations,
                legal=steps.legal,
                actions=steps.actions,
                log_probs=steps.log_probs,
            )
        self._tracking.forget((room.number,))
        self._forget_seats(room)
        for seat in (0, 1):
            self._recorder.drop(room.number, seat)
        self._free.append(room.number)
        return DecidedBattle(policy, episode)

    def close(self) -> None:
        """Stop the gateway and the policies' child processes."""
        self._gateway.close()
        for policy in with_processes(self._policies.values()):
            policy.close()

    def decide(self, rooms: Iterable[Room]) -> list[tuple[Room, str]]:
        """Return a choice, as the server takes it, for each room with an open request.

        If the tracker cannot follow a room, it reads the room's whole log again. If that fails too, the choice is
        ``default``, the server's first legal one. It is logged and counted in ``num_untracked``.

        Raises:
            TryAgainError: the gateway does not answer.
        """
        asked = [room for room in rooms if room.wants_decision]
        found = [(room, DEFAULT) for room in asked if room.takes_default]
        waiting = [room for room in asked if not room.takes_default]
        for room, why in self._decide(waiting, found):
            _log.warning("the tracker reads a battle again", room=room.id, cause=why)
            self.begin_again(room)
            room.num_tracked = 0
            for _, still in self._decide([room], found):
                _log.error("the tracker cannot follow a battle; the choice is the default", room=room.id, cause=still)
                room.num_untracked += 1
                room.num_tracked = 0
                self.begin_again(room)
                found.append((room, DEFAULT))
        for room, choice in found:
            room.is_whole &= choice != DEFAULT
        return found

    def _decide(self, rooms: Sequence[Room], found: list[tuple[Room, str]]) -> list[tuple[Room, str]]:
        """Append the rooms' choices to ``found``; return the rooms without one, and why."""
        waiting = {room.number: room for room in rooms}
        lost: list[tuple[Room, str]] = []
        if not waiting:
            return lost
        rows = [self._row(room) for room in rooms]
        self._tracking.read(rows)
        lines: dict[tuple[int, int], TrackedSeat] = {(row.battle, row.seat): row for row in rows}
        while waiting:
            tracked = self._tracking.decisions({key: row for key, row in lines.items() if key[0] in waiting})
            lost += [(waiting.pop(number), why) for number, why in tracked.failed.items()]
            if tracked.decisions is None:
                break
            again = [waiting[number].asked_again for number in tracked.decisions.battle.tolist()]
            decisions = replace(tracked.decisions, asked_again=np.array(again, dtype=np.bool_))
            answers = self._seats.answer(decisions)
            for number, failure in answers.void.items():
                lost.append((waiting.pop(number), f"{failure.cause}: {failure.detail}"))
            if answers.void:
                kept = np.flatnonzero(~np.isin(decisions.battle, list(answers.void)))
                decisions = decisions.take(kept)
                answers = Actions(answers.action[kept], answers.log_prob[kept])
            if not len(decisions):
                break
            self._recorder.add(decisions, answers.action, answers.log_prob)
            for number, chosen in self._texts(decisions, answers.action).items():
                if chosen.cause is not None:
                    waiting[number].is_whole = False
                    lost.append((waiting.pop(number), f"the policy's action is not legal: {chosen.cause}"))
                elif chosen.choice is not None:
                    found.append((waiting.pop(number), chosen.choice))
        return lost

    def _row(self, room: Room) -> TrackedSeat:
        assert room.seat is not None, "only rooms with a seat are asked"
        assert room.request is not None, "only rooms with a request are asked"
        return TrackedSeat(
            battle=room.number,
            seat=0 if room.seat == 0 else 1,
            lines=tuple(room.new_lines()),
            request=neutral_request(room.request, room.seat),
            state=self._policies[self._policy_of[room.number]].needs_state,
        )

    def _texts(self, decisions: Decisions, actions: NDArray[np.int64]) -> dict[int, Choice]:
        """Return the server's text of each action, by battle."""
        chosen = self._tracking.choices(decisions.battle, decisions.seat, actions)
        self._gateway.channel.recycle()
        return {row.battle: row for row in chosen}


def open_decider(policy: str, game: Game, seed: int) -> Decider:
    """Return what decides for ``policy``, as ``nashdex battle --p1`` takes it, in ``game``. Close it after use.

    A mixture draws a policy for each battle; it follows from ``seed`` and the room's id.

    Raises:
        ConfigurationError: there is no such policy, it does not play the game, or the game is not Showdown's.
        DataError: its run or policy is missing or altered.
        TryAgainError: no gateway answers.
    """
    if game.tree is not None:
        raise ConfigurationError(f"no Showdown server plays {game.format}; name a Showdown format, such as gen1ou")
    gateway, contestant = open_contestant(policy, game.format)
    mixture = contestant.mixture

    def draw(room_id: str) -> PolicyId:
        return mixture.draw(derive_uniform(seed, room_id))

    return Decider(gateway, contestant.policies, draw, seed)
