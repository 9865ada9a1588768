"""A match between two contestants, outside any run."""

import time
from collections.abc import Callable, Iterator

from pydantic import NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.evaluator.contestants import Contestant, load_contestant
from nashdex.games.registry import game_for
from nashdex.metagame.payoffs import wilson_interval
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, Rollout


class MatchResult(Model):
    """Counts for the first contestant. ``low`` and ``high`` are Wilson's 95 % interval of ``win_rate``."""

    wins: NonNegativeInt
    losses: NonNegativeInt
    draws: NonNegativeInt
    failed: NonNegativeInt
    """Battles that could not be finished after being replayed; they count for nobody."""
    decisions: NonNegativeInt
    seconds: NonNegativeFloat
    win_rate: float | None
    """(wins + draws / 2) / finished; None if no battle was finished."""
    low: float | None
    high: float | None


def play_match(
    format_id: str,
    first: str,
    second: str,
    *,
    battles: int,
    seed: int = 0,
    concurrent_battles: int = 64,
    num_gateways: int = 1,
    deadline_seconds: float = 300.0,
    on_battle: Callable[[int], None] = lambda _: None,
) -> MatchResult:
    """Play ``battles`` battles as side-swapped pairs with the same teams, an odd last one alone.

    ``on_battle`` is told the number of battles that have ended.

    Raises:
        ConfigurationError: the format or a contestant is unknown.
        DataError: a contestant's policy is missing, altered, or of another space.
    """
    game = game_for(format_id)
    started = time.monotonic()
    arena = game.open_arena(num_gateways=num_gateways)
    try:
        contestants = (load_contestant(first, arena.space), load_contestant(second, arena.space))
        policies = {**contestants[0].policies, **contestants[1].policies}
        rollout = Rollout(arena, policies, min(concurrent_battles, battles))
        paired = PairedBattles(seed, game.teams(), deadline_seconds)
        scores = {1.0: 0, 0.5: 0, 0.0: 0}
        for finished in rollout.play(_assignments(battles, paired, contestants)):
            if finished.outcome is not None:
                scores[finished.outcome.score(finished.assignment.first_seat)] += 1
            on_battle(rollout.counts.battles)
    finally:
        arena.close()
    finished_battles = sum(scores.values())
    low, high = wilson_interval(scores[1.0] + scores[0.5] / 2, finished_battles) if finished_battles else (None, None)
    return MatchResult(
        wins=scores[1.0],
        losses=scores[0.0],
        draws=scores[0.5],
        failed=battles - finished_battles,
        decisions=rollout.counts.decisions,
        seconds=time.monotonic() - started,
        win_rate=(scores[1.0] + scores[0.5] / 2) / finished_battles if finished_battles else None,
        low=low,
        high=high,
    )


def _assignments(
    battles: int, paired: PairedBattles, contestants: tuple[Contestant, Contestant]
) -> Iterator[Assignment]:
    for number in range(battles):
        draws = (paired.pair_uniform(number, "policy", 0), paired.pair_uniform(number, "policy", 1))
        yield paired.assignment(number, (contestants[0].mixture.draw(draws[0]), contestants[1].mixture.draw(draws[1])))
