"""PPO as an oracle: its declaration, and the conflicts between its settings. Imports no torch."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from nashdex.core.evidence import Evidence
from nashdex.core.section import Choice, changed_keys
from nashdex.games.registry import FORMATS
from nashdex.learning.advantages import ADVANTAGES
from nashdex.metagame.opponents.registry import OPPONENT_RULES
from nashdex.oracles.interface import Oracle
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES, scripted_policies_of
from nashdex.settings.anchors import NAMED_ANCHORS, OPPONENTS, PoolSettings
from nashdex.settings.ppo import PpoSettings
from nashdex.settings.run import ActorSettings, RunSettings

METRICS: Final[Mapping[str, str]] = {
    "policy_loss": "clipped surrogate loss of the actor",
    "value_loss": "mean squared error of the critic; with `network.value_bins`, cross-entropy, nats",
    "entropy": "entropy of the policy over decisions with a choice, nats",
    "entropy_at_start": "the same at the start of the iteration, nats",
    "kl_round_start": "KL from the policy that the round began with, nats",
    "kl_reference": "KL from the reference, nats",
    "kl_iteration_start": "KL from the policy at the start of the iteration, nats",
    "beta_reference": "coefficient of the reference KL",
    "beta_multiplier": "the part of it that the controller sets",
    "entropy_coefficient": "coefficient of the entropy bonus",
    "prediction_loss": "cross-entropy of what the opponent chose, nats",
    "clip_fraction": "share of decisions whose ratio is clipped",
    "importance_ratio_mean": "mean of π(action) over the probability with which it was played, with `v-trace`",
    "importance_ratio_max": "the largest of these ratios",
    "effective_sample_share": "effective sample size under these ratios, as a share of the decisions",
    "grouped_share": "share of decisions that a group gives an advantage to, with `group-relative`",
    "explained_variance": "share of the variance of returns that the critic explains",
    "critic_rank": "dimensions that hold 99 % of the inputs of the critic's last layer",
    "gradient_norm": "global norm of the gradient before it is scaled down",
    "learning_rate": "step size of the optimiser",
}
"""What PPO measures: the meaning of each value, by name."""
_EVALUATIONS: Final = 10
"""Points of an exploiter's learning curve; fewer for a small budget."""
_DECISIONS_A_POINT: Final = 20_000
_MOST_BATTLES: Final = 400
"""Battles of an exploiter's round, and of its evaluation."""
_FEWEST_BATTLES: Final = 20
_DECISIONS_A_BATTLE: Final = 150
"""A battle has about 30, so a small budget still has a few rounds."""
_ROUNDING = 1e-9


