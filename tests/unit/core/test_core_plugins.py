"""Registries: what nashdex ships, what installed packages add, and what is refused."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import ValidationError

from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError
from nashdex.core.plugins import Registry
from nashdex.core.section import Kinds, NameOf, OneOf, Section
from support.packages import install

GROUP = "nashdex.shapes"


class Circle(Section):
    kind: Literal["circle"] = "circle"
    radius: float = 1.0


class Square(Section):
    kind: Literal["square"] = "square"
    side: float = 2.0


@dataclass(frozen=True)
class Shape:
    settings: type[Section]


CIRCLE, SQUARE = Shape(Circle), Shape(Square)
HERE = __name__


def shapes() -> Registry[Shape]:
    return Registry(GROUP, "shape", Shape, {"circle": f"{HERE}:CIRCLE", "square": f"{HERE}:SQUARE"})


def kinds() -> Kinds:
    return Kinds(GROUP, "shape", Circle, Square)


class Drawing(Section):
    shape: Annotated[Section, OneOf(kinds(), "circle")] = Circle()


@pytest.mark.parametrize(
    ("given", "section"),
    [
        ("square", Square()),
        ({"kind": "square", "side": 3}, Square(side=3)),
        ({"radius": 5}, Circle(radius=5)),
    ],
)
def test_a_section_is_chosen_by_kind_by_bare_name_or_by_default(given: object, section: Section) -> None:
    assert Drawing.model_validate({"shape": given}).shape == section


@pytest.mark.parametrize("given", ["triangle", {"kind": "circle", "side": 3}, {"side": 3}])
def test_an_unknown_kind_or_key_is_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        Drawing.model_validate({"shape": given})


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("triangle", "shape: unknown shape 'triangle'; expected one of circle, square"),
        ({"kind": "square", "size": 3}, "shape.size: no such key (got 3)"),
        ({"kind": "square", "side": "wide"}, "shape.side: expected a number"),
        (3, "shape: expected a table of keys and values (got 3)"),
    ],
)
def test_a_problem_is_named_by_its_key_in_the_settings(given: object, problem: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Drawing.model_validate({"shape": given})
    assert describe_problems(refused.value).startswith(problem)


class Named(Section):
    shape: Annotated[str, NameOf(shapes())] = "circle"


def test_a_name_is_one_of_the_registry() -> None:
    assert Named(shape="square").shape == "square"
    with pytest.raises(ValidationError, match="Input should be 'circle' or 'square'"):
        Named.model_validate({"shape": "triangle"})


def test_a_section_survives_json() -> None:
    drawing = Drawing(shape=Square(side=4))
    assert Drawing.model_validate_json(drawing.model_dump_json()) == drawing


def test_the_json_schema_lists_every_section() -> None:
    assert Drawing.model_json_schema()["properties"]["shape"]["discriminator"]["mapping"].keys() == {"circle", "square"}


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="unknown shape 'triangle': expected one of circle, square"):
        shapes()["triangle"]


TOY = f"""
from pathlib import Path
from {HERE} import Shape, Square
TRIANGLE = Shape(Square)
NUMBER = 3
"""


def provide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: dict[str, str]) -> None:
    site = install(tmp_path / "site", "toy-shapes", {"toy_shapes.py": TOY, "broken.py": "1 / 0"}, {GROUP: entries})
    monkeypatch.syspath_prepend(site)


def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **entries: str) -> Registry[Shape]:
    provide(tmp_path, monkeypatch, entries)
    return shapes()


def test_an_installed_package_adds_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = added(tmp_path, monkeypatch, triangle="toy_shapes:TRIANGLE")
    assert registry.names == ("circle", "square", "triangle")
    assert registry["triangle"].settings is Square


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"circle": "toy_shapes:TRIANGLE"}, "the packages nashdex and toy-shapes both provide the shape 'circle'"),
        ({"triangle": "broken:X"}, "of the package toy-shapes cannot be imported: ZeroDivisionError"),
        ({"triangle": "toy_shapes:NOTHING"}, "of the package toy-shapes cannot be imported: AttributeError"),
        ({"triangle": "toy_shapes:NUMBER"}, "is a int; expected a .*Shape"),
    ],
)
def test_a_package_that_does_not_fit_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        added(tmp_path, monkeypatch, **entries)[next(iter(entries))]


def test_a_broken_package_does_not_hinder_the_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = added(tmp_path, monkeypatch, triangle="broken:X")
    assert "triangle" in registry.names
    assert registry["circle"] is CIRCLE


def test_a_package_adds_its_section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provide(tmp_path, monkeypatch, {"triangle": "toy_shapes:TRIANGLE"})
    expected: dict[str, type[Section]] = {"circle": Circle, "square": Square, "triangle": Square}
    assert kinds().all() == expected


def test_an_entry_without_a_section_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provide(tmp_path, monkeypatch, {"triangle": "toy_shapes:NUMBER"})
    with pytest.raises(ConfigurationError, match="'triangle' of the package toy-shapes has no section of settings"):
        kinds().all()


def test_names_and_implementations_agree() -> None:
    with pytest.raises(AssertionError, match="each shape"):
        Registry.of(kinds(), Shape, {"circle": f"{HERE}:CIRCLE"})
