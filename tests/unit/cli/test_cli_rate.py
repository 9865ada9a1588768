"""``nashdex rate``: what it prints, and every kind of wrong file and anchor."""

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest

from nashdex.core import keys
from nashdex.core.steps import StepName
from nashdex.metagame.analysis.documents import MetaGameAnalysis, MetaStrategy
from nashdex.metagame.population import Population
from nashdex.report.document import Report
from nashdex.settings.solve import SolveSettings
from nashdex.store import open_store
from nashdex.store.attempt import Attempt
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore
from nashdex_cli import cli
from support.made_runs import made_settings, make_run, make_tabular_run

SIXTY = {
    "policies": ["strong", "weak"],
    "wins": [[0, 600_000], [400_000, 0]],
    "draws": [[0, 0], [0, 0]],
    "games": [[0, 1_000_000], [1_000_000, 0]],
}
CYCLE = {
    "policies": ["rock", "paper", "scissors", "new"],
    "wins": [[0, 60, 140, 0], [140, 0, 60, 0], [60, 140, 0, 3], [0, 0, 2, 0]],
    "draws": [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]],
    "games": [[0, 200, 200, 0], [200, 0, 200, 0], [200, 200, 0, 6], [0, 0, 6, 0]],
}


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps(SIXTY))
    return path


