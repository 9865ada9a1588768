"""The report of a large population: the rows that matter, all pairs in a part, older curves in older reports."""

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from nashdex.api import runs as api
from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import RunId
from nashdex.core.steps import StepName
from nashdex.metagame.evidence import large
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.report import step as report_step
from nashdex.report.assembly import report as assembly
from nashdex.report.cells import PayoffCells
from nashdex.report.document import Report
from nashdex.report.page import render
from nashdex.report.sources import newest_report, read_iteration, read_manifests
from nashdex.report.step import write_page
from nashdex.runs.creation import Run
from nashdex.runs.differences import difference
from nashdex.store import open_store
from nashdex.store.attempt import read_manifest
from nashdex.store.documents import read_published, read_written
from nashdex.store.protocol import ObjectStore
from support.made_runs import (
    ROCK_PAPER_SCISSORS,
    finish_iteration,
    made_settings,
    make_iteration,
    make_tabular_run,
    trained_policy,
)

NEWEST = 2


@pytest.fixture
def lists_four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "MOST_LISTED", 4)


@pytest.fixture
def store(tmp_path: Path, lists_four: None) -> ObjectStore:
    """A run of three iterations and six policies, two more than its reports list."""
    del lists_four
    store, settings = open_store(str(tmp_path / "made-run")), made_settings(iterations=NEWEST + 1, battles_per_pair=8)
    for iteration in range(settings.iterations):
        make_iteration(store, settings, iteration)
        finish_iteration(store, settings, iteration)
    return store


def _opened(store: ObjectStore) -> api.Run:
    return api.Run(Run(RunId("made-run"), store, made_settings(iterations=NEWEST + 1)))


def test_the_report_has_the_rows_that_matter(store: ObjectStore) -> None:
    report = read_published(store, NEWEST, keys.REPORT, Report)
    matrix = read_published(store, NEWEST, keys.INTERACTION_MATRIX, InteractionMatrix)
    assert (len(report.policies), len(report.payoffs.policies), report.payoffs.num_omitted) == (6, 4, 2)
    assert isinstance(matrix, SampledCounts)
    assert report.payoffs.battles == int(matrix.tally.games.sum()) // 2, "of all policies"
    assert report.trained is not None
    assert report.trained.policy in report.payoffs.policies
    assert {replay.iteration for replay in report.replays} == {NEWEST}
    page = store.get(keys.published(NEWEST, keys.REPORT_PAGE)).decode()
    assert "2 more policies have no row" in page
    assert 'id="report-json"' not in page
    assert "script-src 'unsafe-inline' 'self' file:" in page
    assert "content-visibility" in page, "only what is in view has a layout"


@pytest.mark.usefixtures("lists_four")
def test_the_policy_that_the_newest_training_began_with_has_a_row(tmp_path: Path) -> None:
    """It is not the run's first network where an iteration trains several policies, and may be the weakest of all."""
    store, settings = open_store(str(tmp_path / "made-run")), made_settings(iterations=NEWEST + 1, battles_per_pair=8)
    for iteration in range(settings.iterations):
        make_iteration(store, settings, iteration, elo={trained_policy(1): -800.0})
        finish_iteration(store, settings, iteration)
    sources = read_iteration(store, read_manifests(store, settings, NEWEST))
    parents = {trained_policy(1): None, trained_policy(2): trained_policy(1)}
    entries = [
        entry.model_copy(update={"parent": parents.get(entry.id)}) if entry.id in parents else entry
        for entry in sources.population.policies
    ]
    changed = replace(sources, population=sources.population.model_copy(update={"policies": tuple(entries)}))
    rows = read_published(store, NEWEST, keys.REPORT, Report).iterations
    report = assembly.assemble(RunId("made-run"), settings, changed, rows=rows, replays=())
    assert report.trained is not None
    assert report.trained.base == trained_policy(1) == report.policies[-1].id
    assert {score.opponent for score in report.trained.base_scores} <= set(report.payoffs.policies)
    assert report.trained.base_scores


