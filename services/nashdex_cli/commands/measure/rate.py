"""``nashdex rate``: Elo ratings of counts in a file."""

import math
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex.core.errors import ConfigurationError, DataError
from nashdex_cli.commands.output import JsonOption, print_json, print_text

if TYPE_CHECKING:
    from nashdex.metagame.ratings.table import RatingTable

_NUM_DRAWS = 500
_SEED = 0
_MAX_ELO = 1e6
_MOST_BATTLES = 10**9
"""Most battles of two policies. With more, one that wins all of them has a strength without digits."""
_NARROWEST = 60
"""Columns that keep a row in one line where the terminal, or a file, would give fewer."""


def rate(
    ledger: Annotated[
        str,
        typer.Argument(
            metavar="COUNTS.json",
            help="Counts: policies, wins, draws and games; or a run's URI.",
        ),
    ],
    anchor: Annotated[
        list[str] | None,
        typer.Option(metavar="ID=ELO", help="Fix a policy's Elo. Repeatable. [default: the mean of a file is 1000]"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Rate the policies of a run, or of a file of counts such as its interaction_matrix.json, by Bradley–Terry.

    For a run it prints the ratings that its newest iteration published, unless --anchor fixes others. Pairs that have
    not met are allowed. The output also shows the payoffs' distance from transitivity, and warns where a rating
    misleads.
    """
    table = _rated(ledger, _anchors(anchor or []))
    if as_json:
        print_json(table.model_dump(mode="json"))
    else:
        _print_table(table)


def _rated(ledger: str, anchors: dict[str, float]) -> "RatingTable":
    from nashdex.metagame.ratings.table import rate as rate_counts
    from nashdex.solver.matrix_file import counts_in, load, newest_solved, published_ratings

    solved = newest_solved(ledger)
    if solved is not None and not anchors and (published := published_ratings(solved)) is not None:
        return published
    counts = counts_in(*load(ledger, solved))
    if counts.tally.games.max(initial=0) > _MOST_BATTLES:
        raise DataError(f"{ledger}: two policies have more than {_MOST_BATTLES:,} battles; expected that many at most")
    return rate_counts(counts.policies, counts.tally, anchors=anchors, num_draws=_NUM_DRAWS, seed=_SEED)


def _anchors(given: list[str]) -> dict[str, float]:
    """Return the Elo of each anchor.

    Raises:
        ConfigurationError: one is no ID=ELO, or is given twice.
    """
    anchors: dict[str, float] = {}
    for text in given:
        policy, equals, elo = text.rpartition("=")
        try:
            value = float(elo)
        except ValueError:
            value = math.nan
        # NaN is not in the range either.
        if not (policy and equals and abs(value) <= _MAX_ELO):
            raise ConfigurationError(f"--anchor {text!r}: expected a policy's id and its Elo, such as random=1000")
        if policy in anchors:
            raise ConfigurationError(f"--anchor names {policy!r} twice; expected each policy once")
        anchors[policy] = value
    return anchors


def _print_table(table: "RatingTable") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = Table("policy", box=None, header_style="bold", pad_edge=False)
    for column in ("Elo", "standard error", "95 %", "games"):
        rows.add_column(column, justify="right", no_wrap=True)
    for policy, rating in sorted(table.ratings.items(), key=lambda entry: (-entry[1].elo, entry[0])):
        anchored = policy in table.anchors
        rows.add_row(
            Text(policy, overflow="fold"),
            f"{rating.elo:.0f}",
            "anchor" if anchored else f"{rating.standard_error:.0f}",
            "" if anchored else f"{rating.low:.0f} to {rating.high:.0f}",
            f"{rating.games:,}",
        )
    console = Console(file=sys.stdout, highlight=False)
    console.width = max(console.width, _NARROWEST)
    console.print(rows)
    print_text(
        f"intransitivity {table.intransitivity:.4f}; by chance up to {table.intransitivity_by_chance:.4f} (95 %)"
    )
    for warning in table.warnings:
        print_text(f"warning: {warning}")
