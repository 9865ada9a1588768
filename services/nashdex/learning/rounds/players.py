"""Players of a training's battles: their protocol, and the player within the training process.

A round's battles follow from the run's seed, the iteration, the shard, the round and the weights that it begins with,
so an interrupted round is repeated to the bit, wherever it is played.
"""

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import torch

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import PlayedPolicy, PolicyId
from nashdex.games.interface import Game
from nashdex.games.teams import TeamPool
from nashdex.learning.devices import check_player
from nashdex.learning.rounds.planned import EvaluationBattles, PlannedBattles, RoundBattles
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.rollout.play import PlayedBattle, require_finished
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import Sizes
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.episode import Episode

Networks = Mapping[PolicyId, ActorCritic]
"""Networks of policies that are not stored, by their names in assignments."""


@dataclass(frozen=True)
class StreamPosition:
    """A training's position in a stream of battles, and the largest age of the weights that play for it."""

    max_staleness_versions: int
    saved_round: int = 0
    """The round of the newest checkpoint: no attempt repeats an earlier one."""
    is_overtaken: Callable[[], bool] = lambda: False
    """Says whether another attempt at the training, which still runs, has saved a later checkpoint."""


@dataclass(frozen=True)
class WantedRound:
    """A round that a training wants played."""

    battles: RoundBattles
    networks: Networks
    """The networks that play the round, without the stored ones."""
    staleness_versions: int = 0
    """Number of versions by which the networks are older than the learning network."""
    stream: StreamPosition | None = None
    """Set if actors play all the time, and a round takes the chunks that are stored."""
    is_at_begin: bool = True
    """Whether the training has learned nothing from the round yet; otherwise, its checkpoint counts the CPU time of the
    round's battles."""


@dataclass(frozen=True)
class Played:
    """The recorded episodes of a round."""

    episodes: list[Episode]
    """Episodes in the order of the battles."""
    versions: tuple[int, ...]
    """The versions of the network that played: a version is the round that began with its weights."""


class Player(Protocol):
    """Plays the battles that a training asks for. This is the whole of the surface."""

    def play(self, wanted: WantedRound) -> Played:
        """Return the episodes of a round.

        Raises:
            ConfigurationError: the game cannot be played there.
            DataError: the battles of an interrupted round of a stream are lost.
            TryAgainError: a battle could not be finished, or nobody plays.
            StoppedError: the process was asked to stop.
        """

    def ask(self, wanted: WantedRound) -> None:
        """Start a round in the processes that play for this one, if there are any. ``play`` then returns it.

        Raises:
            TryAgainError: the store cannot be reached.
        """

    def scores(self, battles: EvaluationBattles, networks: Networks) -> list[float]:
        """Return the network's score of each battle of an evaluation, by number. Raises what ``play`` does."""

    def objects(self) -> Mapping[str, bytes]:
        """Return the objects about the rounds played, by name; they are kept beside the policy.

        Raises:
            DataError: a part is missing or altered.
        """

    @property
    def cpu_seconds(self) -> float:
        """CPU time, without evaluations, of this process and of those that play for it, since this object was made."""

    def close(self) -> None:
        """End the arena of this process."""


