"""A match between two contestants, outside any run."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError
from nashdex.games.registry import game_for
from nashdex.games.tabular.matrix import MatrixDocument
from nashdex.metagame.evidence.estimates import CONFIDENCE, clustered_wilson_interval
from nashdex.rollout.contestants import Contestant, draw_policies, load_contestant, most_concurrent_battles
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment
from nashdex.rollout.session import Session

ESTIMATOR: Final = "mean-score, wilson-by-pairs"
"""The mean score, with Wilson's interval whose number of battles is corrected for pairs."""
_CONCURRENT_BATTLES = 64


class SeriesResult(Model):
    """Results by series: battles of the same two teams in the same seats, until one side has won more than half."""

    best_of: PositiveInt
    """Most battles of a series."""
    score: float | None
    """(wins + draws / 2) / number of series. None if none was finished, like both bounds."""
    low: float | None
    high: float | None
    wins: NonNegativeInt
    losses: NonNegativeInt
    draws: NonNegativeInt
    """Series with as many wins as losses, by battles that were drawn."""


class MatchResult(Model):
    """A match's result for the first contestant: what ``nashdex battle --json`` prints.

    In a game for stakes a win is any gain, and the interval is wider than necessary: scores between 0 and 1 vary less
    than wins and losses of the same mean.
    """

    format: str
    p1: str
    p2: str
    seed: NonNegativeInt
    score: float | None
    """Mean score: (wins + draws / 2) / battles; in a game for stakes ½ + mean payoff / (2 · the largest payoff).

    None if no battle was finished, like both bounds.
    """
    low: float | None
    high: float | None
    confidence: float = CONFIDENCE
    """Confidence of the interval from ``low`` to ``high``."""
    estimator: str = ESTIMATOR
    """How ``score`` and its interval are computed."""
    score_draws_as_losses: float | None
    """wins / battles, as others publish it; None in a game for stakes, where a draw is a payoff of 0."""
    battles: NonNegativeInt
    """Finished battles."""
    wins: NonNegativeInt
    losses: NonNegativeInt
    draws: NonNegativeInt
    rejected: NonNegativeInt
    """Choices that the mask allowed and the simulator rejected: the player could not know why."""
    untracked: NonNegativeInt = 0
    """Decisions on a server that the tracker could not follow, which the server's default choice answered."""
    failed: NonNegativeInt
    """Battles that failed every try. They are not among ``battles``."""
    failures: dict[str, NonNegativeInt] = Field(default_factory=dict)
    """Failed tries by cause, such as a player from outside that crashed. Each was played again, up to a limit."""
    decisions: NonNegativeInt
    seconds: NonNegativeFloat
    series: SeriesResult | None = None
    """Result by series, with a best of several; the other numbers count battles."""


def play_match(
    format_id: str,
    first: str,
    second: str,
    *,
    battles: int,
    best_of: int = 1,
    matrix: MatrixDocument | None = None,
    teams_text: str | None = None,
    seed: int = 0,
    num_gateways: int = 1,
    on_battle: Callable[[int], None] = lambda _: None,
) -> MatchResult:
    """Play ``battles`` battles as side-swapped pairs with the same teams, an odd last one alone.

    With ``best_of`` above 1, an odd number, each of them is a series: up to that many battles, equal teams and seats.
    ``matrix`` holds the payoffs of format matrix, ``teams_text`` packed teams that replace the format's own.
    ``on_battle`` is called with the number of finished battles.

    Raises:
        ConfigurationError: the format or a contestant is unknown, or a series is asked for in a game that is none of
            Showdown's.
        DataError: a contestant's policy is missing, altered, or of another space.
        StoppedError: the process was asked to stop. A score of the battles so far would favour short ones.
    """
    game = game_for(format_id, teams_text, matrix)
    if best_of > 1 and game.tree is not None:
        raise ConfigurationError(f"{format_id} has no series of battles: expected a best of 1, or a Showdown format")
    started = time.monotonic()
    at_once = most_concurrent_battles((first, second), min(_CONCURRENT_BATTLES, battles))
    with Session(game.open_arena(num_gateways=num_gateways), at_once) as session:
        contestants = (load_contestant(first, session.space), load_contestant(second, session.space))
        for contestant in contestants:
            session.policies |= contestant.policies
        paired = PairedBattles(seed, game.teams())
        played: dict[int, list[float]] = {}
        winners: Counter[int | None] = Counter()
        undecided = list(range(battles))
        num_failed = 0
        for number in range(best_of):
            for finished in session.play(_assignments(undecided, paired, contestants, number)):
                if finished.outcome is None:
                    num_failed += 1
                else:
                    first_seat, winner = finished.assignment.first_seat, finished.outcome.winner
                    winners[None if winner is None else int(winner != first_seat)] += 1
                    played.setdefault(finished.assignment.number, []).append(finished.outcome.score(first_seat))
                on_battle(session.counts.battles)
            undecided = [
                n for n in undecided if len(played.get(n, ())) > number and not _is_decided(played[n], best_of)
            ]
    numbers = sorted(played)
    scores = [score for n in numbers for score in played[n]]
    # fsum rounds exactly, so that the order in which battles end does not change the sum.
    total = math.fsum(scores)
    pairs = [n // 2 for n in numbers for _ in played[n]]
    low, high = clustered_wilson_interval(scores, pairs) if scores else (None, None)
    num_battles = len(scores)
    return MatchResult(
        format=format_id,
        p1=first,
        p2=second,
        seed=seed,
        score=total / num_battles if scores else None,
        low=low,
        high=high,
        score_draws_as_losses=winners[0] / num_battles if scores and game.tree is None else None,
        battles=num_battles,
        wins=winners[0],
        losses=winners[1],
        draws=winners[None],
        rejected=session.counts.rejected_choices,
        failed=num_failed,
        failures=dict(session.counts.failures),
        decisions=session.counts.decisions,
        seconds=time.monotonic() - started,
        series=_series(played, best_of) if best_of > 1 else None,
    )


def _is_decided(scores: Sequence[float], best_of: int) -> bool:
    """Say whether a side has won more than half of the series' battles."""
    return max(scores.count(1.0), scores.count(0.0)) > best_of // 2


def _series(played: Mapping[int, Sequence[float]], best_of: int) -> SeriesResult:
    """Return the results by series. A series that lost a battle to a failure counts if it was decided."""
    complete = {n: s for n, s in sorted(played.items()) if len(s) == best_of or _is_decided(s, best_of)}
    margins = {n: scores.count(1.0) - scores.count(0.0) for n, scores in complete.items()}
    scores = [(1 + (margin > 0) - (margin < 0)) / 2 for margin in margins.values()]
    low, high = clustered_wilson_interval(scores, [n // 2 for n in margins]) if scores else (None, None)
    return SeriesResult(
        best_of=best_of,
        score=math.fsum(scores) / len(scores) if scores else None,
        low=low,
        high=high,
        wins=scores.count(1.0),
        losses=scores.count(0.0),
        draws=scores.count(0.5),
    )


def _assignments(
    numbers: Sequence[int], paired: PairedBattles, contestants: tuple[Contestant, Contestant], game: int
) -> Iterator[Assignment]:
    for number in numbers:
        yield paired.assignment(number, draw_policies(contestants, paired, number), game=game)
