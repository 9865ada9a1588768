"""Printing what a benchmark measured."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from nashdex_cli.commands.output import print_answer, print_json

if TYPE_CHECKING:
    from pydantic import BaseModel

R = TypeVar("R", bound="BaseModel")


def print_measured(result: R, lines: Callable[[R], Iterable[str]], *, as_json: bool) -> None:
    """Print a result in the words of ``lines``, or as one JSON document with the machine on which it was measured."""
    if as_json:
        print_measured_json(result)
    else:
        print_answer(result, lines(result), as_json=False)


def print_measured_json(result: "BaseModel") -> None:
    """Print a result as one JSON document with the machine on which it was measured."""
    from nashdex_bench.machine import measured_machine

    print_json({**result.model_dump(mode="json"), "machine": measured_machine().model_dump(mode="json")})