class LocalPlayer:
    """Plays in this process, on an arena that opens with the first battle. Rounds draw from ``teams``."""

    def __init__(
        self,
        store: ObjectStore,
        game: Game,
        sizes: Sizes,
        *,
        device: str = "cpu",
        teams: TeamPool | None = None,
    ) -> None:
        """Open no arena yet. Networks play on ``device``."""
        self._store = store
        self._game = game
        self._teams = teams
        self._device = device
        self._sizes = sizes
        self._opened: Session | None = None
        self._began_cpu_seconds = time.process_time()
        self._evaluation_cpu_seconds = 0.0

    @property
    def cpu_seconds(self) -> float:
        """CPU time of this process and its gateways, without evaluations."""
        return self._all_cpu_seconds() - self._evaluation_cpu_seconds

    def play(self, wanted: WantedRound) -> Played:
        """Return the recorded episodes of a round."""
        finished = self._play(wanted.battles, wanted.networks)
        return Played([one for battle in finished for one in battle.episodes if len(one)], (wanted.battles.round,))

    def ask(self, wanted: WantedRound) -> None:
        """Do nothing: ``play`` plays."""

    def objects(self) -> Mapping[str, bytes]:
        """Return nothing."""
        return {}

    def scores(self, battles: EvaluationBattles, networks: Networks) -> list[float]:
        """Return the network's score of each battle, by number."""
        began_cpu_seconds = self._all_cpu_seconds()
        finished = self._play(battles, networks)
        self._evaluation_cpu_seconds += self._all_cpu_seconds() - began_cpu_seconds
        return [require_finished(one).score(one.assignment.first_seat) for one in finished]

    def close(self) -> None:
        """Close the arena."""
        if self._opened is not None:
            self._opened.close()

    def _play(self, battles: PlannedBattles, networks: Networks) -> list[PlayedBattle]:
        num_threads = torch.get_num_threads()
        numbers = range(battles.size)
        finished = play_planned(self._session(), self._store, self._game, battles, networks, numbers, self._teams)
        torch.set_num_threads(num_threads)
        return finished

    def _all_cpu_seconds(self) -> float:
        children = 0.0 if self._opened is None else self._opened.cpu_seconds()
        return time.process_time() - self._began_cpu_seconds + children

    def _session(self) -> Session:
        if self._opened is None:
            check_player(self._device)
            try:
                arena = self._game.open_arena(num_gateways=self._sizes.gateways)
            except ConfigurationError as error:
                raise ConfigurationError(
                    f"this training plays battles itself, and {self._game.format} cannot be played here: {error}; set "
                    "actors.shards above 0, or train where it can be played"
                ) from error
            self._opened = Session(arena, self._sizes.concurrent_battles, self._device)
        return self._opened


def play_planned(
    session: Session,
    store: ObjectStore,
    game: Game,
    battles: PlannedBattles,
    networks: Networks,
    numbers: range,
    teams: TeamPool | None = None,
) -> list[PlayedBattle]:
    """Play the battles with these ``numbers`` on ``session``; return them in the order of their numbers.

    ``networks`` are the policies that are not stored; the others are loaded, once a session. A round draws from
    ``teams``, by default the game's. An evaluation always draws from the game's, so that its scores can be compared.

    Raises:
        DataError: a policy is missing, altered, or was trained for another space.
        TryAgainError: a battle could not be finished.
        StoppedError: the process was asked to stop.
    """
    drawn = teams if teams is not None and battles.kind == "round" else TeamPool(game.teams())
    for network in networks.values():
        if network.space.fingerprint != session.space.fingerprint:
            raise DataError(
                f"the network in training is of space {network.space.fingerprint}; {session.space.format} version "
                f"{session.space.version} is {session.space.fingerprint} here. Run the same nashdex everywhere"
            )
    planned = list(battles.assignments(drawn, numbers))
    names = {policy for assignment in planned for policy in assignment.seats}
    made = {name: _policy(name, networks, session.device) for name in names if _bare(name) in networks}
    session.load(store, sorted(names - made.keys() - session.policies.keys()))
    session.policies |= made
    finished = []
    for battle in session.play(planned):
        require_finished(battle)
        finished.append(battle)
    for name in made:
        del session.policies[name]
    return sorted(finished, key=lambda battle: battle.assignment.number)


def _bare(name: PolicyId) -> PolicyId:
    return PlayedPolicy.of(name).policy


def _policy(name: PolicyId, networks: Networks, device: str) -> NetworkPolicy:
    return NetworkPolicy(name, copy.deepcopy(networks[_bare(name)]).cpu(), device)
