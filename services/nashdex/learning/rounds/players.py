"""Where a training's battles are played: a protocol, and the one that plays them in the training process.

A round's battles follow from the run's seed, the iteration, the shard, the round and the weights that it begins with,
so an interrupted round is repeated to the bit, wherever it is played.
"""

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self

import torch

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PlayedPolicy, PolicyId
from nashdex.core.results import Evaluation
from nashdex.core.seeds import derive_seed
from nashdex.games.interface import Game
from nashdex.games.team_pool import TeamPool
from nashdex.learning.evaluation.battles import summarise
from nashdex.learning.hardware.machine import check_player
from nashdex.learning.rounds.planned import NEWEST, EvaluationBattles, PlannedBattles, RoundBattles
from nashdex.learning.settings import OPPONENTS, EvaluationSettings, PoolSettings
from nashdex.metagame.plan import IterationPlan
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.rollout.play import Finished, require_finished
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import choose_sizes, cores_of_shard
from nashdex.settings.run import RunSettings
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.episode import Episode

Networks = Mapping[PolicyId, ActorCritic]
"""Policies that are not stored, by the names that assignments use."""
_NO_POOL = PoolSettings(share=0.0)


@dataclass(frozen=True)
class StalenessBounds:
    """How old the weights may be that played what a round of a stream learns from."""

    max_staleness_versions: int
    max_staleness_seconds: float
    """0: no bound."""


@dataclass(frozen=True)
class RoundProgress:
    """Where a training is when it asks for the battles of a round."""

    is_at_begin: bool
    """Whether it has not learned from the round yet."""
    saved_round: int
    """The round of the newest checkpoint: no attempt repeats an earlier one."""


class Player(Protocol):
    """Plays what a training wants, somewhere."""

    def play(self, battles: RoundBattles, networks: Networks, staleness_versions: int = 0) -> list[Episode]:
        """Return the recorded episodes of a round, in the order of its battles.

        ``staleness_versions`` is how many versions older than the weights that learn the ``networks`` are.

        Raises:
            ConfigurationError: the game cannot be played there.
            TryAgainError: a battle could not be finished, or nobody plays.
            StoppedError: the process was asked to stop.
        """

    def ask(self, battles: RoundBattles, networks: Networks) -> None:
        """Have a round played meanwhile, if others than this process play. ``play`` then returns it."""

    def offer(self, battles: RoundBattles, networks: Networks, bounds: StalenessBounds) -> None:
        """Begin a stream of battles like those of this round, if others than this process play."""

    def stream(
        self, battles: RoundBattles, networks: Networks, bounds: StalenessBounds, progress: RoundProgress
    ) -> tuple[list[Episode], tuple[int, ...]]:
        """Continue the stream with these networks; return what the round learns from, and the versions that played.

        A version is the round that began with the weights. Raises what ``play`` does, and DataError where the battles
        of an interrupted round are lost.
        """

    def objects(self, num_rounds: int) -> Mapping[str, bytes]:
        """Return what is kept beside the policy about the rounds 1 to ``num_rounds``, by name.

        Raises:
            DataError: a part is missing or altered.
        """

    def scores(self, battles: EvaluationBattles, networks: Networks) -> list[float]:
        """Return the network's score of each battle of an evaluation, by number. Raises what ``play`` does."""

    @property
    def cpu_seconds(self) -> float:
        """CPU time of this process and of those that play for it since this object was made, without evaluations."""

    def close(self) -> None:
        """End what plays in this process."""


