"""The notebook of examples: its cells run from the first to the last on a small run."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nashdex_cli.cli import run_command_line

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[2]
NOTEBOOK = json.loads((ROOT / "examples" / "read_a_run.ipynb").read_text(encoding="utf-8"))


def _cells() -> Iterator[str]:
    for cell in NOTEBOOK["cells"]:
        if cell["cell_type"] == "code":
            yield "".join(cell["source"])


def test_the_notebook_is_stored_without_outputs() -> None:
    code = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert (NOTEBOOK["nbformat"], len(code) > 0) == (4, True)
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_the_notebook_imports_what_is_there() -> None:
    imports: list[ast.stmt] = [
        node for cell in _cells() for node in ast.parse(cell).body if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert imports
    exec(compile(ast.Module(imports, []), "imports", "exec"), {})  # noqa: S102 - the notebook is the project's own


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["run", str(ROOT / "configs" / "kuhn.toml"), "--store", "runs", "--run", "kuhn", "--set", "iterations=2"]
    assert run_command_line(command) == 0
    capsys.readouterr()
    shown = []
    space: dict[str, object] = {}
    for cell in _cells():
        # As Jupyter does: a cell shows its last line, if that is an expression.
        *before, last = cell.rstrip("\n").split("\n")
        exec("\n".join(before), space)  # noqa: S102 - the notebook is the project's own
        try:
            expression = compile(last, "cell", "eval")
        except SyntaxError:
            exec(last, space)  # noqa: S102
        else:
            shown.append(eval(expression, space))  # noqa: S307
    pictures = [one._repr_html_() for one in shown if type(one).__name__ == "Picture"]
    assert len(pictures) == 2
    assert all("&lt;svg" in picture for picture in pictures)
    assert sum(shown[-1].values()) == pytest.approx(1.0)
    assert "95 % interval" in capsys.readouterr().out
