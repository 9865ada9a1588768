"""Fenced code blocks of README.md and the pages under docs, and how a test runs them.

A comment before a block says that a test runs it, and with which small settings::

    <!-- run: NASHDEX_ITERATIONS=1 --battles 4 -->

A Python block runs in an interpreter of its own, any other block in a shell. Assignments go to the environment. Options
are appended to the block's ``nashdex`` commands, where they win over those that the page shows.
"""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))

_BLOCK = re.compile(
    r"^(?: *<!-- (?P<run>run)(?:: (?P<how>[^>]*))? -->\n)?"
    r'^(?P<indent> *)```(?P<language>\w+)(?: title="(?P<title>[^"\n]+)")?[^\n]*\n(?P<text>.*?)^(?P=indent)```$',
    re.MULTILINE | re.DOTALL,
)
_ASSIGNMENT = re.compile(r"[A-Z_]+=\S*")
_OPERATORS = frozenset({"&", "&&", "|", "||", ";"})
_LINKED = (
    "configs",
    "helm",
    "images",
    "scripts",
    "services",
    ".venv",
    "Makefile",
    "pyproject.toml",
    "requirements",
    "tests",
)
# Running a page must not set up the environment that runs it.
_PREAMBLE = """
set -euo pipefail
made=(-o .venv/.current -o services/showdown/node_modules/.current -o services/page/node_modules/.current)
make() { command make "${made[@]}" "$@"; }
"""


@dataclass(frozen=True)
class Snippet:
    """One fenced block."""

    page: str
    """Relative to the repository."""
    line: int
    language: str
    text: str
    title: str | None
    """The name of the file that the block is."""
    is_run: bool
    environment: dict[str, str]
    """Set while it is run."""
    options: str
    """Appended to its ``nashdex`` commands while it is run."""

    @property
    def id(self) -> str:
        """Where it is, as an editor opens it."""
        return f"{self.page}:{self.line}"


def snippets(page: Path) -> Iterator[Snippet]:
    """Yield the fenced blocks of a page that name a language."""
    text = page.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        words = shlex.split(match["how"] or "")
        environment = dict(word.split("=", 1) for word in words if _ASSIGNMENT.fullmatch(word))
        indent = match["indent"]
        yield Snippet(
            page=page.relative_to(ROOT).as_posix(),
            line=text.count("\n", 0, match.start("language")) + 1,
            language=match["language"],
            text="".join(line.removeprefix(indent) for line in match["text"].splitlines(keepends=True)),
            title=match["title"],
            is_run=match["run"] is not None,
            environment=environment,
            options=shlex.join(word for word in words if not _ASSIGNMENT.fullmatch(word)),
        )


def commands(script: str) -> Iterator[list[str]]:
    """Yield the words of each simple command of a shell script, without assignments, redirections and prompts."""
    for line in script.replace("\\\n", " ").splitlines():
        words = list(takewhile(lambda word: not word.startswith("#"), shlex.split(line)))
        command: list[str] = []
        for word in [*words, ";"]:
            if word in _OPERATORS:
                if command and not _ASSIGNMENT.match(command[0]):
                    yield command
                command = []
            else:
                command.append(word)


def prepare(folder: Path) -> None:
    """Make ``folder`` look like a checkout that is set up."""
    for name in _LINKED:
        (folder / name).symlink_to(ROOT / name)


def run(snippet: Snippet, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a snippet in ``folder`` with its small settings; return how it ended, both outputs in stdout."""
    text = re.sub(r"(?m)^nashdex .*$", rf"\g<0> {snippet.options}", snippet.text) if snippet.options else snippet.text
    path = f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    interpreter = ["python", "-W", "ignore", "-c", text]
    return subprocess.run(
        interpreter if snippet.language == "python" else ["/bin/bash", "-c", _PREAMBLE + text],
        cwd=folder,
        env=os.environ | snippet.environment | {"PATH": path},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1200,
    )
