"""How strong metamon's baselines are against each other, format by format."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from pydantic import Field

from nashdex.core.documents import Model
from nashdex.evaluator.match import MatchResult, play_match

BASELINES: Final = (
    "metamon:grunt",
    "metamon:gym-leader",
    "metamon:emerald-kaizo",
    "metamon:poke-env-heuristic",
    "metamon:bug-catcher",
)
FORMATS: Final = ("gen1ou", "gen2ou", "gen3ou", "gen4ou", "gen9ou")


class BaselinesBench(Model):
    """Every pair once in every format."""

    matches: tuple[MatchResult, ...] = Field(description="Scores of `p1`.")


def bench_baselines(
    formats: Sequence[str],
    policies: Sequence[str],
    battles: int,
    seed: int = 0,
    on_match: Callable[[], None] = lambda: None,
) -> BaselinesBench:
    """Play ``battles`` battles of each pair in each format.

    Raises:
        ConfigurationError: a format or policy is unknown, or a policy does not play a format.
        StoppedError: the process was asked to stop.
    """
    matches = []
    for format_id, (first, second) in itertools.product(formats, itertools.combinations(policies, 2)):
        matches.append(play_match(format_id, first, second, battles=battles, seed=seed))
        on_match()
    return BaselinesBench(matches=tuple(matches))


def lines(result: BaselinesBench) -> Iterator[str]:
    """Yield a table in Markdown for each format: the row's score against the column, with its 95 % interval."""
    for format_id, group in itertools.groupby(result.matches, key=lambda match: match.format):
        of_format = {(match.p1, match.p2): match for match in group}
        rows = list(dict.fromkeys(first for first, _ in of_format))
        columns = list(dict.fromkeys(second for _, second in of_format))
        yield f"{format_id}:"
        yield f"| | {' | '.join(columns)} |"
        yield f"|---|{'---|' * len(columns)}"
        for row in rows:
            yield f"| {row} | {' | '.join(_cell(of_format.get((row, column))) for column in columns)} |"


def _cell(match: MatchResult | None) -> str:
    if match is None or match.score is None or match.low is None or match.high is None:
        return ""
    return f"{match.score:.2f} ({match.low:.2f} to {match.high:.2f})"
