"""Oracles by name, built in or from installed packages, and the battles that a run plays for one. Imports no torch."""

from collections.abc import Iterator
from typing import Final

from nashdex.core.evidence import Evidence
from nashdex.core.plugins import Registry
from nashdex.core.steps import shard_range
from nashdex.games.registry import FORMATS
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.interface import AnyOracle, Oracle
from nashdex.settings.networks import remembers
from nashdex.settings.oracles import (
    ORACLE_KINDS,
    CloneSettings,
    DistilSettings,
    ExactSettings,
    FreshSettings,
    GlobalPsroSettings,
    NullSettings,
    QLearningSettings,
    ReplaySettings,
)
from nashdex.settings.population import stored_policy
from nashdex.settings.run import CollectSettings, RunSettings
from nashdex.settings.train import TrainSettings
from nashdex.trajectory.replay_readers import reader_problem

_HERE = "nashdex.oracles"


def _problems_of_pupil(
    kind: str, doing: str, does: str, collect: CollectSettings, train: TrainSettings
) -> Iterator[str]:
    """Yield why the oracle ``kind``, which learns from a teacher's battles, cannot validate, or answer opponents."""
    if collect.battles < 2:  # noqa: PLR2004 - one for each side of the split
        yield f"collect.battles is 1, and {doing} holds one battle out to validate with; expected at least 2"
    if train.oracle.kind == kind:
        yield (
            f"train.oracle {kind!r} would {does} the teacher in every iteration, whoever the opponents are; expected "
            f"an oracle that answers them, and `{kind}` in train.first"
        )


def _problems_of_clone(settings: CloneSettings, run: RunSettings) -> Iterator[str]:
    """Yield why a clone cannot answer opponents, or why it cannot learn from the replays."""
    if settings.replays.path is not None and (problem := reader_problem(run.format)) is not None:
        yield problem
    if settings.replays.path is not None and settings.replays.share < 1 and remembers(run.network):
        yield (
            f"train.first.replays.share is {settings.replays.share:g}, which mixes decisions of replays and of the "
            f"teacher, and network.kind {run.network.kind!r} learns from whole battles; expected a share of 1, no "
            "replays, or a network without a memory"
        )
    yield from _problems_of_pupil("clone", "cloning", "clone", run.collect, run.train)


CLONE = Oracle(
    settings=CloneSettings,
    summary="behaviour cloning of `collect.teacher`: the first network, which others go on from",
    train=f"{_HERE}.clone:train",
    makes="network",
    begins_from_policy=True,
    collects="teacher",
    replays=lambda settings: settings.replays if settings.replays.path is not None else None,
    answers_opponents=False,
    policy_name="clone of {learner}",
    problems=_problems_of_clone,
    metrics={
        "loss": "cross-entropy to the teacher's actions, nats a decision",
        "accuracy": "share of decisions in which the teacher's action is the most likely one",
        "value_loss": "mean squared error of the critic; with `network.value_bins`, cross-entropy, nats",
        "explained_variance": "share of the variance of returns that the critic explains",
        "validation_loss": "cross-entropy on held-out battles, nats a decision",
        "validation_accuracy": "accuracy on held-out battles; with replays, this, the loss and `validation_decisions` "
        "also by who acted: `_TEACHER`, or `_replays_` and the band of ratings",
        "validation_most_frequent_accuracy": "accuracy on held-out battles of always predicting the legal action "
        "that is most frequent in the others",
        "validation_explained_variance": "explained variance on held-out battles",
        "gradient_norm": "global norm of the gradient before it is scaled down",
        "learning_rate": "step size of the optimiser",
    },
)


def _problems_of_distil(_settings: DistilSettings, run: RunSettings) -> Iterator[str]:
    """Yield why there is nobody to distil."""
    teacher, network = run.collect.teacher, run.network
    stored = stored_policy(teacher)
    if stored is None or stored.searches:
        yield (
            f"train.first 'distil' learns probabilities and values, and collect.teacher {teacher!r} "
            f"{'is scripted' if stored is None else 'searches'}; expected a stored network or an ensemble, such as "
            "zoo:gen1randombattle, or `clone`"
        )
    if remembers(network):
        yield (
            f"train.first 'distil' learns from single decisions, and network.kind {network.kind!r} remembers the "
            "battle; expected a network without a memory"
        )
    yield from _problems_of_pupil("distil", "distillation", "distil", run.collect, run.train)


