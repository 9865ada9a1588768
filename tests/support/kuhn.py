"""Kuhn poker as a run of few and small battles, for tests of what trains on it."""

from collections.abc import Mapping
from typing import Any

from nashdex.collector import step as collect
from nashdex.core.ids import PolicyId
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Kind, PolicyEntry, Population
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import read_object
from nashdex.store.protocol import ObjectStore
from nashdex.trainer.step import run
from support.plans import publish_plan

SMALLEST_RUN: dict[str, Any] = {
    "run": "small",
    "format": "kuhn_poker",
    "iterations": 1,
    "population": {"initial": ["random"]},
    "collect": {"shards": 1},
    "train": {"oracle": "exact"},
    "evaluate": {"shards": 1},
    "solve": {"num_draws": 100},
}
"""Settings of a run with every step and one shard for each, without training by battles."""

RANDOM, FIRST_ACTION = PolicyId("random"), PolicyId("first-action")


PPO = {"decisions": 1, "minibatch_decisions": 128, "num_epochs": 2, "round_battles": 200}


def kuhn_settings(*, battles: int = 300, oracle: Mapping[str, object] | str = "ppo", **train: object) -> RunSettings:
    """Return settings of a run in which an iteration takes under a second.

    ``oracle`` is the name or section of another oracle than PPO, or overrides of PPO's; ``train`` are further settings
    of that section.
    """
    section = {"kind": oracle} if isinstance(oracle, str) else {"kind": "ppo"} | dict(oracle)
    return RunSettings.model_validate(
        {
            "format": "kuhn_poker",
            "seed": 3,
            "population": {"initial": ["random", "first-action"]},
            "network": {"embedding_size": 4, "entity_size": 16, "hidden_size": 16, "num_hidden_layers": 1},
            "collect": {"battles": battles, "shards": 1, "teacher": "random"},
            "arena": {"concurrent_battles": battles},
            "train": {
                "oracle": (PPO if section["kind"] == "ppo" else {}) | section,
                "checkpoint_every_updates": 3,
                "first": {"num_epochs": 1, "critic_warmup_epochs": 1},
            }
            | train,
        }
    )


def entry(policy: PolicyId, kind: Kind = "scripted") -> PolicyEntry:
    """Return a member of the population."""
    iteration = None if kind == "scripted" else 0
    return PolicyEntry(id=policy, kind=kind, name=policy, iteration=iteration, parent=None)


def trained(
    store: ObjectStore,
    settings: RunSettings,
    iteration: int,
    oracle: str,
    learner: PolicyId,
    opponents: dict[PolicyId, float],
    rule: str = "meta-strategy",
) -> TrainingResult:
    """Publish a plan, collect, train, and return what training says of itself."""
    prepare(store, settings, iteration, oracle, learner, opponents, rule)
    return TrainingResult.from_json(read_object(store, run(store, settings, iteration, 0), TRAINING_RESULT), "result")


def prepare(
    store: ObjectStore,
    settings: RunSettings,
    iteration: int,
    oracle: str,
    learner: PolicyId,
    opponents: dict[PolicyId, float],
    rule: str = "meta-strategy",
) -> None:
    """Publish a plan and collect its battles."""
    networks = {learner, *opponents} - {RANDOM, FIRST_ACTION}
    plan = IterationPlan(
        iteration=iteration,
        oracle=oracle,
        population=Population(
            policies=(entry(RANDOM), entry(FIRST_ACTION), *(entry(p, "network") for p in sorted(networks)))
        ),
        rule=rule,
        opponents=opponents,
        learner=learner,
    )
    publish_plan(store, plan)
    for shard in range(settings.collect.shards):
        collect.run(store, settings, iteration, shard)