class Rounds:
    """The battles of one training, one round after another. Use as a context manager."""

    def __init__(
        self,
        player: Player,
        settings: RunSettings,
        plan: IterationPlan,
        shard: int,
        num_battles: int,
        *,
        pool: PoolSettings = _NO_POOL,
        records_opponents: bool = False,
    ) -> None:
        self._player = player
        self._settings = settings
        self._num_battles = num_battles
        self._pool = pool
        self._records_opponents = records_opponents
        self._seed = derive_seed(settings.seed, "round", plan.iteration, shard)
        self._opponents = _opponents(plan)
        self._answered = plan.answered

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._player.close()

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all that trains and plays, without evaluations."""
        return self._player.cpu_seconds

    def play(
        self, number: int, network: ActorCritic, snapshots: Networks | None = None, staleness_versions: int = 0
    ) -> list[Episode]:
        """Return the recorded episodes of round ``number``, in the order of their battles.

        ``network`` meets the plan's opponents. Where that is itself, one of ``snapshots`` sits opposite in a share of
        the battles and a scripted policy in another, and in the rest both seats are recorded.

        Raises:
            ConfigurationError: the game cannot be played there.
            TryAgainError: a battle could not be finished, or nobody plays.
            StoppedError: the process was asked to stop.
        """
        return self._player.play(*self._round(number, network, snapshots or {}), staleness_versions)

    def ask(self, number: int, network: ActorCritic, snapshots: Networks) -> None:
        """Have round ``number`` played meanwhile, if others than this process play; ``play`` then returns it.

        Raises:
            TryAgainError: the store cannot be reached.
        """
        self._player.ask(*self._round(number, network, snapshots))

    def offer(self, number: int, network: ActorCritic, snapshots: Networks, bounds: StalenessBounds) -> None:
        """Begin a stream of battles with the weights of round ``number``, if others than this process play.

        Raises:
            TryAgainError: the store cannot be reached.
        """
        self._player.offer(*self._round(number, network, snapshots), bounds)

    def stream(
        self,
        number: int,
        network: ActorCritic,
        snapshots: Networks,
        bounds: StalenessBounds,
        progress: RoundProgress,
    ) -> tuple[list[Episode], tuple[int, ...]]:
        """Return what round ``number`` learns from, and the versions that played it. Raises what the player does."""
        return self._player.stream(*self._round(number, network, snapshots), bounds, progress)

    def objects(self, num_rounds: int) -> Mapping[str, bytes]:
        """Return what is kept beside the policy about the rounds 1 to ``num_rounds``, by name.

        Raises:
            DataError: a part is missing or altered.
        """
        return self._player.objects(num_rounds)

    def _round(self, number: int, network: ActorCritic, snapshots: Networks) -> tuple[RoundBattles, Networks]:
        """Return the battles of a round, and the networks that play them."""
        battles = RoundBattles(
            round=number,
            seed=derive_seed(self._seed, number),
            num_battles=self._num_battles,
            opponents=self._opponents,
            snapshots=tuple(snapshots),
            snapshot_share=self._pool.share,
            scripted=tuple(self._pool.anchors.shares()),
            scripted_share=self._pool.anchors.share,
            records_opponents=self._records_opponents,
            deadline_seconds=self._settings.collect.deadline_seconds,
        )
        return battles, {NEWEST: network, **snapshots}

    def evaluate(
        self,
        number: int,
        network: ActorCritic,
        anchors: Networks,
        settings: EvaluationSettings,
        *,
        decisions: int,
        cpu_seconds: float,
    ) -> tuple[Evaluation, ...]:
        """Return the strength of ``network`` against each anchor after ``number`` rounds. Raises what ``play`` does.

        ``anchors`` are those that are networks of this run. It meets each of them, named in the settings or not.
        """
        names = dict.fromkeys((*settings.anchors, *anchors))
        battles = EvaluationBattles(
            round=number,
            seed=derive_seed(self._settings.seed, "evaluation"),
            battles_each=settings.battles,
            matches=tuple((style, PolicyId(anchor)) for style in settings.styles for anchor in names),
            opponents=self._answered if OPPONENTS in settings.anchors else {},
            deadline_seconds=self._settings.collect.deadline_seconds,
        )
        scores = self._player.scores(battles, {NEWEST: network, **anchors})
        return summarise(battles, scores, decisions=decisions, cpu_seconds=cpu_seconds)


def _opponents(plan: IterationPlan) -> dict[PolicyId, float]:
    """Return the mixture. Where the rule pairs the learner with itself, that is its newest self."""
    opponents = dict(plan.opponents)
    if plan.learns_from_both_seats(plan.learner) and plan.learner in opponents:
        opponents[NEWEST] = opponents.pop(plan.learner)
    return opponents


class LocalPlayer:
    """Plays in this process, on an arena that opens with the first battle. Rounds draw from ``teams``."""

    def __init__(self, store: ObjectStore, settings: RunSettings, game: Game, teams: TeamPool | None = None) -> None:
        self._store = store
        self._game = game
        self._teams = teams
        self._device = settings.collect.device
        self._sizes = choose_sizes(settings.collect, settings.collect.battles, cores_of_shard(settings.train.seeds))
        self._opened: Session | None = None
        self._began_cpu_seconds = time.process_time()
        self._evaluation_cpu_seconds = 0.0

    @property
    def cpu_seconds(self) -> float:
        """CPU time of this process and its gateways, without evaluations."""
        return self._all_cpu_seconds() - self._evaluation_cpu_seconds

    def play(
        self,
        battles: RoundBattles,
        networks: Networks,
        staleness_versions: int = 0,  # noqa: ARG002 - nothing is recorded here
    ) -> list[Episode]:
        """Return the recorded episodes of a round, in the order of its battles."""
        return [episode for one in self._play(battles, networks) for episode in one.episodes if len(episode)]

    def ask(self, battles: RoundBattles, networks: Networks) -> None:
        """Do nothing: ``play`` plays."""

    def offer(self, battles: RoundBattles, networks: Networks, bounds: StalenessBounds) -> None:
        """Do nothing: ``stream`` plays."""

    def stream(
        self,
        battles: RoundBattles,
        networks: Networks,
        bounds: StalenessBounds,  # noqa: ARG002 - nothing is stale
        progress: RoundProgress,  # noqa: ARG002 - the battles follow from their round
    ) -> tuple[list[Episode], tuple[int, ...]]:
        """Play the round with the newest weights."""
        return self.play(battles, networks), (battles.round,)

    def objects(self, num_rounds: int) -> Mapping[str, bytes]:  # noqa: ARG002 - as the protocol names it
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

    def _play(self, battles: PlannedBattles, networks: Networks) -> list[Finished]:
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
) -> list[Finished]:
    """Play the battles with these ``numbers`` on ``session``; return them in the order of their numbers.

    ``networks`` are the policies that are not stored; the others are loaded, once a session. A round draws from
    ``teams``, by default the game's. An evaluation always draws from the game's, so that its scores can be compared.

    Raises:
        DataError: a policy is missing, altered, or was trained for another space.
        TryAgainError: a battle could not be finished.
        StoppedError: the process was asked to stop.
    """
    drawn = teams if teams is not None and battles.kind == "round" else TeamPool(game.teams())
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
    """Return the network that ``name`` means as a policy that plays on ``device``."""
    return NetworkPolicy(name, copy.deepcopy(networks[_bare(name)]).cpu(), device)
