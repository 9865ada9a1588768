"""Battles where they decide: which cells get them, and that the meta-strategy is the better for it."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nashdex.metagame.equilibria import symmetric_equilibrium
from nashdex.metagame.evidence.estimates import Floats, Integers, centred, expected_scores, posterior_scores
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.plan import FurtherBattles
from nashdex.metagame.tournament.allocation import divided, influence
from support.tournaments import drawn_matrix, matrix

NAMES = "abcdefgh"
CORE = 3


def _game(seed: int) -> Floats:
    """Return P of eight: three in a cycle with an equilibrium of all three, and five that clearly lose to them."""
    generator = np.random.default_rng(seed)
    strategy = np.zeros(CORE)
    while strategy.min() < 0.1:
        cycle = np.triu(generator.uniform(-0.3, 0.3, (CORE, CORE)), 1)
        cycle -= cycle.T
        strategy = symmetric_equilibrium(cycle).row
    scores = np.triu(generator.uniform(0.3, 0.7, (8, 8)), 1)
    scores[:CORE, CORE:] = generator.uniform(0.7, 0.95, (CORE, 8 - CORE))
    scores += np.tril(1 - scores.T)
    np.fill_diagonal(scores, 0.5)
    scores[:CORE, :CORE] = 0.5 + cycle
    return scores


def _solved(counted: SampledCounts, num_draws: int, seed: int = 0) -> tuple[Floats, Floats]:
    drawn = centred(posterior_scores(counted.policies, counted.tally, num_draws=num_draws, seed=seed))
    return drawn, np.array([symmetric_equilibrium(payoffs).row for payoffs in drawn])


def _chosen(
    counted: SampledCounts, num_battles: int, most_battles: int = 10_000, num_draws: int = 200
) -> list[FurtherBattles]:
    drawn, strategies = _solved(counted, num_draws)
    games = counted.battles_by_cell()
    weights = influence(drawn, strategies)
    return divided(counted.policies, games, weights, num_battles=num_battles, most_battles=most_battles)


@pytest.mark.slow
def test_cells_among_dominated_policies_get_nothing() -> None:
    for seed in range(4):
        chosen = _chosen(drawn_matrix(NAMES, _game(seed), 100, seed), 400)
        assert sum(cell.battles for cell in chosen) == 400
        assert all(cell.a in NAMES[:CORE] for cell in chosen)
        in_core = sum(cell.battles for cell in chosen if cell.b in NAMES[:CORE])
        assert in_core >= 320


def test_a_mixture_that_follows_one_cell_is_explained_by_that_cell() -> None:
    drawn = np.random.default_rng(0).random((5000, 3, 3))
    drawn = np.triu(drawn, 1) + np.tril(1 - np.swapaxes(drawn, 1, 2), -1)
    follows = drawn[:, 0, 1]
    strategies = np.stack([follows, 1 - follows, np.zeros(5000)], axis=1)
    explained = influence(drawn, strategies)
    assert [explained[0, 1], explained[1, 0]] == pytest.approx([2 * follows.var()] * 2)
    assert explained.sum() == pytest.approx(2 * explained[0, 1], rel=0.01)


def test_a_mixture_that_no_payoff_moves_needs_no_battles() -> None:
    counted = drawn_matrix(NAMES, _game(0), 20, 0)
    drawn, _ = _solved(counted, 50)
    even = np.full((50, 8), 1 / 8)
    weights = influence(drawn, even)
    assert not weights.any()
    assert divided(counted.policies, counted.battles_by_cell(), weights, num_battles=100, most_battles=1000) == []


def test_unrelated_cells_pass_for_decisive_no_oftener_than_they_should() -> None:
    """Mixtures and payoffs that have nothing to do with each other: one cell in twenty."""
    generator = np.random.default_rng(0)
    explained = influence(generator.random((300, 40, 40)), generator.dirichlet(np.ones(2), 300) @ np.eye(2, 40))
    # Only cells of the two policies that are played can count: 40 + 38 of the array's rows and columns, twice.
    assert not explained[2:, 2:].any()
    assert (explained > 0).sum() <= 0.1 * (1600 - 38 * 38)


@settings(max_examples=10)
@given(st.permutations(NAMES), st.integers(0, 2), st.integers(0, 200))
def test_choices_follow_ids_and_not_places(order: list[str], seed: int, num_battles: int) -> None:
    counted = drawn_matrix(NAMES, _game(seed), 40, seed)
    turned = counted.restricted_to([policy for name in order for policy in counted.policies if policy == name])
    assert _chosen(turned, num_battles, num_draws=20) == _chosen(counted, num_battles, num_draws=20)


@settings(max_examples=20)
@given(st.integers(0, 400), st.integers(40, 120))
def test_budget_and_cap_are_kept_in_whole_pairs(num_battles: int, most_battles: int) -> None:
    chosen = _chosen(drawn_matrix(NAMES, _game(1), 40, 1), num_battles, most_battles, num_draws=20)
    assert sum(cell.battles for cell in chosen) <= num_battles
    assert all(cell.battles > 0 and cell.battles % 2 == 0 for cell in chosen)
    assert all(40 + cell.battles <= most_battles for cell in chosen)
    assert [(cell.a, cell.b) for cell in chosen] == sorted({(cell.a, cell.b) for cell in chosen})
    assert all(cell.a < cell.b for cell in chosen)


def test_no_other_division_promises_more() -> None:
    """Against every way to give four pairs to three cells."""
    games = np.array([[0, 10, 30], [10, 0, 4], [30, 4, 0]])
    counted = matrix("abc", games // 2, games)
    drawn, strategies = _solved(counted, 400)
    explained = influence(drawn, strategies)
    cells = list(combinations(range(3), 2))

    def promised(pairs: Sequence[int]) -> float:
        return sum(
            float(explained[cell] * 2 * more / (games[cell] + 1 + 2 * more))
            for cell, more in zip(cells, pairs, strict=True)
        )

    chosen = {
        (cell.a, cell.b): cell.battles // 2
        for cell in divided(counted.policies, games, explained, num_battles=8, most_battles=100)
    }
    given_pairs = [chosen.get((counted.policies[i], counted.policies[j]), 0) for i, j in cells]
    assert sum(given_pairs) == 4
    every = [(i, j, 4 - i - j) for i in range(5) for j in range(5 - i)]
    assert promised(given_pairs) == pytest.approx(max(promised(pairs) for pairs in every))


def _play(truth: Floats, wins: Integers, games: Integers, cells: dict[tuple[int, int], int], seed: int) -> None:
    generator = np.random.default_rng(seed)
    for (i, j), number in cells.items():
        won = int(generator.binomial(number, truth[i, j]))
        wins[i, j] += won
        wins[j, i] += number - won
        games[i, j] += number
        games[j, i] += number


def _distance_and_loss(truth: Floats, wins: Integers, games: Integers) -> tuple[float, float]:
    """Return how far the counts' equilibrium is from the true one, and what it loses in the true game."""
    found = symmetric_equilibrium(centred(expected_scores(matrix(NAMES, wins, games).tally))).row
    true = symmetric_equilibrium(centred(truth)).row
    return float(np.abs(found - true).sum() / 2), float((centred(truth) @ found).max())


