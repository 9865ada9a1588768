"""The documentation lists every meta-solver in the words of its own file."""

from pathlib import Path

import pytest

from nashdex.metagame.solvers.registry import META_SOLVERS

pytestmark = pytest.mark.contract

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "explanation" / "meta-solvers.md"


@pytest.mark.parametrize("name", META_SOLVERS.names)
def test_every_meta_solver_is_documented(name: str) -> None:
    solver = META_SOLVERS[name]
    settings = ", ".join(f"`{key}`" for key in solver.parameters) or "none"
    row = f"| `{name}` | {solver.summary} | {solver.promise} | {settings} |"
    assert row in DOCUMENTATION.read_text(encoding="utf-8").splitlines()
