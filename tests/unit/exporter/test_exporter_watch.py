"""Which runs the exporter follows, at what cost, and what it does with a store that is away or holds nonsense."""

import json
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.core.ids import RunId
from nashdex.report import step as report_step
from nashdex.runs.creation import PreparedRun, create_run
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.protocol import ObjectStore
from nashdex.store.verdict import Phase, record_end, reopen
from nashdex_cluster.exporter.service import FactCollector
from nashdex_cluster.exporter.watch import Watch
from support.made_runs import copy_reports, made_settings, make_iteration
from support.memory_store import MemoryStore

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


def test_a_run_without_news_is_no_longer_exported_until_it_continues(tmp_path: Path) -> None:
    clock = Clock()
    watch = Watch(open_store(str(tmp_path)), DAY_SECONDS, clock)
    store = begin(tmp_path)
    assert scanned(watch)
    clock.now += DAY_SECONDS
    assert scanned(watch) == {}
    report(store, 0)
    for _ in range(20):
        watch.scan()
    assert scanned(watch)["made-run"]["nashdex_iterations"] == 1


def test_a_run_that_is_deleted_is_forgotten(tmp_path: Path) -> None:
    watch = Watch(open_store(str(tmp_path)), DAY_SECONDS)
    begin(tmp_path)
    begin(tmp_path, "other-run")
    assert set(scanned(watch)) == {"made-run", "other-run"}
    shutil.rmtree(tmp_path / "other-run")
    assert set(scanned(watch)) == {"made-run"}


@pytest.mark.parametrize("num_reports", [2, 3])
def test_a_run_that_is_deleted_and_begun_again_between_two_scans_is_followed_from_its_beginning(
    tmp_path: Path, num_reports: int
) -> None:
    watch = Watch(open_store(str(tmp_path)), DAY_SECONDS)
    store = begin(tmp_path)
    for iteration in range(num_reports):
        report(store, iteration)
    assert scanned(watch)["made-run"]["nashdex_iterations"] == num_reports
    shutil.rmtree(tmp_path / "made-run")
    report(begin(tmp_path), 0)
    for _ in range(20):
        watch.scan()
    assert scanned(watch)["made-run"]["nashdex_iterations"] == 1
    assert phase(watch) == "running"


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


def grow_to(store: ObjectStore, num_policies: int) -> None:
    """Let the report of iteration 0 list more policies, the mixture of all of them being even."""
    key = keys.published(0, keys.REPORT)
    document = json.loads(store.get(key))
    row = document["policies"][0]
    document["policies"] = [
        row
        | {
            "id": f"p{number:016x}",
            "probability": {"value": 1 / num_policies, "low": 0, "high": 1},
            "rating": row["rating"] | {"elo": {"value": number, "low": number, "high": number}},
        }
        for number in range(num_policies)
    ]
    store.put(key, json.dumps(document).encode())


def test_a_league_of_a_thousand_has_as_many_series_as_a_small_one(tmp_path: Path) -> None:
    def samples(num_policies: int, own: int) -> dict[tuple[str, ...], float]:
        store = begin(tmp_path / str(num_policies) / str(own))
        report(store, 0)
        grow_to(store, num_policies)
        watch = Watch(open_store(store.uri.removesuffix("/made-run")), DAY_SECONDS, num_policies=own)
        watch.scan()
        collector = FactCollector()
        collector.runs = watch.active()
        found = [sample for family in collector.collect() for sample in family.samples]
        labels = ("policy", "statistic", "step", "phase", "bound", "estimator")
        return {
            (each.name, *(each.labels[name] for name in labels if name in each.labels)): each.value for each in found
        }

    small, league, none = samples(30, 20), samples(1000, 20), samples(1000, 0)
    assert len(league) == len(small) == len(none) + 2 * 20
    assert league["nashdex_policy_elo", f"p{999:016x}"] == 999, "among equal shares those with the highest ratings"
    assert ("nashdex_policy_elo", f"p{979:016x}") not in league
    assert league["nashdex_other_policies",] == 980
    assert league["nashdex_other_policies_meta_strategy_ratio",] == pytest.approx(0.98)
    others = [league["nashdex_other_policies_elo", name] for name in ("lowest", "median", "highest")]
    assert others == [0, 489.5, 979]


def phase(watch: Watch, run: str = "made-run") -> str:
    """Scan; return the phase that is exported as 1."""
    watch.scan()
    (facts,) = (found.facts for found in watch.active() if found.run == run)
    phases = {fact.labels["phase"]: fact.value for fact in facts if fact.metric.name == "nashdex_run_phase"}
    assert phases.keys() == set(Phase)
    (current,) = (name for name, value in phases.items() if value)
    return current


def test_the_phase_follows_the_verdict(tmp_path: Path) -> None:
    watch = Watch(open_store(str(tmp_path)), DAY_SECONDS)
    store = begin(tmp_path)
    assert phase(watch) == "running"
    record_end(store, Phase.STOPPED, 0, "stopped by a signal")
    assert phase(watch) == "stopped"
    assert phase(Watch(open_store(str(tmp_path)), DAY_SECONDS)) == "stopped"
    reopen(store)
    assert phase(watch) == "running"
    for iteration in range(3):
        report(store, iteration)
    assert phase(watch) == "succeeded"
    record_end(store, Phase.FAILED, 2, "a late exit handler")
    assert phase(watch) == "succeeded"


