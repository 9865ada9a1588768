"""The few lines that sum up an iteration."""

import re
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import RunId
from nashdex.local.runner import logs_folder, report_address
from nashdex.local.summary import summarise
from nashdex.metagame.evidence.estimates import cell_intervals
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.report import step as report_step
from nashdex.runs.creation import Run
from nashdex.settings.opponents import LeagueSettings
from nashdex.store import open_store
from support.made_runs import made_settings, make_iteration, trained_policy


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run of two iterations with their reports."""
    store = open_store(str(tmp_path_factory.mktemp("runs") / "made-run"))
    settings = made_settings(iterations=2)
    for iteration in range(2):
        make_iteration(store, settings, iteration)
        report_step.run(store, settings, iteration, 0)
    return Run(RunId("made-run"), store, settings)


def test_names_the_new_policy_and_its_scores_against_the_anchors(run: Run) -> None:
    lines = summarise(run.store, 1).splitlines()
    assert lines[0].startswith("iteration 1 (2 of 2): 60 battles collected, 160 evaluated, ")
    matrix = SampledCounts.from_json(run.store.get(keys.published(1, keys.INTERACTION_MATRIX)), "matrix")
    new, opponent = matrix.policies.index(matrix.policies[-1]), matrix.policies.index("random")
    score = matrix.wins[new][opponent] + matrix.draws[new][opponent] / 2
    low, high = (ends[new, opponent] for ends in cell_intervals(matrix.tally))
    assert "best response 1" in lines[1]
    assert f"random {score / 40:.2f} [{low:.2f}, {high:.2f}]" in lines[2]
    assert lines[2].count(" · ") >= 2
    assert re.search(r"best response   gap -?0\.\d\d \[-?0\.\d\d, 0\.\d\d\]", lines[3])
    assert lines[4].startswith("  meta-strategy   ")


def test_the_first_iteration_has_no_gap(run: Run) -> None:
    assert "no gap: the first policy answers no meta-strategy" in summarise(run.store, 0)


def test_an_iteration_whose_policy_the_gate_rejected_says_that_nobody_is_new(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    settings = made_settings(iterations=2, gated=True)
    for iteration in range(2):
        make_iteration(store, settings, iteration, elo={trained_policy(1): 100.0})
    report_step.run(store, settings, 1, 0)
    text = summarise(store, 1)
    assert f"gate            {trained_policy(1)} rejected: 4 won, 0 drawn, 20 lost against its parent" in text
    assert "best response   no gap: no policy joined the population" in text
    assert "new policy" not in text


def test_a_league_says_that_its_opponents_were_not_the_meta_strategy(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    settings = made_settings(iterations=2).model_copy(update={"opponents": LeagueSettings()})
    for iteration in range(2):
        make_iteration(store, settings, iteration)
    report_step.run(store, settings, 1, 0)
    assert "no gap: training was against a league, not against the meta-strategy" in summarise(store, 1)


def test_an_iteration_without_a_report_is_refused(run: Run) -> None:
    with pytest.raises(DataError, match="report has not finished shard 0 of iteration 2"):
        summarise(run.store, 2)


def test_the_reports_address_opens_in_a_browser_and_logs_lie_in_the_run(run: Run) -> None:
    address = report_address(run, 1)
    assert address.startswith("file:///")
    assert Path(address.removeprefix("file://")).is_file()
    assert logs_folder(run) == Path(run.store.uri) / "logs"


def test_a_run_elsewhere_keeps_its_logs_in_the_users_state(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    elsewhere = Run(run.id, open_store("s3://bucket/prefix/made-run"), run.settings)
    assert logs_folder(elsewhere) == tmp_path / "nashdex" / "made-run" / "logs"
    assert report_address(elsewhere, 0).startswith("s3://bucket/prefix/made-run/iterations/0000/report.html ")
