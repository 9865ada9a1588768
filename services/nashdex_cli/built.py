"""Imported last by the server of warm children: what every step would else prepare for itself.

pydantic builds the schema of a document when the document is first used, and typer the parser of an argument.
Registries look for installed packages then, reports for versions, and ``re`` compiles a pattern. Each takes as long as
the work of a step of a small game, or a tenth of it. What is built here is in every child.
"""

import gc
from collections.abc import Iterator
from contextlib import suppress

from pydantic import BaseModel
from typer.core import TyperGroup

from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import policy_id
from nashdex.core.plugins import find_added
from nashdex.core.section import Section
from nashdex.report.assembly.iterations import own_versions
from nashdex.store.naming import parse_uri
from nashdex_cli.cli import command

_ARGUMENTS = ["plan", "--run=run", "--iteration=0", "--shard=0", "--stop-at-end-of-input"]


def build_documents() -> None:
    """Build the schema of every document and section that is imported so far and has none.

    One that cannot be built, because a package that it needs cannot be imported, is left to the step that uses it.
    """
    for model in unbuilt():
        with suppress(ConfigurationError):
            model.model_rebuild(raise_errors=False)


def unbuilt() -> list[type[BaseModel]]:
    """Return the documents and sections that are imported so far and have no schema, parts before what has them."""
    return [model for base in (Model, Section) for model in _below(base) if not model.__pydantic_complete__]


def _below(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield the classes under ``model`` in the order of their definition."""
    for each in model.__subclasses__():
        yield each
        yield from _below(each)


def build_parsers() -> None:
    """Build the parsers of a step's arguments, by parsing some."""
    command.make_context("nashdex", ["step"])
    assert isinstance(command, TyperGroup)
    command.commands["step"].make_context("step", _ARGUMENTS)


find_added()
build_documents()
build_parsers()
own_versions()
parse_uri("runs")
policy_id("random")
# Children share this process's memory until one writes to it; a collection would write to every object.
gc.collect()
gc.freeze()
