"""A contextual bandit as a game of one decision: play the action that the observation names. And its train step."""

import copy
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.core.steps import StepName
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.space import ObservationBlock, ObservationField, Space
from nashdex.learning.rounds.planned import NEWEST, EvaluationBattles
from nashdex.learning.rounds.players import Networks, Played, Player, WantedRound
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import PolicyEntry, Population
from nashdex.oracles.interface import Task
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.interface import Policy
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import ShardWriter
from support.plans import publish_plan

NUM_ACTIONS = 4
FORMAT = "gen1randombattle"
"""The win/loss reward looks at no observation, so any format's rewards serve."""
RANDOM = PolicyId("random")


def bandit_space() -> Space:
    """Return a space of one category, which names the action to play, and two numbers that mean nothing."""
    fields = (
        ObservationField(name="target", offset=0, size=1, kind="category", vocabulary="target"),
        ObservationField(name="noise", offset=1, size=2, kind="number"),
    )
    return Space(
        game="bandit",
        format=FORMAT,
        version="1",
        observation_size=3,
        num_actions=NUM_ACTIONS,
        actions=("a", "b", "c", "d"),
        vocabularies={"target": NUM_ACTIONS},
        blocks=(ObservationBlock(name="own", offset=0, rows=1, stride=3, fields=fields),),
    )


def decisions(num: int, seed: int) -> tuple[Decisions, NDArray[np.float64]]:
    """Return decisions of ``num`` battles and a draw for each. The right action is always legal."""
    rng = np.random.default_rng(seed)
    target = rng.integers(0, NUM_ACTIONS, num)
    observation = np.column_stack([target, rng.normal(size=(num, 2))]).astype(np.float32)
    mask = rng.random((num, NUM_ACTIONS)) < 0.7
    mask[np.arange(num), target] = True
    rows = Decisions(
        np.arange(num), np.zeros(num, np.int8), np.zeros(num, np.bool_), observation, LegalActions.of_mask(mask)
    )
    return rows, rng.random(num)


def play(policy: Policy, num: int, seed: int) -> list[Episode]:
    """Return ``num`` battles of ``policy``, each of one decision, won by the right action and lost by any other."""
    rows, uniforms = decisions(num, seed)
    answers = policy.act(rows, uniforms)
    return [
        Episode(
            seed=seed * 1_000_000 + i,
            seat=0,
            policy=policy.id,
            opponent=RANDOM,
            score=float(answers.action[i] == rows.observation[i, 0]),
            observations=rows.observation[i : i + 1],
            legal=rows.legal.take(slice(i, i + 1)),
            actions=answers.action[i : i + 1],
            log_probs=answers.log_prob[i : i + 1],
        )
        for i in range(num)
    ]


def write_iteration(
    store: ObjectStore,
    settings: RunSettings,
    iteration: int,
    learner: PolicyId,
    episodes: Sequence[Episode],
    *,
    first: str = "clone",
) -> None:
    """Store what the train step reads: the plan, and the collect shards with ``episodes`` dealt out over them."""
    entry = PolicyEntry(id=RANDOM, kind="scripted", name="random", iteration=None, parent=None)
    plan = IterationPlan(
        iteration=iteration,
        oracle=first if iteration == 0 else "ppo",
        population=Population(policies=(entry,)),
        rule="initial" if iteration == 0 else "meta-strategy",
        opponents={RANDOM: 1.0},
        learner=learner,
    )
    publish_plan(store, plan)
    for shard in range(settings.collect.shards):
        attempt = Attempt(store, iteration, StepName.COLLECT, shard)
        writer = ShardWriter(attempt.write, bandit_space(), max_part_bytes=4096)
        for episode in episodes[shard :: settings.collect.shards]:
            writer.add(episode)
        writer.close()
        attempt.finish({})


class BanditPlayer:
    """Plays rounds of the bandit in this process."""

    cpu_seconds = 0.0

    def play(self, wanted: WantedRound) -> Played:
        """Return a round of the network in training."""
        battles = wanted.battles
        policy = NetworkPolicy(NEWEST, copy.deepcopy(wanted.networks[NEWEST]))
        return Played(play(policy, battles.num_battles, seed=battles.seed % 1_000_000), (battles.round,))

    def ask(self, wanted: WantedRound) -> None:
        """Do nothing: ``play`` plays."""

    def scores(self, battles: EvaluationBattles, networks: Networks) -> list[float]:
        """Evaluate nothing."""
        raise NotImplementedError

    def objects(self) -> Mapping[str, bytes]:
        """Return nothing."""
        return {}

    def close(self) -> None:
        """Do nothing."""


def bandit_player(task: Task, space: Space, num_battles: int) -> Player:
    """Return what plays rounds of the bandit."""
    del task, space, num_battles
    return BanditPlayer()
