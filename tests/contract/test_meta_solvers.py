"""Settings, command line and documentation know the same meta-solvers, with the same defaults."""

from pathlib import Path
from typing import get_args

import pytest

from nashdex.commands.solve import META_SOLVER_NAMES
from nashdex.metagame.solvers.registry import META_SOLVERS, SolverParameters
from nashdex.metagame.solvers.settings import SolveSettings
from nashdex.solver.step import solver_parameters

pytestmark = pytest.mark.contract

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "metagame.md"


def test_a_run_can_name_every_meta_solver() -> None:
    assert set(get_args(SolveSettings.model_fields["meta_solver"].annotation)) == META_SOLVERS.keys()


def test_a_run_has_the_defaults_of_the_command_line() -> None:
    assert solver_parameters(SolveSettings()) == SolverParameters()


def test_help_names_every_meta_solver() -> None:
    assert list(META_SOLVERS) == list(META_SOLVER_NAMES)


@pytest.mark.parametrize("name", META_SOLVERS)
def test_every_meta_solver_is_documented(name: str) -> None:
    assert f"\n| `{name}` |" in DOCUMENTATION.read_text(encoding="utf-8")
