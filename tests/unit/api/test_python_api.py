"""``import nashdex``: runs as rows and frames, and battles."""

import re
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Any

import pytest

import nashdex
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.report.page.render import render_page
from nashdex.store import open_store
from nashdex_cli.cli import run_command_line
from support.made_runs import make_run, make_tabular_run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> nashdex.Run:
    store = make_run(str(tmp_path_factory.mktemp("store") / "made-run"), iterations=2)
    return nashdex.open_run(store.uri)


def test_importing_nashdex_loads_nothing_heavy() -> None:
    program = (
        "import nashdex, sys; print({'numpy', 'torch', 'pandas', 'scipy', 'pydantic', 'poke_env'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_every_promised_name_is_there() -> None:
    assert {*nashdex.__all__} <= {*dir(nashdex)}
    assert all(callable(getattr(nashdex, name)) for name in nashdex.__all__)
    with pytest.raises(AttributeError, match="no attribute 'opne_run'"):
        nashdex.opne_run  # type: ignore[attr-defined]  # noqa: B018 - the lookup is the test


def test_a_path_names_a_run(made: nashdex.Run) -> None:
    assert nashdex.open_run(Path(made.uri)).uri == made.uri


def _fail(_battles: int) -> None:
    pytest.fail("a battle was played")


@pytest.mark.parametrize("settings", [{"seed": -1}, {"num_gateways": 0}, {"battles": 1.5}, {"best_of": 0}])
def test_numbers_are_checked_before_a_battle(settings: dict[str, Any]) -> None:
    ((name, value),) = settings.items()
    with pytest.raises(ConfigurationError, match=f"{name} is {value}: expected a whole number, at least"):
        nashdex.battle("random", "first-action", format="kuhn_poker", on_battle=_fail, **settings)


def test_tables_fit_together(made: nashdex.Run) -> None:
    ids = [row.policy for row in made.policies]
    assert [row.policy for row in made.ratings] == ids
    elos = [row.elo for row in made.ratings]
    assert elos == sorted(elos, reverse=True)
    assert {row.policy for row in made.payoffs} == set(ids)
    assert {row.iteration for row in made.mixtures} == {0, 1}
    for iteration in (0, 1):
        assert sum(row.probability for row in made.mixtures if row.iteration == iteration) == pytest.approx(1)
    assert all(row.low <= row.value <= row.high for row in made.payoffs)
    assert made.exploitabilities
    assert made.curves


def test_battles_are_those_that_payoffs_count(made: nashdex.Run) -> None:
    counted = sum(
        row.wins + row.draws + row.losses
        for row in made.payoffs
        if row.wins is not None and row.draws is not None and row.losses is not None
    )
    assert counted == 2 * len(made.battles) > 0
    for policy in made.policies:
        assert policy.games == sum(policy.policy in (battle.first, battle.second) for battle in made.battles)


def test_a_frame_has_the_rows(made: nashdex.Run) -> None:
    frame = made.payoffs.frame()
    assert list(frame.itertuples(index=False, name=None)) == [tuple(row) for row in made.payoffs]
    assert list(frame.columns[:3]) == ["policy", "opponent", "value"]


@pytest.mark.parametrize("columns", ["elo", 3, ["eol"], [3]])
def test_a_frame_of_other_fields_is_refused(made: nashdex.Run, columns: Any) -> None:  # noqa: ANN401 - no fields
    with pytest.raises(ConfigurationError, match=r"columns (is|has) .*: expected"):
        made.ratings.frame(columns)
    assert list(made.ratings.frame(["elo"]).columns) == ["elo"]


def test_exact_payoffs_have_neither_counts_nor_battles(tmp_path: Path) -> None:
    store = open_store(str(tmp_path)).at("made-run")
    make_tabular_run(store, iterations=1, payoffs=((0.0, 1.0), (-1.0, 0.0)))
    run = nashdex.open_run(store.uri)
    assert len(run.battles) == 0
    assert run.battles.frame().empty
    assert all(row.wins is None and row.low == row.value == row.high for row in run.payoffs)


def test_a_battle_is_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    result = nashdex.battle("random", "first-action", format="kuhn_poker", battles=60, seed=3)
    arguments = ["--format", "kuhn_poker", "--p1", "random", "--p2", "first-action", "--battles", "60", "--seed", "3"]
    assert run_command_line(["battle", *arguments, "--json"]) == 0
    printed = type(result).model_validate_json(capsys.readouterr().out)
    assert printed.model_copy(update={"seconds": 0}) == result.model_copy(update={"seconds": 0})


@pytest.mark.parametrize(("wrong", "message"), [({"battles": 0}, "at least 1"), ({"best_of": 2}, "odd number")])
def test_wrong_numbers_are_refused(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        nashdex.battle("random", "random", format="kuhn_poker", **wrong)  # type: ignore[arg-type]


def test_no_run_and_no_report_are_data_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no run"):
        nashdex.open_run(str(tmp_path))


@pytest.mark.parametrize("name", ["meta-strategy", "exploitability"])
def test_a_picture_is_the_reports(made: nashdex.Run, name: str) -> None:
    picture = made.draw(name)
    (drawn,) = re.findall(r"<svg.*?</svg>", picture.html, re.DOTALL)
    assert drawn in render_page(made.report, {})
    assert escape(drawn) in picture._repr_html_()
    assert "src=" not in picture.html
    assert "url(" not in picture.html


def test_an_unknown_picture_is_refused(made: nashdex.Run) -> None:
    with pytest.raises(ConfigurationError, match="expected one of meta-strategy, exploitability"):
        made.draw("metastrategy")
