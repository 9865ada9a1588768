"""The evaluate step: one shard's part of the tournament."""

from collections.abc import Callable, Mapping, Sequence

from nashdex.core import keys
from nashdex.core.evidence import Evidence
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName, shard_range
from nashdex.evaluator.exact import compute_shard
from nashdex.games.interface import Game
from nashdex.games.registry import game_of_run
from nashdex.metagame.evidence.kinds import nothing_known
from nashdex.metagame.evidence.ledger import LEDGER, Pair, PlannedBattle, ShardLedger
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.tournament.gate import GATE_RESULT, GateResult, admitted
from nashdex.metagame.tournament.schedule import demand_of
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt, find_done
from nashdex.store.documents import read_from_shards, read_published
from nashdex.store.protocol import ObjectStore


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
    attempt.write(LEDGER, ledger.to_json())
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


def _play(
    store: ObjectStore,
    settings: RunSettings,
    game: Game,
    mine: Sequence[PlannedBattle],
    attempt: Attempt,
    shard: int,
) -> ShardLedger:
    # Late: only battles need torch.
    from nashdex.evaluator.tournament import play_shard  # noqa: PLC0415

    return play_shard(store, settings, game, mine, attempt, shard)


def _compute(
    store: ObjectStore, _settings: RunSettings, game: Game, mine: Sequence[Pair], _attempt: Attempt, shard: int
) -> ShardLedger:
    assert game.tree is not None, "exact payoffs follow from a tree"
    return compute_shard(store, game.tree, mine, shard)


_FIND: Mapping[Evidence, Callable[..., ShardLedger]] = {Evidence.COUNTS: _play, Evidence.EXACT: _compute}
"""How a shard finds its part of the evidence."""
