"""What is exported of a run is what its documents say."""

import json
from pathlib import Path
from typing import Any

import pytest

from nashdex.core import keys
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.report import step as report_step
from nashdex.report.document import Report
from nashdex.store import open_store
from nashdex.store.protocol import ObjectStore
from nashdex_cluster.exporter.watch import iteration_facts
from support.made_runs import made_settings, make_iteration, make_tabular_run

Facts = dict[tuple[str, ...], float]


def documents(store: ObjectStore, iteration: int) -> tuple[dict[str, Any], MetaGameAnalysis]:
    report = json.loads(store.get(keys.published(iteration, keys.REPORT)))
    analysis = store.get(keys.published(iteration, keys.META_GAME_ANALYSIS))
    return report, MetaGameAnalysis.from_json(analysis, "analysis")


def facts_of(report: dict[str, Any], analysis: MetaGameAnalysis) -> Facts:
    facts = list(iteration_facts(Report.model_validate(report), analysis))
    for fact in facts:
        assert fact.metric.kind == "gauge"
        assert fact.labels.keys() == set(fact.metric.labels)
    found = {(fact.metric.name, *fact.labels.values()): fact.value for fact in facts}
    assert len(found) == len(facts)
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], MetaGameAnalysis]:
    store = open_store(str(tmp_path_factory.mktemp("store"))).at("made-run")
    settings = made_settings(iterations=3)
    for iteration in range(3):
        make_iteration(store, settings, iteration)
        report_step.run(store, settings, iteration, 0)
    return documents(store, 2)


def test_facts_are_the_newest_iterations(made: tuple[dict[str, Any], MetaGameAnalysis]) -> None:
    report, analysis = made
    facts, newest = facts_of(report, analysis), report["iterations"][-1]
    assert facts["nashdex_iterations",] == facts["nashdex_planned_iterations",] == 3
    assert facts["nashdex_population_size",] == len(report["policies"]) == 6
    assert facts["nashdex_meta_strategy_entropy_nats",] == newest["entropy"]["value"]
    assert facts["nashdex_payoff_interval_width_ratio",] == analysis.interval_widths.largest
    assert facts["nashdex_iteration_battles", "collect"] == newest["collection"]["throughput"]["battles"] > 0
    assert facts["nashdex_iteration_battles", "evaluate"] == newest["evaluation"]["battles"] > 0
    assert facts["nashdex_iteration_step_seconds", "train"] == newest["training"][0]["seconds"]
    assert analysis.exploitability.best_response_gap is not None
    gap = analysis.exploitability.best_response_gap
    assert facts["nashdex_exploitability", "best_response_gap", "low"] == gap.low
    assert facts["nashdex_exploitability", "best_response_gap", "value"] == gap.value
    assert facts["nashdex_progress_elo", "high"] == report["progress"]["elo"]["high"]


def test_policies_have_their_own_share_and_rating(made: tuple[dict[str, Any], MetaGameAnalysis]) -> None:
    report, analysis = made
    facts = facts_of(report, analysis)
    for row in report["policies"]:
        assert facts["nashdex_policy_meta_strategy_ratio", row["id"]] == row["probability"]["value"]
        assert facts["nashdex_policy_elo", row["id"]] == row["rating"]["elo"]["value"]
    assert facts["nashdex_other_policies",] == facts["nashdex_other_policies_meta_strategy_ratio",] == 0


def test_what_the_whole_run_used_is_the_sum_over_its_iterations(
    made: tuple[dict[str, Any], MetaGameAnalysis],
) -> None:
    report, analysis = made
    facts, rows = facts_of(report, analysis), report["iterations"]
    used = [row["collection"]["throughput"]["cpu_seconds"] for row in rows]
    assert facts["nashdex_run_cpu_seconds", "collect"] == pytest.approx(sum(used))
    assert sum(used) > used[-1]
    assert facts["nashdex_run_cpu_seconds", "evaluate"] == pytest.approx(
        sum(row["evaluation"]["cpu_seconds"] for row in rows)
    )
    trained = [step["cpu_seconds"] for row in rows for step in row["steps"] if step["step"] == "train"]
    assert len(trained) == 3
    assert facts["nashdex_run_cpu_seconds", "train"] == pytest.approx(sum(trained))
    assert facts["nashdex_run_gpu_seconds", "train"] == 0


def test_what_the_use_bought_is_what_the_report_says(made: tuple[dict[str, Any], MetaGameAnalysis]) -> None:
    report, analysis = made
    facts, cost = facts_of(report, analysis), report["cost"]
    shares = {labels[0]: value for (name, *labels), value in facts.items() if name.endswith("step_share_ratio")}
    assert sum(shares.values()) == pytest.approx(1)
    assert max(shares, key=lambda step: shares[step]) == cost["bottleneck"]
    gained = report | {"cost": cost | {"gained_elo": 120.0, "lowered_exploitability": 0.25}}
    assert facts_of(gained, analysis)["nashdex_gained_elo",] == 120.0
    assert facts_of(gained, analysis)["nashdex_lowered_exploitability",] == 0.25
    lost = report | {"cost": cost | {"gained_elo": None, "lowered_exploitability": None}}
    assert not {"nashdex_gained_elo", "nashdex_lowered_exploitability"} & {
        name for name, *_ in facts_of(lost, analysis)
    }


@pytest.mark.parametrize(
    ("gaps", "since"), [([0.2], 0), ([0.2, 0.1], 0), ([0.1, 0.2], 1), ([0.3, 0.1, 0.2, 0.15], 2), ([0.0, 0.1, 0.0], 0)]
)
def test_iterations_are_counted_since_the_gap_was_lowest(
    made: tuple[dict[str, Any], MetaGameAnalysis], gaps: list[float], since: int
) -> None:
    report, analysis = made
    # A clone's iteration has no gap, and does not count.
    first, newest = report["iterations"][0], report["iterations"][-1]
    assert "best_response_gap" not in {e["estimator"] for e in first["exploitability"]}
    estimate = next(e for e in newest["exploitability"] if e["estimator"] == "best_response_gap")
    rows = [newest | {"exploitability": [estimate | {"value": g, "low": g, "high": g}]} for g in gaps]
    facts = facts_of(report | {"iterations": [first, *rows]}, analysis)
    assert facts["nashdex_iterations_since_lowest_exploitability", "best_response_gap"] == since


def test_a_tabular_run_has_its_exact_exploitability(tmp_path: Path) -> None:
    store = open_store(str(tmp_path)).at("made-run")
    settings = make_tabular_run(store, iterations=2, payoffs=((0.0, -1.0, 1.0), (1.0, 0.0, -1.0), (-1.0, 1.0, 0.0)))
    for iteration in range(2):
        report_step.run(store, settings, iteration, 0)
    facts = facts_of(*documents(store, 1))
    assert facts["nashdex_nash_conv",] == pytest.approx(2 * facts["nashdex_exploitability", "exact", "value"])
    assert ("nashdex_progress_elo", "value") not in facts
