"""Further rounds of battles, played in the training process with the newest weights.

A round's battles follow from the run's seed, the iteration, the shard, the round and the weights that it begins with,
so an interrupted round is repeated to the bit.
"""

import copy
from collections.abc import Iterator
from types import TracebackType
from typing import Self

import torch

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.games.interface import Game
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
        self, store: ObjectStore, settings: RunSettings, game: Game, plan: IterationPlan, shard: int, num_battles: int
    ) -> None:
        self._store = store
        self._settings = settings
        self._game = game
        self._num_battles = num_battles
        self._seed = derive_seed(settings.seed, "round", plan.iteration, shard)
        self._mixture = _mixture(plan)
        self._sizes = choose_sizes(settings.collect, settings.collect.battles, cores_of_shard(settings.train.seeds))
        self._session: Session | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._session is not None:
            self._session.close()

    def play(self, number: int, network: ActorCritic) -> list[Episode]:
        """Return the episodes of ``network`` in round ``number``, in the order of their battles.

        It meets the plan's opponents. Against itself, the decisions of both seats are returned.

        Raises:
            ConfigurationError: the game cannot be played here.
            TryAgainError: a battle could not be finished.
            StoppedError: the process was asked to stop.
        """
        session = self._open()
        assert session.space.fingerprint == network.space.fingerprint, "the network was loaded for another space"
        session.policies[NEWEST] = NetworkPolicy(NEWEST, copy.deepcopy(network).cpu())
        num_threads = torch.get_num_threads()
        finished = []
        for battle in session.play(self._assignments(number)):
            require_finished(battle)
            finished.append(battle)
        torch.set_num_threads(num_threads)
        finished.sort(key=lambda battle: battle.assignment.number)
        return [episode for battle in finished for episode in battle.episodes if len(episode)]

    def _assignments(self, number: int) -> Iterator[Assignment]:
        root = derive_seed(self._seed, number)
        battles = PairedBattles(root, self._game.teams(), self._settings.collect.deadline_seconds)
        for battle in range(self._num_battles):
            opponent = self._mixture.draw(battles.pair_uniform(battle, "opponent"))
            yield battles.assignment(battle, (NEWEST, opponent), record=True, record_opponent=opponent == NEWEST)

    def _open(self) -> Session:
        if self._session is None:
            try:
                arena = self._game.open_arena(num_gateways=self._sizes.gateways)
            except ConfigurationError as error:
                raise ConfigurationError(
                    f"train.oracle.rounds is above 1, so training plays battles itself, and {self._game.format} cannot "
                    f"be played here: {error}; set train.oracle.rounds = 1, or train where it can be played"
                ) from error
            self._session = Session(arena, self._sizes.concurrent_battles)
            self._session.load(self._store, (policy for policy in self._mixture.support if policy != NEWEST))
        return self._session


def _mixture(plan: IterationPlan) -> Mixture:
    """Return the opponents. Where the rule pairs the learner with itself, that is its newest self."""
    opponents = dict(plan.opponents)
    if plan.learns_from_both_seats(plan.learner) and plan.learner in opponents:
        opponents[NEWEST] = opponents.pop(plan.learner)
    return Mixture(opponents)
