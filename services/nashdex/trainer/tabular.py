"""Best responses as tables, in games whose tree is known. Imports no torch."""

import time

import numpy as np

from nashdex.core.manifest import Manifest
from nashdex.core.results import TrainingResult
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.games.registry import tabular_game_of_run
from nashdex.games.tabular.values import best_response, payoffs_between
from nashdex.metagame.plan import IterationPlan
from nashdex.policies.tables import load_table, save_table_policy
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress
from nashdex.trainer.outcome import finish
from nashdex.trainer.q_learning import Learnt, learn


def train(store: ObjectStore, settings: RunSettings, plan: IterationPlan, shard: int) -> Manifest:
    """Store the best response to the plan's opponents, exact or learnt.

    Its exact payoff against them, and that of the exact best response, stand in the result's summary.

    Raises:
        ConfigurationError: the format is no tabular game.
        DataError: a policy is missing, altered or of another game.
        StoppedError: the process was asked to stop.
    """
    began_seconds = time.monotonic()
    tree = tabular_game_of_run(store, settings).tree
    attempt = Attempt(store, plan.iteration, StepName.TRAIN, shard)
    opponents = sorted(plan.opponents)
    tables = np.stack([load_table(store, policy, tree) for policy in opponents])
    mixture = np.array([plan.opponents[policy] for policy in opponents])
    mixture /= mixture.sum()

    table, best_value = best_response(tree, tables, mixture)
    learnt = Learnt(table, num_decisions=0, num_updates=0, curve=())
    if plan.oracle == "q-learning":
        seed = derive_seed(settings.seed, "train", plan.iteration, shard)
        with Progress(StepName.TRAIN, shard, settings.train.q_learning.battles, "battles") as progress:
            learnt = learn(tree, tables, mixture, settings.train.q_learning, seed, progress)
    value = float((payoffs_between(tree, learnt.table[None], tables)[0] * mixture).sum())

    policy = save_table_policy(
        store,
        tree,
        learnt.table,
        name=f"best response {plan.iteration}",
        parent=None,
        iteration=plan.iteration,
        oracle=plan.oracle,
    )
    result = TrainingResult(
        policy=policy,
        parent=None,
        oracle=plan.oracle,
        preset="none",
        reference="none",
        num_updates=learnt.num_updates,
        num_decisions=learnt.num_decisions,
        num_parameters=int(tree.legal.sum()),
        rollbacks=0,
        curve=learnt.curve,
        summary={"value": value, "best_response_value": best_value},
        seconds=time.monotonic() - began_seconds,
    )
    return finish(attempt, result)
