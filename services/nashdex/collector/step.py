"""The collect step."""

import time
from collections import Counter
from collections.abc import Iterator
from pkgutil import resolve_name
from typing import Final, Literal

import structlog

from nashdex.core import keys
from nashdex.core.ids import PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.results import COLLECT_RESULT, CollectResult, OpponentCount
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.games.interface import Game
from nashdex.games.registry import game_of_run
from nashdex.games.space import Space
from nashdex.games.teams import training_teams
from nashdex.learning.devices import check_player
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.registry import ORACLES, battles_to_collect, replays_of
from nashdex.policies.mixture import Mixture
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, require_finished
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import Trial, choose_sizes, cores_of_shard
from nashdex.settings.networks import NetworkSettings
from nashdex.settings.run import CollectSettings, RunSettings
from nashdex.store.attempt import Attempt, find_done
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress
from nashdex.trajectory.replay_readers import reader_of
from nashdex.trajectory.shard import ShardWriter

_log = structlog.get_logger()

# Named, since they import torch, which tabular games do not need.
_CHECK_FIRST_NETWORK: Final = "nashdex.learning.initial:check_first_network"
_SELF_PLAY_TRIAL: Final = "nashdex.collector.trial:self_play_trial"
_DRAW_SCORE: Final = 0.5
_Result = Literal["win", "draw", "loss"]


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Collect one shard's battles of the iteration's learner against its opponents.

    Raises:
        ConfigurationError: the game or ``collect.device`` is not available here.
        DataError: the plan or a policy is missing or altered.
        TryAgainError: a battle could not be finished, or the store or a gateway is unreachable.
        StoppedError: the process was asked to stop.
    """
    if done := find_done(store, iteration, StepName.COLLECT, shard):
        return done
    plan = read_published(store, iteration, keys.PLAN, IterationPlan)
    if ORACLES[plan.oracle].collects is None:
        return _nothing_to_play(Attempt(store, iteration, StepName.COLLECT, shard), plan)
    check_player(settings.collect.device)
    game = game_of_run(store, settings)
    section = replays_of(settings.train, plan)
    replays = (
        None if section is None else reader_of(settings.format).open(store, section, settings.collect.shards, shard)
    )
    numbers = battles_to_collect(settings.collect, settings.train, plan, shard)
    root = derive_seed(settings.seed, "collect", iteration)
    teams = training_teams(store, settings.team_schedule, game, iteration)
    battles = PairedBattles(root, teams, settings.arena.deadline_seconds)
    attempt = Attempt(store, iteration, StepName.COLLECT, shard)
    started = time.monotonic()

    sizes = choose_sizes(
        settings.arena,
        num_battles=len(numbers),
        num_cores=cores_of_shard(settings.collect.shards),
        trial=_trial(game, settings.network, settings.collect),
    )
    _log.info("sizes", gateways=sizes.gateways, concurrent_battles=sizes.concurrent_battles, reason=sizes.reason)
    arena = game.open_arena(num_gateways=sizes.gateways)
    with Session(arena, sizes.concurrent_battles, settings.collect.device) as session:
        _check_first_network(store, settings.network, plan, session.space)
        session.load(store, [plan.learner, *plan.opponents])
        results: Counter[tuple[PolicyId, _Result]] = Counter()
        recorded_decisions = 0
        with (
            ShardWriter(attempt.write, session.space) as writer,
            Progress(StepName.COLLECT, shard, len(numbers), "battles") as progress,
        ):
            if replays is not None:
                progress.expect(len(numbers) + len(replays))
                for episode in replays.episodes(progress):
                    writer.add(episode)
                    recorded_decisions += len(episode)
            for finished in session.play(_assignments(numbers, battles, plan), progress):
                require_finished(finished)
                for episode in finished.episodes:
                    writer.add(episode)
                    recorded_decisions += len(episode)
                    if episode.seat == finished.assignment.first_seat:
                        results[episode.opponent, _result(episode.score)] += 1
        children_cpu_seconds = session.cpu_seconds()
        versions = session.arena.versions

    counts = session.counts
    result = CollectResult(
        learner=plan.learner,
        battles=counts.battles,
        decisions=counts.decisions,
        recorded_decisions=recorded_decisions,
        opponents=tuple(_opponent_count(opponent, results) for opponent in sorted({o for o, _ in results})),
        failures=dict(counts.failures),
        rejected_choices=counts.rejected_choices,
        seconds=time.monotonic() - started,
        cpu_seconds=time.process_time() + children_cpu_seconds,
        versions=versions,
    )
    attempt.write(COLLECT_RESULT, result.to_json())
    return attempt.finish(
        {"battles": counts.battles, "recorded_decisions": recorded_decisions, **(replays.counts if replays else {})},
        num_gpus=settings.collect.num_gpus,
    )


def _check_first_network(store: ObjectStore, network: NetworkSettings, plan: IterationPlan, space: Space) -> None:
    """Refuse what the first training could not begin with, before its battles are played."""
    if ORACLES[plan.oracle].begins_from_policy and network.init_from.policy_id is not None:
        resolve_name(_CHECK_FIRST_NETWORK)(store, space, network)


def _trial(game: Game, network: NetworkSettings, collect: CollectSettings) -> Trial | None:
    """Return the benchmark by which sizes are chosen, or None for a game without gateways."""
    if game.tree is not None:
        return None

    def decisions_per_second(num_gateways: int, concurrent_battles: int) -> float:
        measure: Trial = resolve_name(_SELF_PLAY_TRIAL)(game, network, device=collect.device)
        return measure(num_gateways, concurrent_battles)

    return decisions_per_second


def _assignments(numbers: range, battles: PairedBattles, plan: IterationPlan) -> Iterator[Assignment]:
    """Yield the shard's battles. Both battles of a pair have the same opponent, so that it is met from both sides."""
    mixture = Mixture(plan.opponents)
    for number in numbers:
        opponent = mixture.draw(battles.pair_uniform(number, "opponent"))
        both_seats = plan.learns_from_both_seats(opponent)
        yield battles.assignment(number, (plan.learner, opponent), record=True, record_opponent=both_seats)


def _result(score: float) -> _Result:
    """Return the result that a score counts as: in a game for stakes, any gain is a win."""
    if score == _DRAW_SCORE:
        return "draw"
    return "win" if score > _DRAW_SCORE else "loss"


def _opponent_count(opponent: PolicyId, results: Counter[tuple[PolicyId, _Result]]) -> OpponentCount:
    return OpponentCount(
        opponent=opponent,
        wins=results[opponent, "win"],
        draws=results[opponent, "draw"],
        losses=results[opponent, "loss"],
    )


def _nothing_to_play(attempt: Attempt, plan: IterationPlan) -> Manifest:
    """Finish a shard of an iteration whose oracle learns from no collected battles, with an empty result."""
    result = CollectResult(
        learner=plan.learner,
        battles=0,
        decisions=0,
        recorded_decisions=0,
        opponents=(),
        failures={},
        rejected_choices=0,
        seconds=0.0,
        cpu_seconds=time.process_time(),
    )
    attempt.write(COLLECT_RESULT, result.to_json())
    return attempt.finish({"battles": 0, "recorded_decisions": 0})
