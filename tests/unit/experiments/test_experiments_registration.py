"""What is registered is kept with its hash before the first run, and cannot change after it."""

import json
from pathlib import Path
from typing import Any

import pytest

from nashdex.core.errors import DataError
from nashdex_cli.cli import run_command_line
from nashdex_lab.experiments.places import ThisMachine
from nashdex_lab.experiments.plan import read_plan
from nashdex_lab.experiments.records import Results, Status, read_results
from nashdex_lab.experiments.running import ExperimentOptions, begin, prepare
from support.experiments import BASE, PLAN

PAGE, RESULTS = Path("plan.md"), Path("plan.results.json")


@pytest.fixture(autouse=True)
def _in_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("base.toml").write_text(BASE)
    Path("plan.toml").write_text(PLAN)


def begun() -> Results:
    """Return the results as ``nashdex experiment run`` begins them."""
    plan = read_plan(Path("plan.toml"))
    return begin(plan, ExperimentOptions(ThisMachine("runs"), Path(), lambda _: None), prepare(plan))


def with_first_run(**values: object) -> Results:
    """Return the results after the first run has begun, and write them."""
    results = begun()
    first = results.runs[0].model_copy(update={"status": Status.RUNNING, "began": "2026-01-01T00:00:00Z", **values})
    RESULTS.write_bytes(results.with_record(first).to_json())
    return results


def test_a_registration_is_written_before_anything_runs_and_every_record_carries_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command_line(["experiment", "register", "plan.toml", "--json"]) == 0
    registration = json.loads(capsys.readouterr().out)
    results = read_results(RESULTS)
    assert results is not None
    assert results.runs == ()
    assert not registration["is_after_runs"]
    content = registration["content"]
    assert content["budgets"] == {"base": 1500, "still": 1500}, "decisions"
    written = content["plan"]
    assert written["verdict"] == {"kind": "difference", "control": "base"}
    assert (written["seeds"], {*written["arms"]}) == ([1], {"base", "still"})
    assert {record.registration for record in begun().runs} == {registration["digest"]}
    assert run_command_line(["experiment", "report", "plan.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["registration"]["digest"] == registration["digest"]
    assert f"**Registered before the first run**, {registration['registered']}" in PAGE.read_text()
    assert registration["digest"][:16] in PAGE.read_text()


CHANGES = [
    ("seeds = [1]", "seeds = [1, 2]", "seeds"),
    ("learns nothing", "learns much", "hypothesis"),
    ('control = "base"', 'control = "base", level = 0.1', "verdict.level"),
    ('control = "base"', 'control = "still"', "verdict.control"),
    ("battles = 40", "battles = 80", "measure.battles"),
    ("1e-9", "1e-8", "arms.still.settings.train.oracle.learning_rate"),
    ('name = "still"', 'name = "still"\nplays = "mixture"', "arms.still.plays"),
    ('[[arms]]\nname = "still"', '[[arms]]\nname = "more"\n[[arms]]\nname = "still"', "arms.more.plays"),
]


@pytest.mark.parametrize(("old", "new", "named"), CHANGES)
@pytest.mark.parametrize("command", ["run", "report", "register"])
def test_after_the_first_run_a_change_is_refused_in_one_line_that_names_it(
    command: str, old: str, new: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    registration = with_first_run().registration
    assert registration is not None
    before = RESULTS.read_bytes()
    assert old in PLAN
    Path("plan.toml").write_text(PLAN.replace(old, new))
    assert run_command_line(["experiment", command, "plan.toml"]) == 64
    since = f"registration {registration.digest[:16]} of {registration.registered}"
    assert capsys.readouterr().err == (
        f"error: plan.toml: changed since {since}: {named}; "
        "restore what is registered, or copy the file under another name and register that as a new experiment\n"
    )
    assert RESULTS.read_bytes() == before
    assert not PAGE.exists()


def test_a_changed_base_is_refused_after_the_first_run(capsys: pytest.CaptureFixture[str]) -> None:
    with_first_run()
    Path("base.toml").write_text(BASE.replace("battles = 300", "battles = 200"))
    assert run_command_line(["experiment", "run", "plan.toml"]) == 64
    error = capsys.readouterr().err
    assert (
        "the settings of run plan-base-1, the settings of run plan-still-1; restore base.toml and the version" in error
    )


def test_what_is_not_registered_may_change() -> None:
    before = with_first_run().registration
    text = PLAN.replace(
        "arms_at_once = 2", 'arms_at_once = 1\nfollow_ups = ["More."]\ninvalid = { "base/1" = "a fault" }'
    )
    assert text != PLAN
    Path("plan.toml").write_text(text)
    assert begun().registration == before
    assert run_command_line(["experiment", "report", "plan.toml"]) == 0


def test_before_the_first_run_a_change_is_registered_again() -> None:
    first = begun().registration
    assert begun().registration == first, "unchanged"
    Path("plan.toml").write_text(PLAN.replace("seeds = [1]", "seeds = [1, 2]"))
    second = begun()
    assert second.registration is not None
    assert first is not None
    assert second.registration.digest != first.digest
    assert {record.registration for record in second.runs} == {second.registration.digest}
    assert not second.registration.is_after_runs


def test_results_of_before_registrations_are_read_and_registered_as_after_the_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with_first_run(settings="0ld5e771")
    stored: dict[str, Any] = json.loads(RESULTS.read_bytes())
    del stored["registration"]
    for record in stored["runs"]:
        del record["registration"]
    RESULTS.write_text(json.dumps(stored | {"rule": "07a9e142e9ed454d"}))
    assert run_command_line(["experiment", "report", "plan.toml"]) == 0
    assert "**Not registered**" in PAGE.read_text()
    assert run_command_line(["experiment", "register", "plan.toml"]) == 0
    assert "after runs had begun" in capsys.readouterr().out
    results = read_results(RESULTS)
    assert results is not None
    assert results.registration is not None
    assert results.registration.is_after_runs
    assert results.registration.content.run_settings["plan-base-1"] == "0ld5e771", "what the run had"
    assert results.runs[0].registration == ""
    assert run_command_line(["experiment", "report", "plan.toml"]) == 0
    assert "**Registered after the runs**" in PAGE.read_text()


def test_an_altered_registration_is_refused() -> None:
    begun()
    RESULTS.write_text(RESULTS.read_text().replace("learns nothing", "learns much"))
    with pytest.raises(DataError, match="the registration was altered"):
        read_results(RESULTS)
    assert run_command_line(["experiment", "report", "plan.toml"]) == 65
