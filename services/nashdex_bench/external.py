"""One poke-env player by websocket and in process: both should have the same score against the same policy.

By websocket it is a program of its own on the stock server, as ``nashdex battle`` plays any declared program. In
process poke-env's battle reads the gateway's lines (``games.showdown.poke_env_players``).
"""

import shlex
import sys
from collections.abc import Callable, Iterator
from math import hypot
from typing import Final

from nashdex.core.documents import Model
from nashdex.core.errors import TryAgainError
from nashdex.evaluator.match import MatchResult, play_match
from nashdex.evaluator.programs import play_program_match
from nashdex.settings.external import ExternalPlayer

IN_PROCESS: Final = "heuristic"
"""poke-env's SimpleHeuristicsPlayer as a scripted policy."""
_BY_WEBSOCKET: Final = "external:simple-heuristics"
_MODULE: Final = "nashdex_bench.websocket_player"
_DECISION_SECONDS: Final = 120.0


class ExternalBench(Model):
    """Both scores, and their difference with its interval."""

    opponent: str
    by_websocket: MatchResult
    in_process: MatchResult
    difference: float
    """Score by websocket minus score in process."""
    low: float
    """95 % interval of the difference (Newcombe 1998, method 10, from both scores' intervals)."""
    high: float
    is_within_noise: bool
    """Whether the interval contains 0."""


def bench_external(
    format_id: str,
    *,
    opponent: str,
    battles: int,
    at_once: int,
    seed: int,
    on_part: Callable[[str], None] = lambda _: None,
) -> ExternalBench:
    """Play both matches of ``battles`` battles.

    Raises:
        ConfigurationError: the format or the opponent is unknown, or Node is missing.
        TryAgainError: no server answers, or a match has no finished battle.
    """
    arguments = [sys.executable, "-m", _MODULE, "{websocket}", "{username}", "{format}", "{battles}", str(at_once)]
    program = ExternalPlayer.model_validate(
        {
            "command": shlex.join(arguments),
            "at_once": at_once,
            "decision_seconds": _DECISION_SECONDS,
            "start_seconds": _DECISION_SECONDS,
            "pause_seconds": 0.0,
        }
    )
    on_part(f"{battles} battles by websocket")
    by_websocket = play_program_match(
        format_id, opponent, _BY_WEBSOCKET, program, battles=battles, program_is_first=True, seed=seed
    )
    on_part(f"{battles} battles in process")
    in_process = play_match(format_id, IN_PROCESS, opponent, battles=battles, seed=seed)
    one, one_low, one_high = _interval(by_websocket)
    other, other_low, other_high = _interval(in_process)
    difference = one - other
    low = difference - hypot(one - one_low, other_high - other)
    high = difference + hypot(one_high - one, other - other_low)
    return ExternalBench(
        opponent=opponent,
        by_websocket=by_websocket,
        in_process=in_process,
        difference=difference,
        low=low,
        high=high,
        is_within_noise=low <= 0 <= high,
    )


def lines(bench: ExternalBench) -> Iterator[str]:
    """Yield the result as text."""
    for name, result in (("by websocket", bench.by_websocket), ("in process", bench.in_process)):
        void = "".join(f", {count:,} tries void by {cause}" for cause, count in sorted(result.failures.items()))
        yield (
            f"{name}: {result.score:.3f} ({result.low:.3f} to {result.high:.3f}) against {bench.opponent} in "
            f"{result.battles:,} battles{void}, {result.rejected:,} choices rejected, {result.seconds:.0f} s"
        )
    verdict = "within noise" if bench.is_within_noise else "more than noise"
    yield f"difference: {bench.difference:+.3f} (95 % interval {bench.low:+.3f} to {bench.high:+.3f}), {verdict}"


def _interval(result: MatchResult) -> tuple[float, float, float]:
    if result.score is None or result.low is None or result.high is None:
        raise TryAgainError(f"no battle of {result.p1} against {result.p2} was finished: see the warnings above")
    return result.score, result.low, result.high
