"""The words that CONTRIBUTING.md lists are nowhere: in help, settings, pages, docstrings, comments and errors."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nashdex.settings.run import RunSettings

pytestmark = pytest.mark.contract

ROOT = Path(__file__).parents[2]
TICS = re.compile(
    r"""
    \b(?:
        told | tells?\s+of
      | (?<!who[ ]beats[ ]) (?<!who[ ]plays[ ]) (?<!who[ ]played[ ]) (?<!who[ ]met[ ]) whom | whomever
      | anew
      | (?<!when[ ]it[ ]) c[oa]mes?\s+to(?!\s+(?:know|an\s+end))
      | stands?(?!\s+(?:for|in\s+for|out|up)\b|-) | stood
      | to\s+be\s+had
      | (?<!one[ ])of\s+which
      | so\s+(?:many|much)(?!\s+(?:that|smaller|larger|as))
      | (?:is|are)\s+made\s+of
      | as\s+it\s+comes
      | in\s+place\s+of
      | in\s+spite\s+of
      | (?:is|are)\s+(?:that|those)\s+of
    )\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
WORD_LIST = re.compile(r"^\| instead of \| write \|\n(?:\|.*\n)+", re.MULTILINE)
"""The table of CONTRIBUTING.md that names them."""
CHART = ROOT / "helm" / "nashdex"
PAGES = (
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "configs").glob("*.toml")),
    *(CHART / name for name in ("README.md", "values.yaml", "files/rules/nashdex.yaml", "templates/NOTES.txt")),
)


def found_in(text: str) -> list[str]:
    """Return each listed word with some context."""
    text = " ".join(text.split())
    return [text[max(0, match.start() - 40) : match.end() + 30] for match in TICS.finditer(text)]


def _prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments and strings of Python source, with their lines."""
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in kinds:
            yield token.start[0], token.string


def _descriptions(schema: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    if isinstance(schema, dict):
        if isinstance(schema.get("description"), str):
            yield schema["description"]
        for value in schema.values():
            yield from _descriptions(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _descriptions(value)


@pytest.mark.parametrize("page", [pytest.param(page, id=page.relative_to(ROOT).as_posix()) for page in PAGES])
def test_pages(page: Path) -> None:
    assert found_in(WORD_LIST.sub("", page.read_text(encoding="utf-8"))) == []


def test_descriptions_of_settings() -> None:
    texts = _descriptions(RunSettings.model_json_schema())
    assert [hit for text in texts for hit in found_in(text)] == []


PACKAGES = tuple(sorted(path.parent.name for path in (ROOT / "services").glob("nashdex*/__init__.py")))


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_messages_and_help(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {hit}"
        for path in sorted((ROOT / "services" / package).rglob("*.py"))
        for line, text in _prose(path.read_text(encoding="utf-8"))
        for hit in found_in(text)
    ]
    assert found == []


FRAGMENT = re.compile(r'^\s*(?:r|f)?"{1,3}\s*Of\s')
"""A docstring or description that begins with "Of": it does not say what it describes."""


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_name_what_they_describe(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text[:60]}"
        for path in sorted((ROOT / "services" / package).rglob("*.py"))
        for line, text in _prose(path.read_text(encoding="utf-8"))
        if FRAGMENT.match(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "It tells of runs.",
        "policies whom it beats",
        "stands beside it",
        "what it comes to",
        "nothing of which",
        "the interval is that of a pair",
    ],
)
def test_a_listed_word_is_found(text: str) -> None:
    assert found_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "PSRO stands for",
        "a standard error",
        "when it comes to",
        "so much smaller",
        "stand-in",
        "who beats whom",
        "the end of that of course",
    ],
)
def test_other_words_are_not(text: str) -> None:
    assert not found_in(text)
