"""``nashdex battle``: a match between two policies, outside any run."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex.core.errors import ConfigurationError, DataError, InterruptedByUserError, StoppedError
from nashdex.core.stopping import install_stop_handlers
from nashdex_cli.commands.output import JsonOption, print_answer, print_note
from nashdex_cli.commands.run_options import GatewaysOption, SeedOption, TeamSetOption

if TYPE_CHECKING:
    from nashdex.evaluator.match import MatchResult

_POLICY = (
    "A scripted policy (random, max-power, heuristic, first-action, …), one of the zoo (zoo:NAME), RUN_URI#newest, "
    "RUN_URI#nash or RUN_URI#NAME: an id, its beginning or a name, as `nashdex policy list RUN_URI` prints them. "
    "NAME@greedy plays the most probable action, NAME@T0.5 samples at temperature 0.5; without a suffix it samples at "
    "1. search:RUN_URI#NAME looks one turn ahead. external:NAME is a player that this machine declares, "
    "external:module:Class a poke-env player."
)
_BEST_OF = (1, 3, 5, 7)
_LINE_EVERY_SECONDS = 10.0
"""Interval of progress lines where standard error is not a terminal."""


def battle(
    *,
    format_id: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format, such as gen1ou or kuhn_poker. [default: the format of a player's run or stored policy]",
        ),
    ] = None,
    p1: Annotated[str, typer.Option(metavar="POLICY", help=_POLICY)],
    p2: Annotated[str, typer.Option(metavar="POLICY", help="The other player, named as --p1.")],
    battles: Annotated[int, typer.Option(min=1, max=10_000_000, help="Battles in total, as side-swapped pairs.")] = 100,
    best_of: Annotated[
        int, typer.Option(metavar="1|3|5|7", help="Play series of up to this many battles with the same teams.")
    ] = 1,
    matrix: Annotated[
        Path | None, typer.Option(metavar="MATRIX.json", help="Payoffs, for format matrix: see `nashdex solve --help`.")
    ] = None,
    team_set: TeamSetOption = None,
    seed: SeedOption = 0,
    gateways: GatewaysOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Play two policies against each other and print the first one's score with its interval.

    Both battles of a pair have the same two teams, with the seats swapped; an odd last battle has no partner. A draw
    counts half; the score with draws as losses is printed too. In a game for stakes, the score is
    ½ + payoff / (2 · the game's largest payoff). A match that is stopped prints no score, since short battles end
    first.

    A declared program that plays by websocket meets independent battles instead of pairs, on a server that this command
    starts.

    With --best-of 3, each of --battles is a series: equal teams and seats, until one side has won two. The score by
    series comes after the one by battles. Policies begin each battle of a series afresh.
    """
    if best_of not in _BEST_OF:
        raise ConfigurationError(f"--best-of is {best_of}; expected one of {', '.join(map(str, _BEST_OF))}")
    install_stop_handlers()

    from nashdex.api.battles import battle as play
    from nashdex.telemetry.logging import configure_logging

    configure_logging()
    ended = 0

    def count(num_battles: int) -> None:
        nonlocal ended
        ended = num_battles
        show(num_battles)

    try:
        with _progress(f"{p1} against {p2}", battles * best_of) as show:
            result = play(
                p1,
                p2,
                format=format_id,
                battles=battles,
                best_of=best_of,
                matrix=matrix,
                team_set=team_set,
                seed=seed,
                num_gateways=gateways,
                on_battle=count,
            )
    except (KeyboardInterrupt, StoppedError) as error:
        stop = StoppedError if type(error) is StoppedError else InterruptedByUserError
        raise stop(
            f"stopped after {ended:,} of {battles * best_of:,} battles; their score would favour short battles, "
            "so there is none"
        ) from error
    print_answer(result, _battle_lines(result), as_json=as_json)
    if not result.battles:
        raise DataError("no battle has a result; the counts by cause say why")


def _battle_lines(result: "MatchResult") -> Iterator[str]:
    if result.score is not None:
        percent = round(100 * result.confidence)
        yield (
            f"{result.p1} scores {result.score:.3f} against {result.p2} "
            f"({percent} % interval {result.low:.3f} to {result.high:.3f})"
        )
    if result.score_draws_as_losses is not None:
        yield f"{result.score_draws_as_losses:.3f} with draws as losses"
    failed = f", {result.failed:,} failed" if result.failed else ""
    failed += f", {result.rejected:,} choices rejected" if result.rejected else ""
    failed += f", {result.untracked:,} decisions not followed" if result.untracked else ""
    failed += "".join(f", {count:,} tries void by {cause}" for cause, count in sorted(result.failures.items()))
    yield (
        f"{result.battles:,} battles: {result.wins:,} wins, {result.losses:,} losses, {result.draws:,} draws{failed}"
    )
    yield f"{result.decisions:,} decisions in {result.seconds:.1f} s"
    if (series := result.series) is not None and series.score is not None:
        yield (
            f"best of {series.best_of}: {series.score:.3f} ({series.low:.3f} to {series.high:.3f}), "
            f"{series.wins:,} series won, {series.losses:,} lost, {series.draws:,} drawn"
        )


@contextmanager
def _progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show the number of finished battles on standard error: a bar in a terminal, otherwise a line now and then."""
    if not sys.stderr.isatty():
        yield _lines(total)
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda ended: progress.update(task, completed=ended)


def _lines(total: int) -> Callable[[int], None]:
    from nashdex.telemetry.progress import RecentRate

    shown_seconds = time.monotonic()
    recent = RecentRate()
    recent.add(0, shown_seconds)

    def show(ended: int) -> None:
        nonlocal shown_seconds
        now = time.monotonic()
        recent.add(ended, now)
        if now - shown_seconds < _LINE_EVERY_SECONDS:
            return
        shown_seconds = now
        rate = recent.per_second(now)
        left = "" if rate is None else f", about {(total - ended) / rate:.0f} s left"
        print_note(f"{ended:,} of {total:,} battles{left}")

    return show
