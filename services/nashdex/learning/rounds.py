"""Rounds of battles, played in the training process with the newest weights, and evaluations between them.

A round's battles follow from the run's seed, the iteration, the shard, the round and the weights that it begins with,
so an interrupted round is repeated to the bit.
"""

import copy
import time
from collections.abc import Iterator, Mapping
from typing import Self

import torch

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.results import Evaluation
from nashdex.core.seeds import derive_seed
from nashdex.games.interface import Game
from nashdex.learning.evaluation import evaluate_strength
from nashdex.learning.settings import START, EvaluationSettings
from nashdex.metagame.plan import IterationPlan
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.mixture import Mixture
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, require_finished
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import choose_sizes, cores_of_shard
from nashdex.settings.run import RunSettings
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.episode import Episode

NEWEST = PolicyId("newest")
"""The policy that acts with the current weights. It is not stored."""


class Rounds:
    """Plays rounds of ``num_battles`` on an arena that opens with the first of them. Use as a context manager."""

    def __init__(
        self,
        store: ObjectStore,
        settings: RunSettings,
        game: Game,
        plan: IterationPlan,
        shard: int,
        num_battles: int,
        *,
        snapshot_share: float = 0.0,
        records_opponents: bool = False,
    ) -> None:
        self._store = store
        self._settings = settings
        self._game = game
        self._num_battles = num_battles
        self._snapshot_share = snapshot_share
        self._records_opponents = records_opponents
        self._seed = derive_seed(settings.seed, "round", plan.iteration, shard)
        self._mixture = _mixture(plan)
        self._sizes = choose_sizes(settings.collect, settings.collect.battles, cores_of_shard(settings.train.seeds))
        self._opened: Session | None = None
        self._began_cpu_seconds = time.process_time()
        self._evaluation_cpu_seconds = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._opened is not None:
            self._opened.close()

    @property
    def cpu_seconds(self) -> float:
        """CPU time of this process and its gateways since this object was made, without evaluations."""
        return self._all_cpu_seconds() - self._evaluation_cpu_seconds

    def play(
        self, number: int, network: ActorCritic, snapshots: Mapping[PolicyId, ActorCritic] | None = None
    ) -> list[Episode]:
        """Return the recorded episodes of round ``number``, in the order of their battles.

        ``network`` meets the plan's opponents. Where that is itself, one of ``snapshots`` sits opposite in a share of
        the battles, and in the rest both seats are recorded.

        Raises:
            ConfigurationError: the game cannot be played here.
            TryAgainError: a battle could not be finished.
            StoppedError: the process was asked to stop.
        """
        session = self._session()
        assert session.space.fingerprint == network.space.fingerprint, "the network was loaded for another space"
        newest = {NEWEST: network, **(snapshots or {})}
        num_threads = torch.get_num_threads()
        session.policies |= {name: _acting(name, one) for name, one in newest.items()}
        finished = []
        for battle in session.play(self._assignments(number, tuple(snapshots or ()))):
            require_finished(battle)
            finished.append(battle)
        torch.set_num_threads(num_threads)
        for name in snapshots or ():
            del session.policies[name]
        finished.sort(key=lambda battle: battle.assignment.number)
        return [episode for battle in finished for episode in battle.episodes if len(episode)]

    def evaluate(
        self, network: ActorCritic, start: ActorCritic, settings: EvaluationSettings, decisions: int, cpu_seconds: float
    ) -> tuple[Evaluation, ...]:
        """Return the strength of ``network`` against each anchor.

        Raises:
            ConfigurationError: the game cannot be played here.
            TryAgainError: a battle could not be finished.
            StoppedError: the process was asked to stop.
        """
        session = self._session()
        began_cpu_seconds = self._all_cpu_seconds()
        scripted = [PolicyId(name) for name in settings.anchors if name != START]
        session.load(self._store, [policy for policy in scripted if policy not in session.policies])
        num_threads = torch.get_num_threads()
        anchors = {
            name: _acting(PolicyId(START), start) if name == START else session.policies[PolicyId(name)]
            for name in settings.anchors
        }
        root = derive_seed(self._settings.seed, "evaluation")
        found = evaluate_strength(
            session,
            network,
            anchors,
            PairedBattles(root, self._game.teams(), self._settings.collect.deadline_seconds),
            settings,
            decisions=decisions,
            cpu_seconds=cpu_seconds,
        )
        torch.set_num_threads(num_threads)
        self._evaluation_cpu_seconds += self._all_cpu_seconds() - began_cpu_seconds
        return found

    def _all_cpu_seconds(self) -> float:
        gateways = 0.0 if self._opened is None else self._opened.arena.cpu_seconds()
        return time.process_time() - self._began_cpu_seconds + gateways

    def _assignments(self, number: int, snapshots: tuple[PolicyId, ...]) -> Iterator[Assignment]:
        root = derive_seed(self._seed, number)
        battles = PairedBattles(root, self._game.teams(), self._settings.collect.deadline_seconds)
        for battle in range(self._num_battles):
            opponent = self._mixture.draw(battles.pair_uniform(battle, "opponent"))
            if opponent == NEWEST and snapshots:
                drawn = battles.pair_uniform(battle, "snapshot")
                if drawn < self._snapshot_share:
                    opponent = snapshots[int(drawn / self._snapshot_share * len(snapshots))]
            record_opponent = opponent == NEWEST or self._records_opponents
            yield battles.assignment(battle, (NEWEST, opponent), record=True, record_opponent=record_opponent)

    def _session(self) -> Session:
        if self._opened is None:
            try:
                arena = self._game.open_arena(num_gateways=self._sizes.gateways)
            except ConfigurationError as error:
                raise ConfigurationError(
                    f"this training plays battles itself, and {self._game.format} cannot be played here: {error}; set "
                    "train.oracle.decisions = 0 to learn from the collected battles alone, or train where it can be "
                    "played"
                ) from error
            self._opened = Session(arena, self._sizes.concurrent_battles)
            self._opened.load(self._store, (policy for policy in self._mixture.support if policy != NEWEST))
        return self._opened


def _acting(name: PolicyId, network: ActorCritic) -> NetworkPolicy:
    """Return ``network`` as a policy, on the CPU."""
    return NetworkPolicy(name, copy.deepcopy(network).cpu())


def _mixture(plan: IterationPlan) -> Mixture:
    """Return the opponents. Where the rule pairs the learner with itself, that is its newest self."""
    opponents = dict(plan.opponents)
    if plan.learns_from_both_seats(plan.learner) and plan.learner in opponents:
        opponents[NEWEST] = opponents.pop(plan.learner)
    return Mixture(opponents)
