"""Scaling on this machine (more gateways per collector, more collectors) and on a cluster, in shards side by side."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from multiprocessing import get_context
from typing import Any

from pydantic import Field, PositiveFloat, PositiveInt

from nashdex.core import keys
from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError, InterruptedByUserError, StoppedError, TryAgainError
from nashdex.core.ids import RunId, run_id
from nashdex.core.results import COLLECT_RESULT, CollectResult
from nashdex.core.steps import StepName
from nashdex.games.registry import showdown_game
from nashdex.games.showdown.game import ShowdownGame
from nashdex.learning.rewards import REWARDS
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import PolicyEntry, Population
from nashdex.policies.archive import save_policy
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.rollout.sizing import BATTLES_PER_GATEWAY
from nashdex.runs.creation import PreparedRun, Run, create_run
from nashdex.settings.run import CollectSettings, RunSettings
from nashdex.store import open_store
from nashdex.store.attempt import Attempt
from nashdex.store.documents import read_from_shards
from nashdex.store.protocol import ObjectStore
from nashdex_bench.collect.self_play import Load, Measured, self_play
from nashdex_bench.networks import default_network
from nashdex_cluster.client import COMPONENT_LABEL, ITERATION_LABEL, NAME_LABEL, RUN_LABEL, Cluster
from nashdex_cluster.site import CONFIG_MAP, Site
from nashdex_cluster.submission import check_site, stop_run

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


def lines(result: ScaleResult) -> Iterator[str]:
    """Yield the result as a table."""
    yield "shards  gateways  decisions/s  per CPU-second  collector waits  gateways wait     MiB"
    for row in result.rows:
        rates = f"{row.decisions_per_second:11,.0f}  {row.decisions_per_cpu_second:14,.0f}"
        waits = f"{row.collector_waiting_share:15.0%}  {row.gateway_waiting_share:13.0%}"
        yield f"{row.shards:6}  {row.gateways:8}  {rates}  {waits}  {row.resident_bytes >> 20:6,}"


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
        oracle="fresh",
        reward="win-loss",
        reward_version=REWARDS["win-loss"].version,
    )
    entry = PolicyEntry(id=policy, kind="network", name="fresh", iteration=0, parent=None)
    plan = IterationPlan(
        iteration=0,
        oracle="clone",  # the one that collects whole battles
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


DEFAULT_BATTLES = 2000
_ITERATION = 0
Wait = Callable[[RunId], object]
"""Returns when a run's Workflow has succeeded, and raises if it fails."""


class ClusterScaleRow(Model):
    """One measurement. Rates are of all shards together."""

    shards: PositiveInt = Field(description="Pods that collect at the same time, each with one gateway as sidecar.")
    decisions: PositiveInt = Field(description="Decisions of both seats.")
    decisions_per_second: PositiveFloat = Field(
        description="Sum of the shards' rates over their own working time, without the start of their pods."
    )
    seconds: PositiveFloat = Field(description="From the creation of the first pod to the end of the last one.")
    cpu_microseconds: PositiveFloat = Field(
        description="CPU time of the collectors and their gateways per decision, their start included."
    )


class ClusterScaleResult(Model):
    """Increasing numbers of shards with one gateway each."""

    format: str
    namespace: str
    battles_per_shard: PositiveInt
    rows: tuple[ClusterScaleRow, ...]


def measure_shards(
    cluster: Cluster,
    format_id: str,
    wait: Wait,
    *,
    battles_per_shard: int = DEFAULT_BATTLES,
    numbers: Sequence[int] = NUMBERS,
) -> Iterator[ClusterScaleRow]:
    """Measure each number of shards in turn. Measured runs are removed from the store.

    Args:
        cluster: a namespace with nashdex.
        format_id: a Showdown format.
        wait: waits for a run's Workflow.
        battles_per_shard: the same for every number of shards.
        numbers: numbers of shards.

    Raises:
        ConfigurationError: it is not a Showdown format, nashdex is missing there, Node is missing here, or the store
            refuses access.
        TryAgainError: the cluster or its store does not answer.
        StoppedError: SIGTERM, or Ctrl-C (InterruptedByUserError); the Workflow is stopping.
    """
    showdown_game(format_id)
    runs = [_settings(format_id, number, battles_per_shard) for number in numbers]
    site = _site(cluster)
    check_site(cluster, runs[0])
    _check_store(site, cluster.namespace)
    network = fresh_network(format_id)
    for settings in runs:
        yield _measure_shards(cluster, site.store, settings, network, wait)


