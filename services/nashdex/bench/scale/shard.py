"""Scaling on this machine: more gateways per collector, and more collectors. Also the same load for cluster shards."""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from pydantic import Field, PositiveFloat, PositiveInt

from nashdex.bench.collect.self_play import Load, Measured, self_play
from nashdex.bench.networks import default_network
from nashdex.core import keys
from nashdex.core.documents import Model
from nashdex.core.steps import StepName
from nashdex.games.registry import showdown_game
from nashdex.games.showdown.game import ShowdownGame
from nashdex.learning.rewards import REWARDS
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import PolicyEntry, Population
from nashdex.policies.archive import save_policy
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.rollout.sizing import BATTLES_PER_GATEWAY
from nashdex.store.attempt import Attempt
from nashdex.store.protocol import ObjectStore

NUMBERS = (1, 2, 4)


class ScaleRow(Model):
    """One measurement. Rates are of all shards together."""

    shards: PositiveInt = Field(description="Collectors at the same time, one process each.")
    gateways: PositiveInt = Field(description="Gateway processes per collector.")
    decisions_per_second: PositiveFloat = Field(description="Decisions per second of wall time.")
    decisions_per_cpu_second: PositiveFloat = Field(
        description="Decisions per second of CPU time of all processes, user and system."
    )
    collector_waiting_share: float = Field(description="Share of wall time, mean over the shards.")
    gateway_waiting_share: float = Field(description="Share of wall time, mean over the gateways.")
    resident_bytes: PositiveInt = Field(description="Resident memory of all processes at the end.")


class ScaleResult(Model):
    """One collector with 1, 2, 4 gateways, then 2 and 4 collectors with one gateway each, by default."""

    format: str
    battles_per_gateway: PositiveInt = BATTLES_PER_GATEWAY
    rows: tuple[ScaleRow, ...]


def run_scale(format_id: str, *, seconds: float = 20.0, numbers: Sequence[int] = NUMBERS) -> ScaleResult:
    """Measure each of ``numbers`` as a number of gateways, then as a number of shards, for ``seconds`` each.

    Raises:
        ConfigurationError: it is not a Showdown format, or Node or the gateway's package is missing.
    """
    game = showdown_game(format_id)
    sizes = [(1, gateways) for gateways in numbers] + [(shards, 1) for shards in numbers if shards > 1]
    return ScaleResult(format=format_id, rows=tuple(_row(game, *size, seconds) for size in sizes))


def fresh_network(format_id: str) -> ActorCritic:
    """Return an untrained network like the one that ``run_scale`` measures. A gateway provides its space.

    Raises:
        ConfigurationError: it is not a Showdown format, or Node or the gateway's package is missing.
    """
    arena = showdown_game(format_id).open_arena(num_gateways=1)
    try:
        return make_network(arena.space, default_network(arena.space))
    finally:
        arena.close()


def plan_self_play(run: ObjectStore, network: ActorCritic) -> None:
    """Store ``network`` and a plan of iteration 0 in which it plays itself, both seats recorded."""
    policy = save_policy(
        run,
        network,
        name="fresh",
        parent=None,
        iteration=0,
        oracle="null",
        reward="win-loss",
        reward_version=REWARDS["win-loss"].version,
    )
    entry = PolicyEntry(id=policy, kind="network", name="fresh", iteration=0, parent=None)
    plan = IterationPlan(
        iteration=0,
        oracle="null",
        population=Population(policies=(entry,)),
        rule="self-play",
        opponents={policy: 1.0},
        learner=policy,
    )
    attempt = Attempt(run, 0, StepName.PLAN, 0)
    attempt.publish(keys.PLAN, plan.to_json())
    attempt.finish({})


def _row(game: ShowdownGame, num_shards: int, num_gateways: int, seconds: float) -> ScaleRow:
    loads = [Load(game, BATTLES_PER_GATEWAY * num_gateways, num_gateways, seed=shard) for shard in range(num_shards)]
    # A single shard runs in a child process too, so that all rows are measured alike.
    with ProcessPoolExecutor(num_shards, mp_context=get_context("spawn")) as pool:
        measured = list(pool.map(_measure, loads, [seconds] * num_shards))
    decisions = sum(m.decisions for m in measured)
    return ScaleRow(
        shards=num_shards,
        gateways=num_gateways,
        decisions_per_second=sum(m.decisions_per_second for m in measured),
        decisions_per_cpu_second=decisions / sum(m.cpu_seconds + m.gateway_cpu_seconds for m in measured),
        collector_waiting_share=sum(m.collector_waited_seconds / m.seconds for m in measured) / num_shards,
        gateway_waiting_share=sum(m.gateways_waited_seconds / m.seconds for m in measured) / num_shards,
        resident_bytes=sum(m.collector_bytes + m.gateway_bytes for m in measured),
    )


def _measure(load: Load, seconds: float) -> Measured:
    with self_play(load) as collecting:
        return collecting.measure(seconds)
