"""The report of a tabular game: every payoff is exact, so it shows numbers without intervals and claims no battle."""

import re
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.local.summary import summarise
from nashdex.metagame.evidence.exact import ExactValues
from nashdex.report.document import Report
from nashdex.report.page.render import render_page
from nashdex.store import open_store
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore
from support.made_runs import ROCK_PAPER_SCISSORS, make_tabular_run

ITERATIONS = 4


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ObjectStore:
    store = open_store(str(tmp_path_factory.mktemp("store")))
    make_tabular_run(store, iterations=ITERATIONS, payoffs=ROCK_PAPER_SCISSORS)
    return store


def read_report(store: ObjectStore, iteration: int = ITERATIONS - 1) -> Report:
    return read_published(store, iteration, keys.REPORT, Report)


def test_payoffs_are_the_games_own(store: ObjectStore) -> None:
    report = read_report(store)
    matrix = read_published(store, ITERATIONS - 1, keys.INTERACTION_MATRIX, ExactValues)
    assert report.payoffs.cells is None
    assert report.payoffs.exact is not None
    place = [matrix.policies.index(policy) for policy in report.payoffs.policies]
    assert report.payoffs.exact == tuple(tuple(matrix.payoffs[i][j] for j in place) for i in place)
    assert report.payoffs.battles == 0
    assert all(row.ladder is None and row.games == 0 for row in report.policies)


def test_exact_exploitability_has_nash_conv_beside_it_and_no_interval(store: ObjectStore) -> None:
    row = read_report(store).iterations[-1]
    for estimate in row.exploitability:
        assert estimate.low == estimate.value == estimate.high, estimate.estimator
    (exact,) = [estimate for estimate in row.exploitability if estimate.estimator == "exact"]
    assert exact.value == pytest.approx(0.0, abs=1e-12)
    assert exact.nash_conv == pytest.approx(2 * exact.value)


@pytest.mark.parametrize(
    ("solver", "chosen"),
    [("nash", "is the one with the largest entropy"), ("rectified-nash", "follows from one of them")],
)
def test_a_mixture_of_many_says_how_it_was_chosen(tmp_path: Path, solver: str, chosen: str) -> None:
    store, twins = open_store(str(tmp_path)), ((0.0, 0.0, 1.0), (0.0, 0.0, 1.0), (-1.0, -1.0, 0.0))
    make_tabular_run(store, iterations=1, payoffs=twins, meta_solver=solver)
    assert f"The payoffs have many equilibria; the mixture {chosen}." in read_report(store, 0).warnings


def test_findings_are_true_of_a_solved_game(store: ObjectStore) -> None:
    report = read_report(store)
    assert "it is an equilibrium of the game" in report.findings[1]
    assert "again, so the population did not grow" in report.findings[2]
    assert report.progress is None
    assert report.anchor_scores == ()
    text = " ".join(report.findings)
    assert not any(word in text for word in ("interval", "Elo", "battles", "score"))


def test_findings_are_true_of_a_game_that_is_not_solved_yet(store: ObjectStore) -> None:
    report = read_report(store, 0)
    (exact,) = [e for e in report.iterations[0].exploitability if e.estimator == "exact"]
    assert exact.value > 0.04
    assert "so the mixture is not an equilibrium" in report.findings[1]
    assert "gains 0.2500 per game against it" in report.findings[2]


def test_the_mixture_is_worth_what_the_payoffs_say(store: ObjectStore) -> None:
    report = read_report(store)
    (anchor,) = report.anchor_payoffs
    assert anchor.opponent == "first-action"
    assert anchor.payoff == pytest.approx(0.0, abs=1e-12), "rock is in the equilibrium's support"


def test_the_cycle_is_pictured(store: ObjectStore) -> None:
    report = read_report(store)
    assert report.embedding is not None
    assert [point.policy for point in report.embedding.points] == [row.id for row in report.policies]
    assert report.embedding.share == pytest.approx(1.0)


def test_a_transitive_game_has_no_picture(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    strengths = (0.0, 1.0, 3.0)
    payoffs = tuple(tuple(one - other for other in strengths) for one in strengths)
    make_tabular_run(store, iterations=2, payoffs=payoffs)
    report = read_report(store, 1)
    assert report.embedding is None
    assert "The mixture so far" not in report.findings[0]


def test_the_page_speaks_of_no_battle_and_no_interval(store: ObjectStore) -> None:
    page = render_page(read_report(store), {})
    visible = page[page.index("<body>") : page.index('<script type="application/json"')]
    assert "payoffs computed exactly" in visible
    assert "95 %" not in visible.replace("\N{NO-BREAK SPACE}", " ")
    assert "NashConv" in visible
    assert "No battle was played" in visible


def test_the_summary_tells_payoffs_and_exact_exploitability(store: ObjectStore) -> None:
    text = summarise(store, 0)
    assert "payoffs computed exactly" in text
    assert "its payoffs     first-action +0.250" in text
    assert "exploitability  exact 0.0500 (NashConv 0.1000)" in text


def test_a_page_without_replays_may_load_nothing(store: ObjectStore) -> None:
    page = store.get(keys.published(ITERATIONS - 1, keys.REPORT_PAGE)).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
