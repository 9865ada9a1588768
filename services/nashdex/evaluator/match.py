"""A match between two contestants, outside any run."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from pydantic import NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.evaluator.contestants import Contestant, load_contestant
from nashdex.games.registry import game_for
from nashdex.games.tabular.matrix import MatrixDocument
from nashdex.metagame.evidence.estimates import CONFIDENCE, clustered_wilson_interval
from nashdex.policies.scripted.registry import max_concurrent_battles
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment
from nashdex.rollout.session import Session

ESTIMATOR: Final = "mean-score, wilson-by-pairs"
"""The mean score, with Wilson's interval whose number of battles is corrected for pairs."""


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
    """Of the interval from ``low`` to ``high``."""
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
    failed: NonNegativeInt
    """Battles that failed every try. They are not among ``battles``."""
    decisions: NonNegativeInt
    seconds: NonNegativeFloat


def play_match(
    format_id: str,
    first: str,
    second: str,
    *,
    battles: int,
    matrix: MatrixDocument | None = None,
    teams_text: str | None = None,
    seed: int = 0,
    concurrent_battles: int = 64,
    num_gateways: int = 1,
    deadline_seconds: float = 300.0,
    on_battle: Callable[[int], None] = lambda _: None,
) -> MatchResult:
    """Play ``battles`` battles as side-swapped pairs with the same teams, an odd last one alone.

    ``matrix`` holds the payoffs of format matrix, ``teams_text`` packed teams that replace the format's own.
    ``on_battle`` is called with the number of finished battles.

    Raises:
        ConfigurationError: the format or a contestant is unknown.
        DataError: a contestant's policy is missing, altered, or of another space.
        StoppedError: the process was asked to stop. A score of the battles so far would favour short ones.
    """
    game = game_for(format_id, teams_text, matrix)
    started = time.monotonic()
    at_once = max_concurrent_battles((first, second), min(concurrent_battles, battles))
    with Session(game.open_arena(num_gateways=num_gateways), at_once) as session:
        contestants = (load_contestant(first, session.space), load_contestant(second, session.space))
        for contestant in contestants:
            session.policies |= contestant.policies
        paired = PairedBattles(seed, game.teams(), deadline_seconds)
        winners: Counter[int | None] = Counter()
        scores: dict[int, float] = {}
        for finished in session.play(_assignments(battles, paired, contestants)):
            if finished.outcome is not None:
                first_seat, winner = finished.assignment.first_seat, finished.outcome.winner
                winners[None if winner is None else int(winner != first_seat)] += 1
                scores[finished.assignment.number] = finished.outcome.score(first_seat)
            on_battle(session.counts.battles)
    # fsum rounds exactly, so that the order in which battles end does not change the sum.
    total = math.fsum(scores.values())
    numbers = sorted(scores)
    pairs = [number // 2 for number in numbers]
    low, high = clustered_wilson_interval([scores[n] for n in numbers], pairs) if scores else (None, None)
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
        failed=battles - num_battles,
        decisions=session.counts.decisions,
        seconds=time.monotonic() - started,
    )


def _assignments(
    battles: int, paired: PairedBattles, contestants: tuple[Contestant, Contestant]
) -> Iterator[Assignment]:
    for number in range(battles):
        draws = (paired.pair_uniform(number, "policy", 0), paired.pair_uniform(number, "policy", 1))
        yield paired.assignment(number, (contestants[0].mixture.draw(draws[0]), contestants[1].mixture.draw(draws[1])))