def test_a_run_that_ended_long_ago_is_not_active_after_a_restart(tmp_path: Path) -> None:
    store = begin(tmp_path)
    record_end(store, Phase.FAILED, 0, "no GPU")
    unix_time = Clock()
    unix_time.now = 4e9
    watch = Watch(open_store(str(tmp_path)), DAY_SECONDS, unix_time=unix_time)
    assert scanned(watch) == {}
    reopen(store)
    for _ in range(20):
        watch.scan()
    assert "made-run" in scanned(watch)


def test_the_first_look_at_a_run_costs_the_same_however_many_reports_it_has(tmp_path: Path) -> None:
    requests: Counter[str] = Counter()
    store = begin(tmp_path)
    report(store, 0)
    copy_reports(store, 60)
    (tmp_path / "made-run" / "iterations" / "0060" / "plan").mkdir(parents=True)
    settings = (tmp_path / "made-run" / keys.CONFIG).read_text().replace('"iterations": 3', '"iterations": 500')
    (tmp_path / "made-run" / keys.CONFIG).write_text(settings)

    watch = Watch(open_store(str(tmp_path), lambda name, *_: requests.update([name])), DAY_SECONDS)
    beats: list[None] = []
    watch.scan(lambda: beats.append(None))
    assert len(beats) == 1
    # Lists the runs and the run's iterations; reads verdict, config, report and analysis.
    assert requests == {"list": 2, "get": 4, "exists": 3}
    requests.clear()
    watch.scan()
    assert requests == {"list": 1, "exists": 1, "get": 1}


def test_every_run_beats_so_that_a_long_scan_counts_as_progress(tmp_path: Path) -> None:
    for run in ("one", "two", "three"):
        begin(tmp_path, run)
    (tmp_path / "two" / keys.CONFIG).write_text("[]")
    beats: list[None] = []
    Watch(open_store(str(tmp_path)), DAY_SECONDS).scan(lambda: beats.append(None))
    assert len(beats) == 3


@pytest.mark.parametrize(
    ("key", "content"),
    [
        ("iterations/9999999999/x", b""),
        ("iterations/9998/x", b""),
        ("iterations/٣/x", b""),
        ("config.json", b'{"format": "gen1ou", "iterations": ' + b"1" * 400 + b"}"),
        ("config.json", b'{"format": "gen1ou", "iterations": 1e18}'),
        ("config.json", b'{"format": "' + b"x" * 200 + b'", "iterations": 3}'),
        ("config.json", b" " * (2 << 20)),
        ("verdict.json", b'{"ended_timestamp_seconds": 1e400}'),
        ("verdict.json", b"["),
        ("iterations/0002/report.json", b"[" * 100_000),
        ("manifest.json/x", b""),
        ("iterations", b"a file where a folder was"),
    ],
)
def test_a_hostile_run_neither_stops_nor_delays_the_others(tmp_path: Path, key: str, content: bytes) -> None:
    begin(tmp_path, "other-run")
    begin(tmp_path)
    path = tmp_path / "made-run" / key
    if path.parent.is_file():
        path.parent.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    watch = Watch(open_store(str(tmp_path)), DAY_SECONDS)
    began_seconds = time.process_time()
    assert "other-run" in scanned(watch)
    assert time.process_time() - began_seconds < 2
    collector, registry = FactCollector(), CollectorRegistry()
    registry.register(collector)
    collector.runs = watch.active()
    assert b'run="other-run"' in generate_latest(registry)


@pytest.mark.parametrize("number", [10**18, 10**400, "1e300"])
def test_a_number_that_no_gauge_shows_is_refused_before_a_scrape(tmp_path: Path, number: object) -> None:
    store = begin(tmp_path)
    report(store, 0)
    key = tmp_path / "made-run" / keys.published(0, keys.REPORT)
    changed = json.loads(key.read_text())
    changed["planned_iterations"] = "PLANNED"
    changed["iterations"][0]["collection"]["throughput"]["seconds"] = "PLANNED"
    key.write_text(json.dumps(changed).replace('"PLANNED"', str(number)))
    watch = Watch(open_store(str(tmp_path)), DAY_SECONDS)
    assert set(scanned(watch)) == {"made-run"}
    assert watch.num_unreadable == (number != 10**18)


def test_a_run_that_cannot_be_reached_does_not_hide_the_others(tmp_path: Path) -> None:
    away = {"b-run"}

    class Away(MemoryStore):
        def get(self, key: str, max_bytes: int | None = None) -> bytes:
            if any(self.uri.endswith(f"{run}/") for run in away):
                raise TryAgainError(f"{self.uri}/{key} cannot be reached")
            return super().get(key, max_bytes)

        def at(self, prefix: str) -> "Away":
            return Away(self.objects, super().at(prefix).uri.removeprefix("memory:/"))

    for run in ("a-run", "b-run", "c-run", "d-run"):
        begin(tmp_path, run)
    store = Away({str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*.json")})
    watch = Watch(store, DAY_SECONDS)
    assert set(scanned(watch)) == {"a-run", "c-run", "d-run"}
    assert watch.num_unreadable == 1
    away |= {"a-run", "c-run", "d-run"}
    with pytest.raises(TryAgainError):
        Watch(store, DAY_SECONDS).scan()