@pytest.mark.slow
def test_at_equal_battles_the_decisive_cells_bring_the_mixture_nearer_to_the_truth() -> None:
    """Twelve games of eight, 3,360 battles: 40 a cell, then two rounds where they decide, or 120 a cell at once."""
    cells = list(combinations(range(8), 2))
    adaptive, uniform = [], []
    for seed in range(12):
        truth = _game(seed)
        wins, games = np.zeros((8, 8), dtype=int), np.zeros((8, 8), dtype=int)
        _play(truth, wins, games, dict.fromkeys(cells, 40), seed)
        for again in (1, 2):
            chosen = _chosen(matrix(NAMES, wins, games), 40 * len(cells), num_draws=100)
            more = {(NAMES.index(cell.a), NAMES.index(cell.b)): cell.battles for cell in chosen}
            _play(truth, wins, games, more, 100 * again + seed)
        assert games.sum() // 2 <= 120 * len(cells)
        adaptive.append(_distance_and_loss(truth, wins, games))
        wins, games = np.zeros_like(wins), np.zeros_like(games)
        _play(truth, wins, games, dict.fromkeys(cells, 120), 1000 + seed)
        uniform.append(_distance_and_loss(truth, wins, games))
    (distance, loss), (uniform_distance, uniform_loss) = np.mean(adaptive, axis=0), np.mean(uniform, axis=0)
    assert distance < 0.7 * uniform_distance, (distance, uniform_distance, loss, uniform_loss)
    assert loss < 0.8 * uniform_loss
