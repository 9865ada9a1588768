"""Divisions of battles: an even one, and whether another is expected to serve the mixture better."""

import numpy as np
import pytest

from nashdex.core.ids import PolicyId
from nashdex.metagame.equilibria import symmetric_equilibrium
from nashdex.metagame.evidence.estimates import Floats
from nashdex.metagame.plan import FurtherBattles
from nashdex.metagame.tournament.allocation import best_division, even_division, expected_losses

NAMES = [PolicyId(name) for name in "abcd"]
GAMES = 20 * (1 - np.eye(4, dtype=np.int64))


def _solve(payoffs: Floats) -> Floats:
    return np.array([symmetric_equilibrium(each).row for each in payoffs])


def _drawn(uncertain: list[tuple[int, int]], payoffs: Floats, spread: float) -> Floats:
    """Return 200 draws of ``payoffs`` in which only some cells are uncertain."""
    generator = np.random.default_rng(3)
    drawn = np.repeat(payoffs[None], 200, axis=0)
    for i, j in uncertain:
        noise = generator.normal(scale=spread, size=200)
        drawn[:, i, j] += noise
        drawn[:, j, i] -= noise
    return np.clip(drawn, -0.49, 0.49)


def _battles(division: list[FurtherBattles]) -> dict[tuple[str, str], int]:
    return {(cell.a, cell.b): cell.battles for cell in division}


def test_an_even_division_first_levels_the_cells() -> None:
    games = GAMES.copy()
    games[0, 1] = games[1, 0] = 28
    division = _battles(even_division(NAMES, games, num_battles=64, most_battles=1000))
    assert division == {("a", "b"): 4, **{(pair[0], pair[1]): 12 for pair in ("ac", "ad", "bc", "bd", "cd")}}
    capped = even_division(NAMES, games, num_battles=64, most_battles=24)
    assert sum(cell.battles for cell in capped) == 5 * 4


@pytest.mark.slow
def test_the_division_that_decides_who_is_best_is_taken() -> None:
    """A and b are rivals, c and d lose to both: only the cell of a and b matters."""
    payoffs = np.zeros((4, 4))
    payoffs[:2, 2:], payoffs[2:, :2] = 0.3, -0.3
    drawn = _drawn([(0, 1), (2, 3)], payoffs, 0.1)
    even = even_division(NAMES, GAMES, num_battles=120, most_battles=10_000)
    rivals = [FurtherBattles(a=NAMES[0], b=NAMES[1], battles=120)]
    useless = [FurtherBattles(a=NAMES[2], b=NAMES[3], battles=120)]
    losses = [
        expected_losses(division, NAMES, GAMES, payoffs, drawn, _solve, seed=1).mean()
        for division in (rivals, even, useless)
    ]
    assert losses[0] < losses[1] < losses[2]
    chosen = best_division([even, useless, rivals], NAMES, GAMES, payoffs, drawn, _solve, seed=1)
    assert _battles(list(chosen)) == {("a", "b"): 120}


def test_without_a_clear_gain_the_even_division_stays() -> None:
    payoffs = np.zeros((4, 4))
    drawn = _drawn([(i, j) for i in range(4) for j in range(i)], payoffs, 0.1)
    even = even_division(NAMES, GAMES, num_battles=120, most_battles=10_000)
    lopsided = [FurtherBattles(a=NAMES[0], b=NAMES[1], battles=120)]
    assert best_division([even, lopsided, []], NAMES, GAMES, payoffs, drawn, _solve, seed=1) == even