DISTIL = Oracle(
    settings=DistilSettings,
    summary="distillation of `collect.teacher`, a stored network or an ensemble: its probabilities and its values",
    train=f"{_HERE}.distil:train",
    makes="network",
    begins_from_policy=True,
    collects="teacher",
    answers_opponents=False,
    policy_name="distilled {learner}",
    problems=_problems_of_distil,
    metrics={
        "kl_teacher": "KL from the teacher's probabilities, nats a decision with a choice",
        "value_error": "mean squared error to the teacher's value",
        "validation_kl_teacher": "KL from the teacher's probabilities on held-out battles",
        "validation_value_error": "mean squared error to the teacher's value on held-out battles",
        "validation_agreement": "share of held-out decisions in which both find the same action the most probable",
        "gradient_norm": "global norm of the gradient before it is scaled down",
        "learning_rate": "step size of the optimiser",
    },
)

FRESH = Oracle(
    settings=FreshSettings,
    summary="no learning: a network with random weights, for trainings that start from nothing",
    train=f"{_HERE}.untrained:fresh",
    makes="network",
    begins_from_policy=True,
    collects="space",
    answers_opponents=False,
    policy_name="{start}",
)

NULL = Oracle(
    settings=NullSettings,
    summary="no learning: a network that plays uniformly, for null runs, in which nothing differs",
    train=f"{_HERE}.untrained:uniform",
    makes="network",
    collects="space",
    policy_name="copy {iteration}",
)

_VALUES: Final = {
    "value": "payoff of the policy against the opponents, a game",
    "best_response_value": "payoff of the exact best response against the same opponents",
}
"""Metrics of every oracle of games whose tree is known."""

EXACT = Oracle(
    settings=ExactSettings,
    summary="the exact best response, by backward induction through the tree",
    train=f"{_HERE}.tabular:train_exact",
    makes="table",
    collects=None,
    needs_tree=True,
    is_random=False,
    metrics=_VALUES,
)

GLOBAL_PSRO = Oracle(
    settings=GlobalPsroSettings,
    summary="the best response, of several, that lowers the population's exploitability most",
    train=f"{_HERE}.global_psro:train",
    makes="table",
    collects=None,
    needs_tree=True,
    metrics=_VALUES
    | {
        "population_exploitability": "exploitability of the population's least exploitable mixture, with the policy",
    },
)

Q_LEARNING = Oracle(
    settings=QLearningSettings,
    summary="tabular Q-learning from simulated battles; the tree's probabilities are never read",
    train=f"{_HERE}.tabular:train_by_q_learning",
    makes="table",
    collects=None,
    needs_tree=True,
    metrics={
        "exploration": "ε, the share of actions drawn uniformly",
        "value_loss": "mean squared error of the updated action values",
    }
    | _VALUES,
)

ORACLES: Final[Registry[AnyOracle]] = Registry.of(
    ORACLE_KINDS,
    Oracle,
    {
        "ppo": f"{_HERE}.ppo.oracle:PPO",
        "exact": f"{_HERE}.registry:EXACT",
        "global-psro": f"{_HERE}.registry:GLOBAL_PSRO",
        "q-learning": f"{_HERE}.registry:Q_LEARNING",
        "clone": f"{_HERE}.registry:CLONE",
        "distil": f"{_HERE}.registry:DISTIL",
        "fresh": f"{_HERE}.registry:FRESH",
        "null": f"{_HERE}.registry:NULL",
    },
)
"""By the name that ``train.oracle`` and ``train.first`` use."""


def replays_of(train: TrainSettings, plan: IterationPlan) -> ReplaySettings | None:
    """Return the replays that the iteration's oracle learns from, or None."""
    return ORACLES[plan.oracle].replays(train.section_of(plan.oracle))


def battles_to_collect(collect: CollectSettings, train: TrainSettings, plan: IterationPlan, shard: int) -> range:
    """Return the numbers of the battles that a collect shard plays.

    There are none if the oracle learns from none, or from replays alone.
    """
    collects, replays = ORACLES[plan.oracle].collects, replays_of(train, plan)
    if collects is None or (replays is not None and replays.share == 1):
        return range(0)
    num_battles = min(collect.battles, collect.shards) if collects == "space" else collect.battles
    return shard_range(num_battles, collect.shards, shard)


def needs_actors(settings: RunSettings) -> bool:
    """Say whether actors play the rounds of the run's trainings. If not, the trainer does, if there are any.

    The trainer plays tabular games itself: their battles take microseconds.
    """
    oracle = settings.train.oracle
    if settings.actors.shards == 0 or not ORACLES[oracle.kind].plays_rounds:
        return False
    return FORMATS[settings.format].evidence is not Evidence.EXACT
