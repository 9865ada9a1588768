"""Whether the sped-up simulator plays the same battles: runs ``services/showdown/bench/conformance``."""

import json
import subprocess
from collections.abc import Callable, Sequence
from typing import IO, Any

from pydantic import Field, NonNegativeInt, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.games.showdown.gateway import GatewaySettings, find_node

_EXIT_USAGE = 64
_STOP_SECONDS = 5.0


class FirstDifference(Model):
    """Where the two simulators parted for the first time."""

    format: str
    battle: NonNegativeInt = Field(description="Number within its format, from 0.")
    plain: str = Field(description="What the simulator says as published, around the difference.")
    accelerated: str = Field(description="What it says sped up.")


class Conformance(Model):
    """What the comparison came to. A difference is a battle of which the two simulators tell different things."""

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
    """Play ``battles`` battles on the simulator as published and as sped up; compare all that either tells.

    Compared are every log line, request, draw of the random generator and, now and then, the whole state. ``formats``
    are any that Showdown has, dealt out in turn; by default those of the script, of all generations. ``on_battle`` is
    called with the format after each battle.

    Raises:
        ConfigurationError: a format is unknown, or this simulator is not one that is sped up.
        TryAgainError: the comparison could not be run to its end.
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


def _follow(lines: IO[str], on_battle: Callable[[str], None]) -> dict[str, Any] | None:
    """Return the last line's document, telling of the battles before it; None if it did not come."""
    for line in lines:
        document: dict[str, Any] = json.loads(line)
        if "differences" in document:
            return document
        on_battle(str(document["format"]))
    return None