def test_a_part_has_the_cells_that_a_whole_report_has(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts = list(_opened(store).payoffs)
    assert len(in_parts) == 6 * 5
    for iteration in range(NEWEST + 1):
        (tmp_path / "made-run" / keys.manifest(iteration, StepName.REPORT, 0)).unlink()
    monkeypatch.setattr(large, "MOST_LISTED", 64)
    for iteration in range(NEWEST + 1):
        report_step.run(store, made_settings(iterations=NEWEST + 1, battles_per_pair=8), iteration, 0)
    assert keys.REPORT_CELLS not in newest_report(store).objects
    whole = list(_opened(store).payoffs)
    for part, cell in zip(in_parts, whole, strict=True):
        assert part[:2] == cell[:2]
        assert part[2:] == pytest.approx(cell[2:], abs=1e-6)


@pytest.mark.usefixtures("lists_four")
def test_exact_payoffs_are_a_part_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "MOST_LISTED", 2)
    store = open_store(str(tmp_path))
    make_tabular_run(store, iterations=3, payoffs=ROCK_PAPER_SCISSORS)
    matrix = read_published(store, 2, keys.INTERACTION_MATRIX, InteractionMatrix)
    report = read_published(store, 2, keys.REPORT, Report)
    cells = read_published(store, 2, keys.REPORT_CELLS, PayoffCells)
    assert len(report.payoffs.policies) == 2 < len(cells.policies)
    payoffs = matrix.restricted_to(cells.policies).model_dump()["payoffs"]
    for i, j in permutations(range(len(cells.policies)), 2):
        assert cells.payoff(i, j) == payoffs[i][j]


def test_an_exported_page_holds_all_parts(store: ObjectStore, tmp_path: Path) -> None:
    write_page(store, tmp_path / "exported.html")
    page = (tmp_path / "exported.html").read_text()
    held = page.partition('id="report-cells">')[2].partition("</script>")[0]
    part = read_published(store, NEWEST, keys.REPORT_CELLS, PayoffCells)
    assert json.loads(held) == part.model_dump(mode="json")
    assert 'id="report-json"' in page
    assert "'self' file:" not in page


def test_an_altered_part_differs_and_a_page_s_script_is_needed(store: ObjectStore) -> None:
    stored = store.get(keys.published(NEWEST, keys.REPORT_CELLS))
    assert difference(stored, stored, keys.REPORT_CELLS) is None
    part = PayoffCells.from_json(stored, "part")
    altered = part.model_copy(update={"wins": (part.wins[0] + 1, *part.wins[1:])}).to_json()
    found = difference(altered, stored, keys.REPORT_CELLS)
    assert found is not None
    assert found.startswith("wins[0] is")
    assert difference(b"{}", stored, keys.REPORT_CELLS) is not None
    with pytest.raises(DataError, match="is no script of payoffs: expected reportCells"):
        PayoffCells.from_json(b"{}", "part")


def test_a_part_that_lacks_a_pair_is_refused(store: ObjectStore) -> None:
    part = read_published(store, NEWEST, keys.REPORT_CELLS, PayoffCells)
    short = part.model_copy(update={"low": part.low[1:]}).to_json()
    with pytest.raises(DataError, match="do not hold each pair of 6 policies once"):
        PayoffCells.from_json(short, "part")


def test_curves_of_older_iterations_are_in_their_own_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "NUM_DRAWN_ITERATIONS", 2)
    monkeypatch.setattr(api, "NUM_DRAWN_ITERATIONS", 2)
    store, settings = open_store(str(tmp_path / "made-run")), made_settings(iterations=4, battles_per_pair=8)
    for iteration in range(settings.iterations):
        make_iteration(store, settings, iteration)
        finish_iteration(store, settings, iteration)
    report = read_written(store, read_manifest(store, 3, StepName.REPORT, 0), keys.REPORT, Report)
    assert [bool(row.training[0].curves) for row in report.iterations] == [False, False, True, True]
    assert [bool(row.training[0].evaluations) for row in report.iterations] == [False, False, True, True]
    curves = api.Run(Run(RunId("made-run"), store, settings)).curves
    assert {row.iteration for row in curves} == {0, 1, 2, 3}
    assert len({(row.iteration, row.name, row.update) for row in curves}) == len(curves)


def test_a_page_draws_the_curves_of_the_newest_trainings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store, settings = open_store(str(tmp_path / "made-run")), made_settings(iterations=4, battles_per_pair=8)
    for iteration in range(settings.iterations):
        make_iteration(store, settings, iteration)
        finish_iteration(store, settings, iteration)
    report = read_published(store, 3, keys.REPORT, Report)
    monkeypatch.setattr(render, "_MOST_DRAWN_TRAININGS", 2 * settings.train.seeds)
    page = render.render_page(report, {})
    drawn = [number for number in range(4) if f"<summary><strong>Iteration {number}</strong>" in page]
    assert drawn == [2, 3]
    assert 'href="../0001/report.html">iteration 1</a>' in page
