"""A training of more than fifty versions with streaming actors on a real cluster, by hand: `make e2e-streaming`.

Actors, learner and Argo's controller are killed at random, a third actor joins, and the store is away for a minute.
Then the same training with one and with two actors, undisturbed, here and on the cluster: how long the learner waits,
and how fast it learns. It takes about half an hour on two cores that are free.
"""

import random
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from e2e.installation import Installation
from e2e.ledgers import assert_exact, journal_of
from e2e.processes import run, wait_for
from nashdex.core.journal import Entry
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.runs.creation import Run, open_run
from nashdex.store.attempt import read_manifest
from nashdex.store.documents import read_written

pytestmark = [pytest.mark.integration, pytest.mark.timeout(7200)]

SETTINGS = "tests/e2e/streaming.toml"
RUN = "streaming"
NUM_VERSIONS = 50
JOINED = 1000
"""Shard of the actor that joins while the training runs."""
LONGEST_SECONDS = 3600.0
OUTAGE_SECONDS = 60.0
RATES = "tests/e2e/rates.toml"
"""A usual training's network and rounds. Rounds of 8 battles, as above, last less than a second: the requests to
the store count for much."""


def kill(installed: Installation, step: StepName, metric: str) -> str:
    """Kill a pod of a step at a random moment after it began to work; return its name."""
    pod = installed.at_work(RUN, 1, step, metric, LONGEST_SECONDS)
    time.sleep(random.uniform(0, 15))
    installed.kubectl("delete", "pod", pod, "--grace-period=0", "--force")
    return pod


def take_the_store_away(installed: Installation) -> None:
    """Stop the store for a minute."""
    installed.kubectl("scale", "deployment/nashdex-store", "--replicas=0")
    wait_for(lambda: not installed.objects("pods", component="store"), "the store to be gone", 120)
    time.sleep(OUTAGE_SECONDS)
    installed.kubectl("scale", "deployment/nashdex-store", "--replicas=1")
    installed.kubectl("rollout", "status", "deployment/nashdex-store", "--timeout=300s", seconds=330)


def assert_succeeded(workflow: dict[str, Any]) -> None:
    assert workflow["status"]["phase"] == "Succeeded", workflow["status"].get("message")


def assert_adds_up(trained: Run, joined: int) -> None:
    """Check that every chunk was learned from once, and that the journal holds all decisions and battles.

    All actors have played some, also the one that joined.
    """
    journal = journal_of(trained, 1)
    settings = trained.settings
    assert list(journal.problems()) == []
    assert [entry.round for entry in journal.entries] == list(range(len(journal.entries)))
    for entry in journal.entries:
        assert (entry.battles, entry.num_chunks) == (8, 2), entry.round
        assert len(entry.chunks) == entry.num_chunks
        assert all(0 <= entry.round - chunk.version <= 4 for chunk in entry.chunks)
    manifest = read_manifest(trained.store, 1, StepName.TRAIN, 0)
    assert manifest.counts["decisions"] == journal.learned_decisions
    actors = {*range(settings.actors.shards), joined}
    assert set().union(*(entry.chunks_by_actor for entry in journal.entries)) == actors
    left = [key for key in trained.store.list("iterations/0001/train/") if "/actors/" in key or "/journal/" in key]
    assert left == []


def test_a_stream_survives_kills_of_everything(installed: Installation, measured: dict[str, Any]) -> None:
    with installed.bucket() as store:
        installed.nashdex("begin", SETTINGS, "--store", store)
    assert_succeeded(installed.end_of(installed.submit(run=RUN, iteration="0"), LONGEST_SECONDS))
    name = installed.submit(run=RUN, iteration="1")
    killed = [kill(installed, StepName.ACT, "nashdex_chunks_total")]
    joined = installed.submit("nashdex-actors", run=RUN, iteration="1", first=str(JOINED))
    killed.append(kill(installed, StepName.TRAIN, "nashdex_updates_total"))
    killed.append(kill(installed, StepName.ACT, "nashdex_chunks_total"))
    installed.at_work(RUN, 1, StepName.TRAIN, "nashdex_updates_total", LONGEST_SECONDS)
    run("kubectl", "delete", "pod", "-n", "argo", "-l", "app=workflow-controller", "--grace-period=0", "--force")
    installed.at_work(RUN, 1, StepName.TRAIN, "nashdex_updates_total", LONGEST_SECONDS)
    take_the_store_away(installed)
    for workflow in (name, joined):
        assert_succeeded(installed.end_of(workflow, LONGEST_SECONDS))
    with installed.bucket() as store:
        trained = open_run(f"{store}/{RUN}")
        assert_exact(trained, 1)
        assert_adds_up(trained, JOINED)
        entries = journal_of(trained, 1).entries
        result = _training_result(trained)
    measured["stream: killed"] = [*killed, "workflow-controller", f"store away {OUTAGE_SECONDS:.0f} s"]
    measured["stream: versions, decisions"] = [len(entries), result.num_decisions]
    measured["stream: chunks by actor"] = _sum(entry.chunks_by_actor for entry in entries)
    measured["stream: chunks dropped"] = _sum(entry.dropped for entry in entries)
    evaluation = result.evaluations[-1]
    measured["stream: score against the clone"] = [evaluation.low, evaluation.score, evaluation.high]
    assert len(entries) >= NUM_VERSIONS
    assert evaluation.low > 0.5


@pytest.mark.parametrize("num_actors", [1, 2])
def test_actors_against_the_local_runner(
    installed: Installation, tmp_path: Path, measured: dict[str, Any], num_actors: int
) -> None:
    name = f"stream-{num_actors}"
    words = (RATES, "--run", name, "--set", f"actors.shards={num_actors}")
    with installed.bucket() as store:
        installed.nashdex("begin", *words, "--store", store)
    for iteration in range(2):
        assert_succeeded(installed.end_of(installed.submit(run=name, iteration=str(iteration)), LONGEST_SECONDS))
    with installed.bucket() as store:
        there = _rates(open_run(f"{store}/{name}"), num_actors)
    installed.nashdex("run", *words, "--store", str(tmp_path), "--json", seconds=LONGEST_SECONDS)
    here = _rates(open_run(f"{tmp_path}/{name}"), num_actors)
    what = "decisions/s, learner's waiting, decisions per CPU-second"
    measured[f"stream, {num_actors} actors: {what}, cluster and here"] = [*there, *here]


def _rates(trained: Run, num_actors: int) -> tuple[float, float, float]:
    """Return decisions learned a second, the share of the time that the learner waits, and decisions per CPU-second.

    CPU time is that of learner, actors and gateways.
    Rounds count after the first one by whose end every actor has played: before, pods are starting.
    """
    playing: set[int] = set()
    timed: list[Entry] = []
    for entry in journal_of(trained, 1).entries:
        if len(playing) == num_actors and entry.round_seconds:
            timed.append(entry)
        playing |= set(entry.chunks_by_actor)
    seconds = sum(entry.round_seconds for entry in timed)
    learned = sum(entry.learned_decisions for entry in timed)
    result = _training_result(trained)
    return (
        round(learned / seconds, 1),
        round(sum(entry.waited_seconds for entry in timed) / seconds, 3),
        round(result.num_decisions / result.cpu_seconds, 1),
    )


def _training_result(trained: Run) -> TrainingResult:
    manifest = read_manifest(trained.store, 1, StepName.TRAIN, 0)
    return read_written(trained.store, manifest, TRAINING_RESULT, TrainingResult)


def _sum(counts: Iterable[dict[Any, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for each in counts:
        for name, number in each.items():
            total[str(name)] = total.get(str(name), 0) + number
    return total
