"""The surface of a run's settings: how many keys there are, that each has a meaning, and what reading them imports.

A key is counted once by its dotted place, whatever kind declares it: ``network.hidden_size`` is one key although two
networks have it, and ``train.first`` has no keys that ``train.oracle`` does not have.
"""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from nashdex.core.section import KIND, Needs, OneOf, Section
from nashdex.settings.run import RunSettings

LARGEST_DEFAULT_SURFACE = 100
LARGEST_SURFACE = 134

Place = tuple[str, type[BaseModel], str, FieldInfo]


def fields(section: type[BaseModel], place: str = "", *, all_kinds: bool = True) -> Iterator[Place]:
    """Yield each leaf as its dotted place, section, name and field; with ``all_kinds``, those of each kind."""
    for name, field in section.model_fields.items():
        key = f"{place}{name}"
        choice = next((each for each in field.metadata if isinstance(each, OneOf)), None)
        if choice is not None:
            yield f"{key}.{KIND}", section, name, field
            default = type(field.get_default(call_default_factory=True))
            for one in choice.sections() if all_kinds else (default,):
                yield from (each for each in fields(one, f"{key}.", all_kinds=all_kinds) if each[2] != KIND)
        elif isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from fields(field.annotation, f"{key}.", all_kinds=all_kinds)
        else:
            yield key, section, name, field


def test_the_surface_is_small() -> None:
    default = {place for place, *_ in fields(RunSettings, all_kinds=False)}
    whole = {place.replace("train.first.", "train.oracle.") for place, *_ in fields(RunSettings)}
    print(f"{len(default)} keys with the default kinds, {len(whole)} with those of every kind")  # noqa: T201 - `pytest -s` shows the numbers
    assert len(default) <= LARGEST_DEFAULT_SURFACE
    assert len(whole) <= LARGEST_SURFACE


def test_every_key_says_what_it_means() -> None:
    assert [place for place, _, name, field in fields(RunSettings) if not field.description and name != KIND] == []


def test_every_need_names_a_field_of_its_section() -> None:
    for place, section, _, field in fields(RunSettings):
        for need in (each for each in field.metadata if isinstance(each, Needs)):
            assert need.key in section.model_fields, place


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("from nashdex.settings.run import RunSettings; RunSettings()", ["numpy", "scipy", "torch"]),
        ("from nashdex_cli.cli import main; main(['--help'])", ["numpy", "scipy", "torch", "pydantic"]),
    ],
    ids=["settings", "help"],
)
def test_reading_settings_and_help_import_nothing_heavy(code: str, absent: list[str]) -> None:
    script = (
        f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\nassert not {set(absent)} & sys.modules.keys()"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
