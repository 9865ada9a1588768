"""Submit, resume and stop runs on a cluster: the checks before, and the Workflow that is created."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import nashdex
from nashdex.core.errors import ConfigurationError
from nashdex.core.steps import StepName
from nashdex.planning.dag import num_shards
from nashdex.runs.creation import PreparedRun
from nashdex.settings.run import RunSettings
from nashdex.settings.train import TrainSettings
from nashdex_cluster.bundle import pack
from nashdex_cluster.client import COMPONENT_LABEL, NAME_LABEL, RUN_LABEL, Cluster, Template
from nashdex_cluster.site import NO_SECRET
from nashdex_cluster.status import run_status
from nashdex_cluster.workflow_state import (
    ACTORS_TEMPLATE,
    CHECK_TEMPLATE,
    ITERATION_TEMPLATE,
    LEAGUE_TEMPLATE,
    WorkflowState,
    read_workflow,
)

OLDEST_ARGO = (3, 7)
TEMPLATES = (
    CHECK_TEMPLATE,
    "nashdex-collect",
    "nashdex-train",
    "nashdex-evaluate",
    "nashdex-solve",
    ACTORS_TEMPLATE,
    ITERATION_TEMPLATE,
    LEAGUE_TEMPLATE,
    "nashdex-exploit",
)
"""WorkflowTemplates of an installation."""
_PART_OF_LABEL = "app.kubernetes.io/part-of"
_MAX_NAME_STEM = 20
"""Longest name of a league: names of pods and labels have at most 63 characters and repeat the Workflow's."""


Check = Callable[[], None]
"""Called after all other checks, before the Workflow is created; raises to reject the run."""


def submit_run(cluster: Cluster, prepared: PreparedRun, *, begun: bool = False, check: Check | None = None) -> str:
    """Submit every iteration of a run; return the Workflow's name.

    ``begun`` says that the site's store has the run already; ``check`` is a further check.

    Raises:
        ConfigurationError: the run cannot run there, or is running.
        TryAgainError: the cluster does not respond.
    """
    bundle = "" if begun else pack(prepared)
    check_site(cluster, prepared.settings)
    _check_idle(cluster, prepared.id, find_workflows(cluster, prepared.id))
    if check is not None:
        check()
        # The check may have taken minutes.
        _check_idle(cluster, prepared.id, find_workflows(cluster, prepared.id))
    return cluster.create_workflow(league_workflow(cluster.namespace, prepared.id, bundle=bundle))


def running_workflow(cluster: Cluster, prepared: PreparedRun) -> str | None:
    """Return the name of the Workflow that runs every iteration of a run now, or None if none does.

    Raises:
        ConfigurationError: it runs other settings.
        TryAgainError: the cluster does not respond.
    """
    leagues = [w for w in find_workflows(cluster, prepared.id) if w.template == LEAGUE_TEMPLATE and not w.is_over]
    if not leagues:
        return None
    bundle = leagues[0].parameters.get("bundle")
    if bundle and bundle != pack(prepared):
        raise ConfigurationError(
            f"run {prepared.id} is running as workflow {leagues[0].name}, with other settings or files than these: "
            "restore them, or choose another id (--run)"
        )
    return leagues[0].name


def resume_run(cluster: Cluster, run: str, *, check: Check | None = None) -> str | None:
    """Submit the rest of a run; return the Workflow's name, or None if the run is complete.

    The Workflow begins with the first iteration without a report in the store. So the Workflows of earlier tries may be
    gone: Argo deletes them after some days. ``check`` is as for ``submit_run``.

    Raises:
        ConfigurationError: the run is running, or the cluster does not match.
        TryAgainError: the cluster does not respond.
    """
    workflows = find_workflows(cluster, run)
    _check_templates(cluster)
    _check_idle(cluster, run, workflows)
    leagues = [workflow for workflow in workflows if workflow.template == LEAGUE_TEMPLATE]
    if leagues and max(leagues, key=lambda workflow: workflow.created).phase == "Succeeded":
        return None
    # Send the settings again: if the first Workflow failed early, the store has no run. One that has begun has the
    # store's settings; a later submit may have had others, and failed.
    sent = [league for league in leagues if league.parameters.get("bundle")]
    source = max(sent, key=lambda league: (league.has_begun, league.created), default=None)
    bundle = source.parameters["bundle"] if source else ""
    if check is not None:
        check()
        _check_idle(cluster, run, find_workflows(cluster, run))
    return cluster.create_workflow(league_workflow(cluster.namespace, run, bundle=bundle))


def stop_run(cluster: Cluster, run: str, *, exit_handlers: bool = True) -> list[str]:
    """Stop every Workflow of a run that has not ended; return their names.

    Raises:
        DataError: the run has no Workflow.
        TryAgainError: the cluster does not respond.
    """
    workflows = find_workflows(cluster, run)
    run_status(run, workflows)
    stopped: list[str] = []
    while active := [w for w in workflows if not w.is_over and w.name not in stopped]:
        # The league first, so that it starts no further iteration. It may have started one since it was listed.
        for workflow in sorted(active, key=lambda w: w.template != LEAGUE_TEMPLATE):
            cluster.shut_down(workflow.name, exit_handlers=exit_handlers)
            stopped.append(workflow.name)
        workflows = find_workflows(cluster, run)
    return stopped


def find_workflows(cluster: Cluster, run: str | None = None) -> list[WorkflowState]:
    """Return the Workflows of one run, or of all."""
    return [read_workflow(document) for document in cluster.workflows(_selector(run))]


def watch_workflows(cluster: Cluster, run: str) -> Iterator[list[WorkflowState]]:
    """Yield the Workflows of a run, at once and after every change, for some minutes."""
    for documents in cluster.watch(_selector(run)):
        yield [read_workflow(document) for document in documents]