def exploiter(decisions: int) -> dict[str, Any]:
    """Return PPO's settings in ``nashdex exploit``: the long self-play run's settings, evaluated against the target.

    A small budget has small rounds and few evaluations, so that it costs little.
    """
    battles = min(_MOST_BATTLES, max(_FEWEST_BATTLES, decisions // _DECISIONS_A_BATTLE))
    evaluations = min(_EVALUATIONS, max(1, decisions // _DECISIONS_A_POINT))
    return {
        "decisions": decisions,
        "round_battles": battles,
        "num_epochs": 4,
        "minibatch_decisions": 1024,
        "learning_rate": 6e-4,
        "critic_learning_rate": 5e-4,
        "annealing": {"learning_rate": 0.0, "entropy": 0.3},
        "max_gradient_norm": 1.0,
        "critic_warmup_decisions": min(50_000, decisions // 20),
        "evaluation": {
            "every_decisions": max(1, decisions // evaluations),
            "battles": battles - battles % 2,
            "anchors": ["opponents"],
            "styles": ["greedy"],
        },
        "keep": "best",
        "damping": {"preset": "none", "entropy": 0.01},
    }


def problems(settings: PpoSettings, run: RunSettings) -> Iterator[str]:
    """Yield settings that contradict each other or have no effect together, with both keys."""
    yield from _of_length(settings)
    yield from _of_pool(settings, run.opponents, run.format)
    yield from _of_evaluation(settings, run.opponents, run.format)
    yield from _of_staleness(settings, run.actors, run.format)
    if settings.accumulate % run.train.num_processes:
        yield (
            f"train.oracle.accumulate is {settings.accumulate} and train.num_processes {run.train.num_processes}, "
            "which share the minibatches of an optimiser step; expected a multiple"
        )
    if not ADVANTAGES[settings.advantages.kind].uses_critic:
        for key in ("critic_learning_rate", "critic_warmup_decisions"):
            if getattr(settings, key):
                yield (
                    f"train.oracle.{key} has no effect with train.oracle.advantages {settings.advantages.kind!r}, "
                    "which needs no critic: leave it out"
                )
    if settings.start == "clone" and OPPONENT_RULES[run.opponents.kind].needs_newest:
        yield (
            f"train.oracle.start 'clone' makes opponents {run.opponents.kind!r} start over in each iteration; expected "
            "'newest', or other opponents"
        )
    if settings.annealing.entropy < 1 and settings.damping.entropy == 0:
        yield (
            f"train.oracle.annealing.entropy is {settings.annealing.entropy:g} and train.oracle.damping.entropy 0, so "
            "there is nothing to anneal; leave it out, or set damping.entropy"
        )


def _of_staleness(settings: PpoSettings, actors: ActorSettings, format_id: str) -> Iterator[str]:
    versions = settings.max_staleness_versions
    older = {
        "train.oracle.overlap_rounds": settings.overlap_rounds,
        "train.oracle.max_staleness_versions": versions,
    }
    for key, value in older.items():
        if value and not ADVANTAGES[settings.advantages.kind].off_policy:
            able = ", ".join(repr(name) for name in ADVANTAGES.names if ADVANTAGES[name].off_policy)
            yield (
                f"{key} is {value}, and train.oracle.advantages {settings.advantages.kind!r} does not correct for "
                f"battles of older weights; expected {able}, or 0"
            )
    if not versions:
        return
    if settings.overlap_rounds:
        yield (
            f"train.oracle.overlap_rounds is {settings.overlap_rounds} and "
            f"train.oracle.max_staleness_versions {versions}; expected one of them to be 0"
        )
    if actors.shards == 0:
        yield (
            f"train.oracle.max_staleness_versions is {versions} and actors.shards 0, so the trainer plays "
            "each round with its newest weights; expected actors, or 0 versions"
        )
    elif FORMATS[format_id].evidence is Evidence.EXACT:  # as oracles.registry.needs_actors
        yield (
            f"train.oracle.max_staleness_versions is {versions} and format {format_id!r}, which has no "
            "actors: the trainer plays each round with its newest weights; expected 0 versions"
        )
    if settings.round_battles % actors.chunk_battles:
        yield (
            f"train.oracle.round_battles is {settings.round_battles} and actors.chunk_battles "
            f"{actors.chunk_battles}; expected a multiple, since a round of a stream is a number of chunks"
        )


def _of_length(settings: PpoSettings) -> Iterator[str]:
    warmup = settings.critic_warmup_decisions
    if warmup >= settings.decisions:
        yield (
            f"train.oracle.critic_warmup_decisions is {warmup} and train.oracle.decisions {settings.decisions}, so the "
            "actor never learns; expected less"
        )


def _of_pool(settings: PpoSettings, opponents: Choice, format_id: str) -> Iterator[str]:
    pool = settings.pool
    changed = changed_keys(pool)
    # Report a short training only if both keys were set: a default that is never due is no mistake.
    if pool.share and {"share", "every_decisions"} <= {*changed} and pool.every_decisions >= settings.decisions:
        yield (
            f"train.oracle.pool.every_decisions is {pool.every_decisions} and train.oracle.decisions "
            f"{settings.decisions}, so the pool only ever holds its first snapshot; expected fewer decisions between "
            "snapshots, or train.oracle.pool.share = 0"
        )
    if changed and not OPPONENT_RULES[opponents.kind].meets_itself:
        yield (
            f"train.oracle.pool.{changed[0]} has no effect with opponents {opponents.kind!r}, where the learner "
            "does not meet itself: leave it out"
        )
    yield from _of_scripted_anchors(pool, format_id)


def _of_scripted_anchors(pool: PoolSettings, format_id: str) -> Iterator[str]:
    anchors = pool.anchors
    if anchors.share == 0:
        return
    if pool.share + anchors.share > 1 + _ROUNDING:
        yield (
            f"train.oracle.pool.share is {pool.share:g} and train.oracle.pool.anchors.share {anchors.share:g}; "
            "expected a sum of at most 1"
        )
    yield from _that_do_not_play(anchors.policies, "train.oracle.pool.anchors.policies", format_id)


def _of_evaluation(settings: PpoSettings, opponents: Choice, format_id: str) -> Iterator[str]:
    evaluation = settings.evaluation
    if evaluation.every_decisions == 0:
        if settings.keep == "best":
            yield (
                "train.oracle.keep is 'best' and train.oracle.evaluation.every_decisions 0, so nothing is evaluated; "
                "expected every_decisions above 0, or keep = 'last'"
            )
        return
    too_late = [name for name, decisions in evaluation.later_anchors.items() if decisions >= settings.decisions]
    if too_late:
        yield (
            f"train.oracle.evaluation.anchors holds {too_late[0]!r} and train.oracle.decisions is "
            f"{settings.decisions}, so no later evaluation meets that anchor; expected less"
        )
    rule = OPPONENT_RULES[opponents.kind]
    if OPPONENTS in evaluation.anchors and rule.meets_itself and not rule.is_fixed:
        yield (
            f"train.oracle.evaluation.anchors holds 'opponents', and opponents {opponents.kind!r} is the learner "
            "itself; expected a fixed anchor"
        )
    others = {*NAMED_ANCHORS, *evaluation.later_anchors}
    anchors = [anchor for anchor in evaluation.anchors if anchor not in others]
    yield from _that_do_not_play(anchors, "train.oracle.evaluation.anchors", format_id, or_else=NAMED_ANCHORS)


def _that_do_not_play(
    policies: Iterable[str], key: str, format_id: str, or_else: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield a line for each scripted policy that does not play the run's format."""
    played = FORMATS[format_id]
    for policy in policies:
        if not SCRIPTED_POLICIES[policy].plays(format_id, played.game, played.num_slots):
            able = ", ".join((*scripted_policies_of(format_id, played.game, played.num_slots), *or_else))
            yield f"{key} holds {policy!r}, which does not play {format_id}; expected {able}"


PPO = Oracle(
    settings=PpoSettings,
    summary="improves a network against the opponents by PPO; the first iteration trains it by `train.first`",
    train="nashdex.oracles.ppo.training:train",
    makes="network",
    collects=None,
    plays_rounds=True,
    improves=True,
    shares_steps=True,
    problems=problems,
    learner=lambda settings: "newest" if settings.start == "newest" else "first",
    exploiter=exploiter,
    metrics=METRICS,
)
