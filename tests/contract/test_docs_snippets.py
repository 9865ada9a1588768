"""Commands, options, settings, chart values and make targets in README.md and the pages under docs are accepted."""

import re
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer import Context
from typer.core import TyperGroup
from typer.main import get_command

from nashdex.settings.external import FILE_VARIABLE, external_players
from nashdex.settings.loading import load_settings
from nashdex_cli.cli import app
from nashdex_lab.experiments.plan import read_plan
from support.snippets import PAGES, ROOT, Snippet, commands, snippets

pytestmark = pytest.mark.contract

SNIPPETS = [snippet for page in PAGES for snippet in snippets(page)]
OTHER_PROGRAMS = frozenset(
    {
        "argo",
        "aws",
        "base64",
        "cat",
        "cd",
        "cp",
        "curl",
        "docker",
        "echo",
        "export",
        "git",
        "kubectl",
        "mkdir",
        "node",
        "pip",
        "source",
    }
)


def _of(*languages: str) -> list[Any]:
    return [pytest.param(snippet, id=snippet.id) for snippet in SNIPPETS if snippet.language in languages]


@pytest.mark.parametrize("snippet", _of("bash", "sh"))
def test_commands_are_accepted(snippet: Snippet) -> None:
    for program, *arguments in commands(snippet.text):
        match program:
            case "nashdex":
                _parse(arguments)
            case "make":
                targets = re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
                assert {word for word in arguments if "=" not in word and not word.startswith("-")} <= set(targets)
            case "helm":
                _check_helm(arguments)
            case _:
                assert program in OTHER_PROGRAMS, f"{program} is not a program that the tests know"


MAKES_A_PACKAGE = {
    snippet.page for snippet in SNIPPETS if snippet.language == "toml" and "project" in tomllib.loads(snippet.text)
}
"""Pages whose settings need the package that the page makes: integration tests install it and run them."""


@pytest.mark.parametrize("snippet", _of("toml"))
def test_settings_are_accepted(snippet: Snippet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "hypothesis" in tomllib.loads(snippet.text):
        path = tmp_path / "experiment.toml"
        path.write_text(snippet.text, encoding="utf-8")
        assert read_plan(path).runs
    elif snippet.title == "players.toml":
        monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / snippet.title))
        (tmp_path / snippet.title).write_text(snippet.text, encoding="utf-8")
        assert external_players()
    elif snippet.page not in MAKES_A_PACKAGE:
        path = tmp_path / "settings.toml"
        path.write_text(snippet.text, encoding="utf-8")
        load_settings(path)


@pytest.mark.parametrize("snippet", _of("python"))
def test_python_compiles(snippet: Snippet) -> None:
    compile(snippet.text, snippet.id, "exec")


def _parse(arguments: list[str]) -> None:
    """Have the command's own parser read ``arguments``, without running it."""
    command = get_command(app)
    context = Context(command, info_name="nashdex")
    while isinstance(command, TyperGroup):
        if arguments[0].startswith("-"):
            command.make_parser(context).parse_args([arguments[0]])
            return
        inner = command.get_command(context, arguments[0])
        assert inner is not None, f"nashdex has no command {arguments[0]}"
        context = Context(inner, info_name=arguments[0], parent=context)
        command, arguments = inner, arguments[1:]
    if "--help" not in arguments:
        command.make_context(command.name or "", list(arguments), parent=context.parent)


def _check_helm(arguments: list[str]) -> None:
    for chart in (word for word in arguments if word.startswith("helm/")):
        assert (ROOT / chart / "Chart.yaml").exists()
    values = yaml.safe_load((ROOT / "helm" / "nashdex" / "values.yaml").read_text(encoding="utf-8"))
    for option, assignment in pairwise(arguments):
        if option == "--set":
            _check_value(values, assignment.partition("=")[0].split("."))


def _check_value(values: Any, path: list[str]) -> None:  # noqa: ANN401 - YAML
    for number, key in enumerate(path):
        if not values and isinstance(values, dict):  # labels and the like: any key
            return
        assert key in values, f"the chart has no value {'.'.join(path[: number + 1])}"
        values = values[key]


def test_every_page_that_teaches_has_commands_that_run() -> None:
    run_on = {snippet.page for snippet in SNIPPETS if snippet.is_run}
    assert {"README.md", "docs/tutorials/laptop.md"} <= run_on


def _strays() -> Iterator[str]:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found = sum(snippet.is_run for snippet in snippets(page))
        if len(re.findall(r"^ *<!-- run", text, re.MULTILINE)) != found:
            yield page.relative_to(ROOT).as_posix()


def test_every_mark_belongs_to_a_block() -> None:
    assert list(_strays()) == []