def _selector(run: str | None) -> str:
    return f"{NAME_LABEL}=nashdex" + (f",{RUN_LABEL}={run}" if run else "")


def league_workflow(namespace: str, run: str, *, bundle: str) -> Mapping[str, Any]:
    """Return the Workflow that runs every iteration of a run that has no report yet."""
    stem = re.sub(r"[^a-z0-9]+", "-", run)[:_MAX_NAME_STEM].strip("-")
    parameters = {"run": run, "bundle": bundle}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {
            "generateName": f"{stem}-",
            "namespace": namespace,
            "labels": {NAME_LABEL: "nashdex", _PART_OF_LABEL: "nashdex", COMPONENT_LABEL: "league", RUN_LABEL: run},
        },
        "spec": {
            "workflowTemplateRef": {"name": LEAGUE_TEMPLATE},
            "arguments": {"parameters": [{"name": name, "value": value} for name, value in parameters.items()]},
        },
    }


def check_site(cluster: Cluster, settings: RunSettings) -> None:
    """Reject a run that would fail on the cluster, as far as its objects show.

    Raises:
        ConfigurationError: something is missing there, or does not match.
        TryAgainError: the cluster does not respond.
    """
    room = _check_templates(cluster)[ITERATION_TEMPLATE].parallelism
    num_actors = num_shards(settings, StepName.ACT)
    if room is not None and num_actors >= room:
        raise ConfigurationError(
            f"actors.shards is {num_actors}, but an iteration runs at most {room} pods at once: actors would wait "
            "for a trainer that cannot start: lower actors.shards, or raise parallelism of WorkflowTemplate "
            f"{ITERATION_TEMPLATE} (with Helm, workflows.parallelism)"
        )
    if settings.run is not None and not settings.run[-1].isalnum():
        raise ConfigurationError(
            f"run id {settings.run!r} is not a valid Kubernetes label: expected a letter or digit at the end; choose "
            "another with --run"
        )
    site = cluster.site()
    if site is None:
        return
    if site.template_version != nashdex.__version__:
        raise _other_version(cluster, site.template_version)
    if site.s3_secret != NO_SECRET and cluster.has_secret(site.s3_secret) is False:
        raise ConfigurationError(
            f"namespace {cluster.namespace} has no Secret {site.s3_secret}, which the site's s3-secret names; create "
            "it with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    if settings.train.device == "cuda" and site.num_gpus == 0:
        raise ConfigurationError(
            "train.device is 'cuda', but train pods request no GPU: set the site's train-pod-patch (with Helm, "
            "train.gpus), or set train.device = 'cpu'"
        )
    _check_gpus(site.num_gpus, settings.train)
    if settings.collect.device == "cuda" and site.num_collect_gpus == 0:
        raise ConfigurationError(
            "collect.device is 'cuda', but collect pods request no GPU: set the site's collect-pod-patch (with Helm, "
            "collect.resources.limits), or set collect.device = 'cpu'"
        )


def _check_gpus(num_gpus: int | None, train: TrainSettings) -> None:
    """Check that a train pod has a GPU for each process, and none that would be idle."""
    used = train.num_processes if train.device == "cuda" else 0
    if num_gpus is None or num_gpus == used:
        return
    if num_gpus < used:
        raise ConfigurationError(
            f"train.num_processes is {used} and train.device 'cuda', one GPU for each process, but train pods request "
            f"{num_gpus}: request {used} in the site's train-pod-patch (with Helm, train.gpus), or set "
            f"train.num_processes = {num_gpus}"
        )
    if num_gpus > 1:
        raise ConfigurationError(
            f"train pods request {num_gpus} GPUs, but train.device is {train.device!r} and "
            f"train.num_processes {train.num_processes}, so GPUs would be idle: set train.device = 'cuda' and "
            f"train.num_processes = {num_gpus}, or request fewer in the site's train-pod-patch (with Helm, train.gpus)"
        )


def _check_templates(cluster: Cluster) -> Mapping[str, Template]:
    version = cluster.argo_version()
    if version is not None and (match := re.match(r"v?(\d+)\.(\d+)", version)):
        found = (int(match[1]), int(match[2]))
        if found < OLDEST_ARGO:
            oldest = ".".join(map(str, OLDEST_ARGO))
            raise ConfigurationError(f"the cluster has Argo Workflows {version}; nashdex needs {oldest} or later")
    templates = cluster.templates()
    missing = [name for name in TEMPLATES if name not in templates]
    if len(missing) == len(TEMPLATES):
        raise ConfigurationError(
            f"nashdex is not installed in namespace {cluster.namespace}: install it there, or choose another namespace "
            "with -n"
        )
    if missing:
        raise ConfigurationError(
            f"namespace {cluster.namespace} has no WorkflowTemplate {', '.join(missing)}: install nashdex there, or "
            "choose another namespace with -n"
        )
    for version in sorted({templates[name].version for name in TEMPLATES}):
        if version != nashdex.__version__:
            raise _other_version(cluster, version)
    return templates


def _other_version(cluster: Cluster, version: str) -> ConfigurationError:
    return ConfigurationError(
        f"namespace {cluster.namespace} has the templates of nashdex {version or 'unknown'}, but this is "
        f"{nashdex.__version__}: use that version, or upgrade the installation"
    )


def _check_idle(cluster: Cluster, run: str, workflows: list[WorkflowState]) -> None:
    if active := [workflow.name for workflow in workflows if not workflow.is_over]:
        where = f"{run} -n {cluster.namespace}"
        raise ConfigurationError(
            f"run {run} is running already, as workflow {active[0]}: `nashdex status {where}` shows it, "
            f"`nashdex stop {where}` stops it; choose another id for another run (--run)"
        )
