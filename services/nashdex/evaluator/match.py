"""A match between two contestants, outside any run."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator

from pydantic import NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.evaluator.contestants import Contestant, load_contestant
from nashdex.games.registry import game_for
from nashdex.games.tabular.matrix import MatrixDocument
from nashdex.metagame.evidence.estimates import clustered_wilson_interval
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment
from nashdex.rollout.session import Session


class MatchResult(Model):
    """Counts for the first contestant. ``low`` and ``high`` are Wilson's 95 % interval of ``win_rate``, by pairs.

    In a game for stakes a win is any gain, and the interval is wider than necessary: scores between 0 and 1 vary less
    than wins and losses of the same mean.
    """

    wins: NonNegativeInt
    losses: NonNegativeInt
    draws: NonNegativeInt
    failed: NonNegativeInt
    """Battles that failed every try; they count for neither."""
    decisions: NonNegativeInt
    seconds: NonNegativeFloat
    win_rate: float | None
    """Mean score: (wins + draws / 2) / finished; in a game for stakes ½ + mean payoff / (2 · the largest payoff).

    None if no battle was finished.
    """
    low: float | None
    high: float | None


def play_match(
    format_id: str,
    first: str,
    second: str,
    *,
    battles: int,
    matrix: MatrixDocument | None = None,
    seed: int = 0,
    concurrent_battles: int = 64,
    num_gateways: int = 1,
    deadline_seconds: float = 300.0,
    on_battle: Callable[[int], None] = lambda _: None,
) -> MatchResult:
    """Play ``battles`` battles as side-swapped pairs with the same teams, an odd last one alone.

    ``matrix`` holds the payoffs of format matrix. ``on_battle`` is called with the number of finished battles.

    Raises:
        ConfigurationError: the format or a contestant is unknown.
        DataError: a contestant's policy is missing, altered, or of another space.
    """
    game = game_for(format_id, matrix=matrix)
    started = time.monotonic()
    with Session(game.open_arena(num_gateways=num_gateways), min(concurrent_battles, battles)) as session:
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
    return MatchResult(
        wins=winners[0],
        losses=winners[1],
        draws=winners[None],
        failed=battles - len(scores),
        decisions=session.counts.decisions,
        seconds=time.monotonic() - started,
        win_rate=total / len(scores) if scores else None,
        low=low,
        high=high,
    )


def _assignments(
    battles: int, paired: PairedBattles, contestants: tuple[Contestant, Contestant]
) -> Iterator[Assignment]:
    for number in range(battles):
        draws = (paired.pair_uniform(number, "policy", 0), paired.pair_uniform(number, "policy", 1))
        yield paired.assignment(number, (contestants[0].mixture.draw(draws[0]), contestants[1].mixture.draw(draws[1])))
