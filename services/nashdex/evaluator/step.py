"""The evaluate step: one shard's part of the tournament."""

import time
from collections.abc import Callable, Mapping, Sequence

from nashdex.core import keys
from nashdex.core.evidence import Evidence
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName, shard_range
from nashdex.evaluator.tournament import play_shard
from nashdex.games.interface import Game
from nashdex.games.registry import game_of_run
from nashdex.games.tabular.values import expected_payoffs
from nashdex.metagame.evidence.battles import NO_BATTLES, Pair, PlannedBattle
from nashdex.metagame.evidence.kinds import nothing_known
from nashdex.metagame.evidence.ledger import LEDGER, ExactCell, ShardLedger, encode
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.tournament.gate import GATE_RESULT, GateResult, admitted
from nashdex.metagame.tournament.schedule import demand_of
from nashdex.policies.tables import load_table
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt, find_done
from nashdex.store.documents import read_from_shards, read_published
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Find one shard's part of the payoff evidence that is missing: play battles, or compute exact payoffs.

    Raises:
        DataError: the plan, a training result or a policy is missing or altered.
        TryAgainError: a battle could not be finished, or the store or a gateway is unreachable.
        StoppedError: the process was asked to stop.
    """
    if done := find_done(store, iteration, StepName.EVALUATE, shard):
        return done
    attempt = Attempt(store, iteration, StepName.EVALUATE, shard)
    game = game_of_run(store, settings)
    work = missing_evidence(store, settings, game, iteration)
    mine = [work[i] for i in shard_range(len(work), settings.evaluate.shards, shard)]
    ledger = _FIND[game.evidence](store, settings, game, mine, attempt, shard)
    attempt.write(LEDGER, encode(ledger))
    return attempt.finish(
        {"battles": len(ledger.battles), "decisions": ledger.decisions, "exact_payoffs": len(ledger.exact)}
    )


def missing_evidence(
    store: ObjectStore, settings: RunSettings, game: Game, iteration: int
) -> Sequence[PlannedBattle] | Sequence[Pair]:
    """Return every battle, or pair of exact payoff, that the iteration's shards find: the same for all and retries."""
    plan = read_published(store, iteration, keys.PLAN, IterationPlan)
    trained = read_from_shards(store, iteration, StepName.TRAIN, settings.train.seeds, TRAINING_RESULT, TrainingResult)
    gates = read_from_shards(store, iteration, StepName.GATE, settings.num_gates, GATE_RESULT, GateResult)
    population = plan.grown(admitted(trained, gates))
    before = nothing_known(game.evidence, game.largest_payoff)
    if iteration > 0:
        before = read_published(store, iteration - 1, keys.INTERACTION_MATRIX, InteractionMatrix)
    return before.missing(population.ids, demand_of(plan, settings.evaluate))


def _compute(
    store: ObjectStore, _settings: RunSettings, game: Game, mine: Sequence[Pair], _attempt: Attempt, shard: int
) -> ShardLedger:
    """Compute exact payoffs from the game's tree."""
    assert game.tree is not None, "exact payoffs follow from a tree"
    started_seconds, started_cpu_seconds = time.monotonic(), time.process_time()
    policies = sorted({policy for pair in mine for policy in pair})
    place = {policy: index for index, policy in enumerate(policies)}
    with Progress(StepName.EVALUATE, shard, len(mine), "pairs") as progress:
        payoffs = expected_payoffs(game.tree, [load_table(store, policy, game.tree) for policy in policies])
        progress.advance(len(mine))
    return ShardLedger(
        battles=NO_BATTLES,
        failures={},
        rejected_choices=0,
        decisions=0,
        seconds=time.monotonic() - started_seconds,
        cpu_seconds=time.process_time() - started_cpu_seconds,
        exact=tuple(ExactCell(policies=pair, payoff=float(payoffs[place[pair[0]], place[pair[1]]])) for pair in mine),
    )


_FIND: Mapping[Evidence, Callable[..., ShardLedger]] = {Evidence.COUNTS: play_shard, Evidence.EXACT: _compute}
"""How a shard finds its part of the evidence."""