def shards_workflow(namespace: str, run: RunId, num_shards: int) -> Mapping[str, Any]:
    """Return a Workflow that collects ``num_shards`` shards of a planned run, labelled like an iteration's."""
    collect = {
        "name": StepName.COLLECT.value,
        "templateRef": {"name": "nashdex-collect", "template": StepName.COLLECT.value},
        "arguments": {"parameters": [{"name": "shard", "value": "{{item}}"}]},
        "withSequence": {"count": str(num_shards)},
    }
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {
            "generateName": f"scale-{num_shards}-",
            "namespace": namespace,
            "labels": {
                NAME_LABEL: "nashdex",
                "app.kubernetes.io/part-of": "nashdex",
                COMPONENT_LABEL: StepName.COLLECT.value,
                RUN_LABEL: run,
                ITERATION_LABEL: str(_ITERATION),
            },
        },
        "spec": {
            "entrypoint": "shards",
            "serviceAccountName": "nashdex-workflow",
            "activeDeadlineSeconds": 172800,
            "podGC": {"strategy": "OnPodSuccess", "deleteDelayDuration": "120s"},
            # The result has been read from the store by then.
            "ttlStrategy": {"secondsAfterSuccess": 3600, "secondsAfterFailure": 1209600},
            "podSpecPatch": '{"terminationGracePeriodSeconds": 120}',
            "arguments": {
                "parameters": [
                    {"name": "run", "value": run},
                    {"name": "iteration", "value": str(_ITERATION)},
                    {"name": "store", "valueFrom": {"configMapKeyRef": {"name": CONFIG_MAP, "key": "store"}}},
                ]
            },
            "templates": [{"name": "shards", "dag": {"tasks": [collect]}}],
        },
    }


def _settings(format_id: str, num_shards: int, battles_per_shard: int) -> RunSettings:
    run = run_id(f"scale-{format_id}-{num_shards}-{secrets.token_hex(3)}")
    collect = CollectSettings(battles=num_shards * battles_per_shard, shards=num_shards)
    return RunSettings(run=run, format=format_id, iterations=1, collect=collect)


def _site(cluster: Cluster) -> Site:
    site = cluster.site()
    if site is None:
        raise ConfigurationError(
            f"ConfigMap {CONFIG_MAP} of namespace {cluster.namespace} cannot be read from here, and it names the store "
            "of the results; use a kubeconfig that may read it"
        )
    return site


def _check_store(site: Site, namespace: str) -> None:
    """Check that the store answers."""
    try:
        open_store(site.store).exists(keys.CONFIG)
    except (ConfigurationError, TryAgainError) as error:
        endpoint = f" (at {site.s3_endpoint} there)" if site.s3_endpoint else ""
        raise type(error)(
            f"this machine cannot use the store of namespace {namespace}{endpoint}: {error}. Set its credentials and "
            "AWS_ENDPOINT_URL, for example to a port that kubectl port-forward opens"
        ) from error


def _measure_shards(
    cluster: Cluster, store_uri: str, settings: RunSettings, network: "ActorCritic", wait: Wait
) -> ClusterScaleRow:
    run = create_run(store_uri, PreparedRun(settings, inputs={}))
    plan_self_play(run.store, network)
    cluster.create_workflow(shards_workflow(cluster.namespace, run.id, settings.collect.shards))
    try:
        wait(run.id)
    except (KeyboardInterrupt, SystemExit) as error:  # Ctrl-C, or SIGTERM
        stop_run(cluster, run.id)
        stopped = InterruptedByUserError if isinstance(error, KeyboardInterrupt) else StoppedError
        raise stopped(f"run {run.id} is stopping; its objects in {run.store.uri} can be removed") from error
    row = _cluster_row(cluster, run)
    for key in list(run.store.list("")):
        run.store.delete(key)
    return row


def _cluster_row(cluster: Cluster, run: Run) -> ClusterScaleRow:
    """Return the measurement of a run whose shards are all done."""
    num_shards = run.settings.collect.shards
    results = read_from_shards(run.store, _ITERATION, StepName.COLLECT, num_shards, COLLECT_RESULT, CollectResult)
    decisions = sum(result.decisions for result in results)
    return ClusterScaleRow(
        shards=num_shards,
        decisions=decisions,
        decisions_per_second=sum(result.decisions / result.seconds for result in results),
        seconds=_pod_seconds(cluster, run.id),
        cpu_microseconds=1e6 * sum(result.cpu_seconds for result in results) / decisions,
    )


def _pod_seconds(cluster: Cluster, run: RunId) -> float:
    """Return the time from the first pod's start to the last one's end.

    It reads the pods themselves: the nodes above them in a Workflow end up to 10 s later.
    """
    (workflow,) = cluster.workflows(f"{RUN_LABEL}={run}")
    pods = [node for node in workflow["status"]["nodes"].values() if node["type"] == "Pod"]
    began = min(datetime.fromisoformat(pod["startedAt"]) for pod in pods)
    ended = max(datetime.fromisoformat(pod["finishedAt"]) for pod in pods)
    return (ended - began).total_seconds()
