"""Settings that are accepted are accepted to the end: no step refuses what the run began with."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nashdex.core.section import Section
from nashdex.core.steps import StepName
from nashdex.metagame.solvers.registry import META_SOLVERS
from nashdex.planning.dag import iteration_steps, step_function
from nashdex.settings.run import RunSettings
from nashdex_cli.cli import run_command_line
from support.kuhn import SMALLEST_RUN
from support.memory_store import MemoryStore
from support.ranges import ends

MOST = 10_000
"""Of a whole number, so that no test counts to a billion."""


def extremes(section: type[Section]) -> Iterator[dict[str, float]]:
    """Yield settings with one number at an end of its range."""
    for name, field in section.model_fields.items():
        yield from ({name: end} for end in ends(field, most=MOST))


CASES = [
    ({"kind": kind} | values)
    for kind, solver in META_SOLVERS.all().items()
    for values in ({}, *extremes(solver.settings))
]


@pytest.fixture(scope="module")
def unsolved() -> dict[str, bytes]:
    """Return a run before its first solve step."""
    store, settings = MemoryStore(), RunSettings.model_validate(SMALLEST_RUN)
    for step in iteration_steps(settings):
        if step.name is StepName.SOLVE:
            break
        step_function(step.name)(store, settings, 0, 0)
    return store.objects


@pytest.mark.parametrize("meta_solver", CASES, ids=str)
def test_what_is_accepted_is_solved(meta_solver: dict[str, Any], unsolved: dict[str, bytes]) -> None:
    """Each meta-solver, at each end of the range of each of its settings."""
    if meta_solver["kind"] == "fixed":
        pytest.skip("its weights name policies")
    settings = RunSettings.model_validate(SMALLEST_RUN | {"solve": {"num_draws": 100, "meta_solver": meta_solver}})
    step_function(StepName.SOLVE)(MemoryStore(dict(unsolved)), settings, 0, 0)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('format = "gen1randombattle"\n[collect]\nbattles = 1', "collect.battles is 1"),
        ('format = "gen1randombattle"\n[train]\ndevice = "cuda"', "no CUDA device"),
        (
            'format = "gen1randombattle"\n[collect]\ndevice = "cuda"',
            "collect.device is 'cuda', and torch finds no CUDA",
        ),
        ('format = "gen1randombattle"\n[train.trackers]\nwandb_project = "x"', "the package wandb is not installed"),
        ('format = "gen1randombattle"\n[arena]\ndeadline_seconds = 1e-6', "arena.deadline_seconds"),
        ("[solve.meta_solver]\nkind = 'alpha-rank'\nalpha = 0", "alpha"),
        ("[solve.meta_solver]\nkind = 'recency'\ntemperature = -1", "temperature"),
    ],
)
def test_what_would_be_refused_later_is_refused_before_the_first_battle(
    line: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    (tmp_path / "c.toml").write_text(f"{line}\n")
    assert run_command_line(["run", str(tmp_path / "c.toml"), "--store", str(tmp_path / "store")]) == 64
    assert says in capsys.readouterr().err
    assert not (tmp_path / "store").exists()


def test_a_run_named_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.toml").write_text('format = "kuhn_poker"\n')
    command = ["run", str(tmp_path / "c.toml"), "--store", str(tmp_path / "store"), "--run", "one", "--set", "run=two"]
    assert run_command_line(command) == 64
    assert "--run 'one' and --set run=… both name the run; leave one out" in capsys.readouterr().err
    assert not (tmp_path / "store").exists()
