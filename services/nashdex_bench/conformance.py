"""Compares the accelerated simulator with the published one: runs ``services/showdown/bench/conformance``."""

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from pydantic import Field, NonNegativeInt, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.games.showdown.gateway import GatewaySettings, find_node

_EXIT_USAGE = 64
_STOP_SECONDS = 5.0


class FirstDifference(Model):
    """The first difference between the two simulators."""

    format: str
    battle: NonNegativeInt = Field(description="Number within its format, from 0.")
    plain: str = Field(description="Output of the published simulator around the difference.")
    accelerated: str = Field(description="Output of the accelerated one.")


class Conformance(Model):
    """Result of a comparison. A difference is a battle in which the two simulators' outputs differ."""

    formats: tuple[str, ...]
    battles: PositiveInt
    decisions: NonNegativeInt
    differences: NonNegativeInt
    first_difference: FirstDifference | None


def run_conformance(
    formats: Sequence[str] | None = None,
    *,
    battles: int = 300,
    seed: int = 1,
    on_battle: Callable[[str], None] = lambda _format: None,
) -> Conformance:
    """Play ``battles`` battles on the published and on the accelerated simulator, and compare their outputs.

    It compares every log line, request and random draw, and at intervals the whole state. ``formats`` are Showdown's,
    used in turn; by default those of the script, of all generations. ``on_battle`` is called with the format after each
    battle.

    Raises:
        ConfigurationError: a format is unknown, or this simulator cannot be accelerated.
        TryAgainError: the comparison did not finish.
    """
    settings = GatewaySettings()
    command = [find_node(settings), str(settings.directory / "bench" / "conformance" / "conformance.js")]
    command += ["--battles", str(battles), "--seed", str(seed)]
    command += ["--formats", ",".join(formats)] if formats else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            outcome = _follow(process.stdout, on_battle)
            words = process.stderr.read().strip()
            code = process.wait()
        except BaseException:
            process.terminate()
            process.wait(_STOP_SECONDS)
            raise
    if code == _EXIT_USAGE:
        raise ConfigurationError(words.splitlines()[-1].removeprefix("conformance: "))
    if outcome is None:
        raise TryAgainError(f"the comparison ended with {code}: {words}")
    return Conformance.model_validate(outcome)


def lines(result: Conformance) -> Iterator[str]:
    """Yield the result as text."""
    yield f"{result.battles:,} battles of {len(result.formats)} formats, {result.decisions:,} decisions"
    yield f"{result.differences:,} differ"


def _follow(lines: IO[str], on_battle: Callable[[str], None]) -> dict[str, Any] | None:
    """Report each battle, and return the last line's document; None if there is none."""
    for line in lines:
        document: dict[str, Any] = json.loads(line)
        if "differences" in document:
            return document
        on_battle(str(document["format"]))
    return None
