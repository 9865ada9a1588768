"""``nashdex battle``: a match between two policies, outside any run."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text
from nashdex.commands.run_options import SeedOption
from nashdex.core.errors import ConfigurationError, InterruptedByUserError, StoppedError
from nashdex.core.stopping import install_stop_handlers

if TYPE_CHECKING:
    from nashdex.evaluator.match import MatchResult

_POLICY = (
    "A scripted policy (random, max-power, heuristic, first-action, …), RUN_URI#POLICY_ID, RUN_URI#newest or "
    "RUN_URI#nash. POLICY_ID@greedy plays the most probable action, POLICY_ID@T0.5 samples at temperature 0.5; "
    "without a suffix it samples at 1. search:RUN_URI#POLICY_ID looks one turn ahead."
)
_BEST_OF = (1, 3, 5, 7)
_LINE_EVERY_SECONDS = 10.0
"""Of progress, where standard error is not a terminal."""


def battle(
    *,
    format_id: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format, such as gen1ou or kuhn_poker. [default: that of the run that a player names]",
        ),
    ] = None,
    p1: Annotated[str, typer.Option(metavar="POLICY", help=_POLICY)],
    p2: Annotated[str, typer.Option(metavar="POLICY", help=_POLICY)],
    battles: Annotated[int, typer.Option(min=1, max=10_000_000, help="Battles in total, as side-swapped pairs.")] = 100,
    best_of: Annotated[
        int, typer.Option(metavar="1|3|5|7", help="Play series of up to this many battles with the same teams.")
    ] = 1,
    matrix: Annotated[
        Path | None, typer.Option(metavar="MATRIX.json", help="Payoffs, for format matrix: see `nashdex solve --help`.")
    ] = None,
    team_set: Annotated[
        str | None, typer.Option(metavar="NAME", help="Set of teams to draw from: see `nashdex formats --teams`.")
    ] = None,
    seed: SeedOption = 0,
    gateways: Annotated[int, typer.Option(min=1, max=64, help="Simulator processes.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Play two policies against each other and print the first one's score with its interval.

    Both battles of a pair have the same two teams, with the seats swapped; an odd last battle has no partner. A draw
    counts half; the score with draws as losses is printed too. In a game for stakes, the score is
    ½ + payoff / (2 · the game's largest payoff). A match that is stopped prints no score, since short battles end
    first.

    With --best-of 3, each of --battles is a series: equal teams and seats, until one side has won two. The score by
    series comes after the one by battles. Policies begin each battle of a series afresh.
    """
    if best_of not in _BEST_OF:
        raise ConfigurationError(f"--best-of is {best_of}; expected one of {', '.join(map(str, _BEST_OF))}")
    install_stop_handlers()

    from nashdex.evaluator.match import play_match
    from nashdex.runs.inputs import read_matrix, read_team_set
    from nashdex.telemetry.logging import configure_logging
    from nashdex.telemetry.settings import load_telemetry_settings

    configure_logging(load_telemetry_settings())
    played = _format_to_play(format_id, {"--p1": p1, "--p2": p2})
    ended = 0

    def count(num_battles: int) -> None:
        nonlocal ended
        ended = num_battles
        show(num_battles)

    try:
        with _progress(f"{p1} against {p2}", battles * best_of) as show:
            result = play_match(
                played,
                p1,
                p2,
                battles=battles,
                best_of=best_of,
                matrix=None if matrix is None else read_matrix(matrix),
                teams_text=None if team_set is None else read_team_set(played, team_set),
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
    if as_json:
        print_json(result.model_dump(mode="json"))
    else:
        _print(result)


def _format_to_play(named: str | None, players: Mapping[str, str]) -> str:
    """Return the one format of ``--format`` and of the runs that players name.

    Args:
        named: what ``--format`` says.
        players: what each player's option says.

    Raises:
        ConfigurationError: there is none, or several.
        DataError: a run was altered.
    """
    from nashdex.policies.search import PREFIX as SEARCH
    from nashdex.runs.creation import format_of_run
    from nashdex.settings.aliases import canonical_format

    uris = {option: text.removeprefix(SEARCH).rpartition("#")[0] for option, text in players.items()}
    found = {option: format_of_run(uri) for option, uri in uris.items() if uri}
    runs = {format_id: f"the run of {option} ({uris[option]})" for option, format_id in found.items() if format_id}
    if len(runs) > 1:
        (one, first), (other, second) = runs.items()
        raise ConfigurationError(f"{first} plays {one} and {second} plays {other}; expected runs of one format")
    of_runs, run = next(iter(runs.items()), (None, ""))
    if named is not None:
        chosen = canonical_format(named)
        if of_runs not in {None, chosen}:
            raise ConfigurationError(f"--format is {named}, and {run} plays {of_runs}: leave --format out")
        return chosen
    if of_runs is None:
        stores = " or ".join(dict.fromkeys(uri for uri in uris.values() if uri))
        why = f"there is no run in {stores} to take it from" if stores else "no player names a run to take it from"
        correct = "correct the URI, or " if stores else ""
        raise ConfigurationError(f"--format is missing, and {why}: {correct}name the format, such as --format gen1ou")
    return of_runs


def _print(result: "MatchResult") -> None:
    _print_battles(result)
    if (series := result.series) is not None and series.score is not None:
        print_text(
            f"best of {series.best_of}: {series.score:.3f} ({series.low:.3f} to {series.high:.3f}), "
            f"{series.wins:,} series won, {series.losses:,} lost, {series.draws:,} drawn"
        )


def _print_battles(result: "MatchResult") -> None:
    if result.score is not None:
        percent = round(100 * result.confidence)
        print_text(
            f"{result.p1} scores {result.score:.3f} against {result.p2} "
            f"({percent} % interval {result.low:.3f} to {result.high:.3f})"
        )
    if result.score_draws_as_losses is not None:
        print_text(f"{result.score_draws_as_losses:.3f} with draws as losses")
    failed = f", {result.failed:,} failed" if result.failed else ""
    failed += f", {result.rejected:,} choices rejected" if result.rejected else ""
    print_text(
        f"{result.battles:,} battles: {result.wins:,} wins, {result.losses:,} losses, {result.draws:,} draws{failed}"
    )
    print_text(f"{result.decisions:,} decisions in {result.seconds:.1f} s")


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
    began_seconds = shown_seconds = time.monotonic()

    def show(ended: int) -> None:
        nonlocal shown_seconds
        now = time.monotonic()
        if now - shown_seconds < _LINE_EVERY_SECONDS:
            return
        shown_seconds = now
        left_seconds = (total - ended) * (now - began_seconds) / max(ended, 1)
        sys.stderr.write(f"{ended:,} of {total:,} battles, about {left_seconds:.0f} s left\n")
        sys.stderr.flush()

    return show
