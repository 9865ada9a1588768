"""Which runs the exporter tells of, and what it makes of a store that is away or holds nonsense."""

import shutil
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import RunId
from nashdex.exporter.exposition import FactCollector
from nashdex.exporter.watch import Watch
from nashdex.report import step as report_step
from nashdex.runs.creation import PreparedRun, create_run
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.protocol import ObjectStore
from support.made_runs import made_settings, make_iteration

DAY_SECONDS = 86_400.0
SETTINGS = made_settings(iterations=3)


class Clock:
    """Time that passes only when a test advances it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def begin(root: Path, run: str = "made-run") -> ObjectStore:
    settings: RunSettings = SETTINGS.model_copy(update={"run": RunId(run)})
    return create_run(str(root), PreparedRun(settings, {})).store


def report(store: ObjectStore, iteration: int) -> None:
    make_iteration(store, SETTINGS, iteration)
    report_step.run(store, SETTINGS, iteration, 0)


def scanned(watch: Watch) -> dict[str, dict[str, float]]:
    """Scan; return the unlabelled facts by run."""
    watch.scan()
    return {run.run: {fact.metric.name: fact.value for fact in run.facts if not fact.labels} for run in watch.active()}


def test_a_run_is_followed_from_its_beginning_report_by_report(tmp_path: Path) -> None:
    watch = Watch(open_store(str(tmp_path)), DAY_SECONDS)
    assert scanned(watch) == {}
    store = begin(tmp_path)
    assert scanned(watch) == {"made-run": {"nashdex_iterations": 0, "nashdex_planned_iterations": 3}}
    for iteration in range(2):
        report(store, iteration)
        facts = scanned(watch)["made-run"]
        assert facts["nashdex_iterations"] == iteration + 1
        assert facts["nashdex_population_size"] == 4 + iteration
    late = Watch(open_store(str(tmp_path)), DAY_SECONDS)
    assert scanned(late)["made-run"] == facts


def test_a_run_of_which_nothing_new_is_seen_is_told_of_no_more_until_it_goes_on(tmp_path: Path) -> None:
    clock = Clock()
    watch = Watch(open_store(str(tmp_path)), DAY_SECONDS, clock)
    store = begin(tmp_path)
    assert scanned(watch)
    clock.now += DAY_SECONDS
    assert scanned(watch) == {}
    report(store, 0)
    assert scanned(watch)["made-run"]["nashdex_iterations"] == 1


def test_a_run_that_is_deleted_is_forgotten(tmp_path: Path) -> None:
    watch = Watch(open_store(str(tmp_path)), DAY_SECONDS)
    begin(tmp_path)
    begin(tmp_path, "other-run")
    assert set(scanned(watch)) == {"made-run", "other-run"}
    shutil.rmtree(tmp_path / "other-run")
    assert set(scanned(watch)) == {"made-run"}


def test_what_cannot_be_read_is_counted_and_the_rest_is_told(tmp_path: Path) -> None:
    watch = Watch(open_store(str(tmp_path)), DAY_SECONDS)
    store = begin(tmp_path)
    begin(tmp_path, "other-run")
    store.put(keys.published(0, keys.REPORT), b"{}")
    assert set(scanned(watch)) == {"made-run", "other-run"}
    assert watch.num_unreadable == 1
    assert scanned(watch)["made-run"]["nashdex_iterations"] == 0
    (tmp_path / "made-run" / keys.published(0, keys.REPORT)).unlink()
    report(store, 0)
    assert scanned(watch)["made-run"]["nashdex_iterations"] == 1
    assert watch.num_unreadable == 0


def test_folders_that_are_no_runs_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "Not a run").mkdir()
    (tmp_path / "trajectories").mkdir()
    begin(tmp_path)
    watch = Watch(open_store(str(tmp_path)), DAY_SECONDS)
    assert set(scanned(watch)) == {"made-run"}
    assert watch.num_unreadable == 0


def test_what_was_known_stays_while_the_store_refuses(tmp_path: Path) -> None:
    root = tmp_path / "store"
    watch = Watch(open_store(str(root)), DAY_SECONDS)
    begin(root)
    known = scanned(watch)
    root.rename(tmp_path / "away")
    root.write_text("a file where the store was")
    with pytest.raises(ConfigurationError):
        watch.scan()
    assert {run.run for run in watch.active()} == set(known)


def test_facts_carry_the_labels_of_their_run_and_leave_with_it(tmp_path: Path) -> None:
    store = begin(tmp_path)
    report(store, 0)
    watch = Watch(open_store(str(tmp_path)), DAY_SECONDS)
    watch.scan()
    collector, registry = FactCollector(), CollectorRegistry()
    registry.register(collector)
    collector.runs = watch.active()
    of_the_run = {"run": "made-run", "component": "exporter", "format": "gen1ou"}
    assert registry.get_sample_value("nashdex_iterations", of_the_run) == 1
    collected = {**of_the_run, "step": "collect"}
    assert registry.get_sample_value("nashdex_iteration_battles", collected) == SETTINGS.collect.battles
    collector.runs = ()
    assert list(registry.collect()) == []