def _rated(ledger: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert cli.run_command_line(["rate", str(ledger), *options, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    document = json.loads(out)
    assert isinstance(document, dict)
    return document


def test_sixty_per_cent_are_seventy_elo(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rated = _rated(ledger, capsys, "--anchor", "weak=1200")
    strong = rated["ratings"]["strong"]
    assert strong["elo"] == pytest.approx(1270.4, abs=0.05)
    assert strong["low"] < strong["elo"] < strong["high"]
    assert strong["high"] - strong["elo"] == pytest.approx(1.96 * strong["standard_error"], rel=1e-3)
    assert rated["ratings"]["weak"] | {"elo": 1200.0, "standard_error": 0.0} == rated["ratings"]["weak"]
    assert rated["anchors"] == {"weak": 1200.0}
    # The penalty alone keeps the fit from being perfect.
    assert rated["intransitivity"] < 1e-6
    assert rated["warnings"] == []


def test_without_anchors_the_mean_is_1000(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings = _rated(ledger, capsys)["ratings"]
    assert ratings["strong"]["elo"] + ratings["weak"]["elo"] == pytest.approx(2000)


def test_a_cycle_with_a_newcomer(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pairs that have not met are no error, and the table says that its ratings mislead."""
    ledger.write_text(json.dumps(CYCLE))
    rated = _rated(ledger, capsys)
    assert rated["ratings"]["new"]["standard_error"] > 2 * rated["ratings"]["rock"]["standard_error"]
    assert rated["intransitivity"] > rated["intransitivity_by_chance"]
    assert "not transitive" in rated["warnings"][0]
    assert _rated(ledger, capsys) == rated


def test_the_table_for_people(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger.write_text(json.dumps(CYCLE | {"policies": ["rock", "paper", "[red]scissors", "new"]}))
    assert cli.run_command_line(["rate", str(ledger), "--anchor", "rock=1500", "--anchor", "new=-100.5"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    table, intransitive, rest = out.partition("intransitivity 0.")
    header, *rows = table.splitlines()
    assert header.split() == ["policy", "Elo", "standard", "error", "95", "%", "games"]
    elos = {row.split()[0]: int(row.split()[1]) for row in rows}
    assert list(elos.values()) == sorted(elos.values(), reverse=True)
    assert set(elos) == {"rock", "paper", "[red]scissors", "new"}
    assert next(row for row in rows if row.startswith("rock")).split() == ["rock", "1500", "anchor", "400"]
    assert intransitive
    assert "\nwarning: the payoff is not transitive" in rest


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"wins": [[0, 9], [4, 0]], "games": [[0, 6], [6, 0]]},
            "'strong' against 'weak': 9 wins, 0 draws and 4 losses",
        ),
        ({"wins": [[1, 600_000], [400_000, 0]]}, "'strong' is counted against itself"),
        ({"wins": [[0, 600_000.5], [399_999.5, 0]]}, "valid integer"),
        ({"wins": [[0, "600000"], [400_000, 0]]}, "valid integer"),
        ({"wins": [[0, -1], [400_000, 0]]}, "greater than or equal to 0"),
        ({"games": [[0, 1_000_000], [999_999, 0]]}, "expected the same number"),
        ({"draws": None}, "all of wins, draws and games"),
        ({"policies": ["a", "a"]}, "'a' is named twice"),
        ({"policies": ["a", "b", "c"]}, "2 rows for 3 policies"),
        ({"payoffs": [[0, 1], [-1, 0]]}, "payoffs does not go with counts"),
        ({"policies": [], "wins": [], "draws": [], "games": []}, "no policies"),
        ({"elo": 1}, "no such key"),
        ({"policies": ["a\x1b[31m", "b"]}, "'a\\x1b[31m' holds a control character"),
        ({"wins": [[0, 10**11], [0, 0]], "games": [[0, 10**11], [10**11, 0]]}, "more than 1,000,000,000 battles"),
    ],
)
def test_wrong_ledgers(
    change: dict[str, object], says: str, ledger: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ledger.write_text(json.dumps(SIXTY | change))
    assert cli.run_command_line(["rate", str(ledger)]) == 65
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert says in err
    assert str(ledger) in err
    assert list(tmp_path.iterdir()) == [ledger]


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"payoffs": [[0, 1], [-1, 0]]}'])
def test_files_without_counts(text: str, ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger.write_text(text)
    assert cli.run_command_line(["rate", str(ledger)]) == 65
    assert str(ledger) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("anchors", "code", "says"),
    [
        (["stranger=1000"], 65, "'stranger' is none of the rated policies ['strong', 'weak']"),
        (["weak"], 64, "expected a policy's id and its Elo"),
        (["=1000"], 64, "expected a policy's id and its Elo"),
        (["weak="], 64, "expected a policy's id and its Elo"),
        (["weak=much"], 64, "expected a policy's id and its Elo"),
        (["weak=nan"], 64, "expected a policy's id and its Elo"),
        (["weak=inf"], 64, "expected a policy's id and its Elo"),
        (["weak=1", "weak=2"], 64, "names 'weak' twice"),
    ],
)
def test_wrong_anchors(
    anchors: list[str], code: int, says: str, ledger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [part for anchor in anchors for part in ("--anchor", anchor)]
    assert cli.run_command_line(["rate", str(ledger), *options]) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert says in err


def test_an_id_may_hold_an_equals_sign(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger.write_text(json.dumps(SIXTY | {"policies": ["strong", "lr=3e-5"]}))
    assert _rated(ledger, capsys, "--anchor", "lr=3e-5=800")["anchors"] == {"lr=3e-5": 800.0}


def test_a_billion_wins_of_a_billion_are_rated_in_seconds(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger.write_text(json.dumps(SIXTY | {"wins": [[0, 10**9], [0, 0]], "games": [[0, 10**9], [10**9, 0]]}))
    began_seconds = time.process_time()
    ratings = _rated(ledger, capsys)["ratings"]
    assert time.process_time() - began_seconds < 3
    # Firth's penalty is half a drawn game more.
    gap = ratings["strong"]["elo"] - ratings["weak"]["elo"]
    assert gap == pytest.approx(400 * math.log10(2 * 10**9 + 1), rel=1e-3)


def test_a_run_is_rated_by_its_newest_counts(ledger: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "runs" / "demo"
    for iteration, counts in enumerate((CYCLE, SIXTY)):
        attempt = Attempt(open_store(str(run)), iteration, StepName.SOLVE, 0)
        attempt.publish(keys.INTERACTION_MATRIX, json.dumps(counts).encode())
        attempt.finish({})
    assert _rated(run, capsys) == _rated(ledger, capsys)
    assert cli.run_command_line(["solve", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["meta_strategy"] == {"strong": 1.0, "weak": 0.0}


def test_a_run_is_rated_and_solved_as_its_report_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = make_run(str(tmp_path / "run"), iterations=2)
    report = read_published(store, 1, keys.REPORT, Report)
    capsys.readouterr()
    ratings = _rated(tmp_path / "run", capsys)["ratings"]
    for policy in report.policies:
        rated = ratings[policy.id]
        assert (rated["elo"], rated["low"], rated["high"]) == (
            policy.rating.elo.value,
            policy.rating.elo.low,
            policy.rating.elo.high,
        )
    assert cli.run_command_line(["solve", store.uri, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    for policy in report.policies:
        interval = answer["uncertainty"]["meta_strategy"][policy.id]
        assert answer["meta_strategy"][policy.id] == pytest.approx(policy.probability.value, abs=1e-9)
        assert (interval["low"], interval["high"]) == pytest.approx(
            (policy.probability.low, policy.probability.high), abs=1e-9
        )
    assert _rated(tmp_path / "run", capsys, "--anchor", "random=1200")["ratings"]["random"]["elo"] == 1200


def _published(store: ObjectStore, iteration: int, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Check that ``nashdex solve`` prints the mixture and intervals that an iteration published; return its answer."""
    published = read_published(store, iteration, keys.META_STRATEGY, MetaStrategy)
    capsys.readouterr()
    assert cli.run_command_line(["solve", store.uri, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["meta_strategy"] == pytest.approx(published.meta_strategy, abs=1e-9)
    for policy, interval in (answer["uncertainty"] or {"meta_strategy": {}})["meta_strategy"].items():
        expected = published.intervals[policy]
        assert (interval["low"], interval["high"]) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert isinstance(answer, dict)
    return answer


def test_a_run_with_pairs_that_have_not_met_is_solved_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = made_settings(iterations=3, battles_per_pair=8, evaluate={"num_opponents": 3})
    settings = made.model_copy(update={"solve": SolveSettings(num_draws=100, unplayed="bradley-terry")})
    store = make_run(str(tmp_path / "run"), iterations=3, settings=settings)
    analysis = read_published(store, 2, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    answer = _published(store, 2, capsys)
    assert [tuple(cell) for cell in answer["imputed_cells"]] == list(analysis.imputed_cells) != []
    restricted, found = analysis.exploitability.restricted, answer["uncertainty"]["restricted_exploitability"]
    if restricted is None:
        assert (answer["restricted_exploitability"], found, answer["uncertainty"]["largest_gain"]) == (None, None, None)
    else:
        assert (found["low"], found["high"]) == pytest.approx((restricted.low, restricted.high), abs=1e-9)
    assert cli.run_command_line(["solve", store.uri]) == 0
    assert ("a policy of the mixture has not met all others" in capsys.readouterr().out) == (restricted is None)


@pytest.mark.parametrize("solver", ["uniform", "last"])
def test_a_policy_that_training_found_again_counts_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], solver: str
) -> None:
    """Fictitious play: a best response that is found in several iterations has as many places."""
    store, payoffs = open_store(str(tmp_path / "run")), ((0.0, -1.0, -2.0), (1.0, 0.0, -1.0), (2.0, 1.0, 0.0))
    make_tabular_run(store, iterations=4, payoffs=payoffs, meta_solver=solver)
    population = read_published(store, 3, keys.POPULATION, Population)
    assert len(population.history) > len(population.ids)
    _published(store, 3, capsys)


def test_a_tabular_run_has_ratings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = open_store(str(tmp_path / "run"))
    make_tabular_run(store, iterations=2, payoffs=((0.0, -1.0, 2.0), (1.0, 0.0, -1.0), (-2.0, 1.0, 0.0)))
    report = read_published(store, 1, keys.REPORT, Report)
    capsys.readouterr()
    ratings = _rated(tmp_path / "run", capsys)["ratings"]
    assert {policy.id: policy.rating.elo.value for policy in report.policies} == {
        policy: rated["elo"] for policy, rated in ratings.items()
    }
