"""Unplayed cells: refused, predicted or taken at their worst, and never mistaken for measurements."""

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.core.errors import DataError
from nashdex.metagame.equilibria import symmetric_equilibrium, zero_sum_equilibrium
from nashdex.metagame.evidence.estimates import Floats, centred, expected_scores, posterior_scores, score_blocks
from nashdex.metagame.evidence.imputation import Imputation, filled, filled_cells, touches_support
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.ratings.bradley_terry import expected_scores_of
from support.tournaments import drawn_matrix, matrix

NAMES = "abcde"
STRENGTHS = expected_scores_of(np.array([0.0, 0.5, 1.0, 1.5, -0.5]))
HOW: tuple[Imputation, ...] = ("bradley-terry", "interval")


def filled_draws(policies: Sequence[str], tally: Tally, how: Imputation, *, num_draws: int, seed: int) -> Floats:
    """Return draws of every cell, shape (D, K, K)."""
    draw = filled_cells(policies, tally, filled(policies, tally, how), how, num_draws=num_draws, seed=seed)
    return next(score_blocks(policies, draw, num_draws=num_draws, block=num_draws))


def _without(counted: SampledCounts, cells: Sequence[tuple[str, str]]) -> SampledCounts:
    """Return ``counted`` with nothing played in ``cells``."""
    tally = counted.tally
    wins, draws, games = tally.wins.copy(), tally.draws.copy(), tally.games.copy()
    for one, other in cells:
        i, j = counted.policies.index(one), counted.policies.index(other)
        for counts in (wins, draws, games):
            counts[i, j] = counts[j, i] = 0
    return matrix(counted.policies, wins, games, draws)


def _of(scores: np.ndarray, unplayed: Sequence[tuple[str, str]], games: int = 1000) -> SampledCounts:
    names = NAMES[: len(scores)]
    wins = np.round(games * scores * (1 - np.eye(len(scores)))).astype(int)
    return _without(matrix(names, wins, games * (1 - np.eye(len(scores), dtype=int))), unplayed)


@pytest.mark.parametrize("how", ["block", *HOW])
def test_what_is_played_is_not_imputed(how: Imputation) -> None:
    counted = drawn_matrix(NAMES, STRENGTHS, 50, seed=0)
    scores, imputed = filled(counted.policies, counted.tally, how)
    assert imputed == ()
    assert (scores == expected_scores(counted.tally)).all()
    drawn = filled_draws(counted.policies, counted.tally, how, num_draws=9, seed=3)
    assert (drawn == posterior_scores(counted.policies, counted.tally, num_draws=9, seed=3)).all()


def test_block_refuses_by_name() -> None:
    counted = _without(drawn_matrix(NAMES, STRENGTHS, 50, seed=0), [("b", "d")])
    with pytest.raises(DataError, match="'b' has not played 'd'"):
        filled(counted.policies, counted.tally, "block")
    with pytest.raises(DataError, match="'b' has not played 'd'"):
        filled_draws(counted.policies, counted.tally, "block", num_draws=2, seed=0)


def test_ratings_predict_a_transitive_game() -> None:
    counted = _of(STRENGTHS, [("a", "d"), ("b", "e")], games=1_000_000)
    scores, imputed = filled(counted.policies, counted.tally, "bradley-terry")
    assert imputed == (("a", "d"), ("b", "e"))
    assert scores == pytest.approx(STRENGTHS, abs=1e-5)


@given(
    st.permutations(NAMES),
    st.lists(st.sampled_from(list(combinations(NAMES, 2))), min_size=1, max_size=6, unique=True),
    st.sampled_from(HOW),
    st.integers(0, 5),
)
def test_an_imputed_game_is_one_and_follows_ids(
    order: list[str], unplayed: list[tuple[str, str]], how: Imputation, seed: int
) -> None:
    counted = _without(drawn_matrix(NAMES, np.random.default_rng(seed).random((5, 5)), 30, seed), unplayed)
    turned = counted.restricted_to([policy for name in order for policy in counted.policies if policy == name])
    scores, imputed = filled(counted.policies, counted.tally, how)
    again, imputed_again = filled(turned.policies, turned.tally, how)
    places = [counted.policies.index(policy) for policy in turned.policies]
    assert again == pytest.approx(scores[np.ix_(places, places)], abs=1e-9)
    assert {frozenset(cell) for cell in imputed} == {frozenset(cell) for cell in imputed_again}
    assert {frozenset(cell) for cell in imputed} == {frozenset(cell) for cell in unplayed}

    assert scores + scores.T == pytest.approx(np.ones((5, 5)))
    assert ((scores >= 0) & (scores <= 1)).all()
    tally = counted.tally
    played = tally.games > 0
    assert (scores[played] == tally.scores[played] / tally.games[played]).all()

    drawn = filled_draws(counted.policies, counted.tally, how, num_draws=4, seed=1)
    drawn_again = filled_draws(turned.policies, turned.tally, how, num_draws=4, seed=1)
    assert drawn_again == pytest.approx(drawn[:, places][:, :, places], abs=1e-6)


@given(st.integers(0, 1000), st.lists(st.sampled_from(list(combinations("abcd", 2))), min_size=1, unique=True))
def test_interval_is_the_worst_game_in_the_box_for_the_most_cautious_mixture(
    seed: int, unplayed: list[tuple[str, str]]
) -> None:
    """No way to fill the cells gives the mixture less against the opponents that hold it to its guarantee."""
    counted = _without(drawn_matrix("abcd", np.random.default_rng(seed).random((4, 4)), 30, seed), unplayed)
    worst, _ = filled(counted.policies, counted.tally, "interval")
    cells = [tuple("abcd".index(name) for name in cell) for cell in unplayed]
    pessimistic = worst.copy()
    for i, j in cells:
        pessimistic[i, j] = pessimistic[j, i] = 0.0
    robust = zero_sum_equilibrium(pessimistic - 0.5)
    least = robust.row @ worst @ robust.column
    for ends in product((0.0, 0.5, 1.0), repeat=len(cells)):
        other = worst.copy()
        for (i, j), end in zip(cells, ends, strict=True):
            other[i, j], other[j, i] = end, 1.0 - end
        assert least <= robust.row @ other @ robust.column + 1e-9
        assert (robust.row @ other).min() >= (robust.row @ pessimistic).min() - 1e-9


def test_the_rival_that_was_never_met_is_taken_to_win() -> None:
    """Policy a beats b, b beats c, and a never met c: the mixture that leans on a has c against it."""
    scores = np.array([[0.5, 0.9, 0.5], [0.1, 0.5, 0.9], [0.5, 0.1, 0.5]])
    counted = _of(scores, [("a", "c")])
    worst, _ = filled(counted.policies, counted.tally, "interval")
    assert (worst[0, 2], worst[2, 0]) == (0.0, 1.0)
    predicted, _ = filled(counted.policies, counted.tally, "bradley-terry")
    assert predicted[0, 2] > 0.9


def test_a_policy_that_met_nobody_is_neither_handed_the_mixture_nor_shut_out() -> None:
    """Rock, paper, scissors and a stranger."""
    scores = np.full((4, 4), 0.5)
    scores[:3, :3] += np.array([[0, 0.3, -0.3], [-0.3, 0, 0.3], [0.3, -0.3, 0]])
    counted = _of(scores, [("a", "d"), ("b", "d"), ("c", "d")])
    worst, _ = filled(counted.policies, counted.tally, "interval")
    assert worst[3].tolist() == [0.5] * 4
    assert symmetric_equilibrium(centred(worst)).row == pytest.approx([0.25] * 4)


@pytest.mark.parametrize("how", HOW)
def test_cells_among_dominated_policies_do_not_move_the_mixture(how: Imputation) -> None:
    """Policies d and e lose clearly to everyone; whether they met each other is all the same."""
    scores = np.full((5, 5), 0.5)
    scores[:3, :3] += np.array([[0, -0.25, 0.4], [0.25, 0, -0.05], [-0.4, 0.05, 0]])
    scores[:3, 3:], scores[3:, :3] = 0.9, 0.1
    whole, holed = _of(scores, []), _of(scores, [("d", "e")])
    strategy = symmetric_equilibrium(centred(filled(holed.policies, holed.tally, how)[0])).row
    assert strategy == pytest.approx(symmetric_equilibrium(centred(expected_scores(whole.tally))).row)
    drawn = centred(filled_draws(holed.policies, holed.tally, how, num_draws=20, seed=0))
    assert max(symmetric_equilibrium(payoffs).row[3:].max() for payoffs in drawn) < 1e-9


def test_predictions_are_drawn_as_widely_as_a_cell_before_its_first_battle() -> None:
    counted = _of(STRENGTHS, [("a", "d")])
    mean = filled(counted.policies, counted.tally, "bradley-terry")[0][0, 3]
    drawn = filled_draws(counted.policies, counted.tally, "bradley-terry", num_draws=40_000, seed=0)[:, 0, 3]
    assert drawn.mean() == pytest.approx(mean, abs=0.01)
    # The variance of Beta(p, 1 − p), which for p = ½ is the Jeffreys prior's 1/8.
    assert drawn.var() == pytest.approx(mean * (1 - mean) / 2, rel=0.03)


def test_worst_cases_are_drawn_from_the_ends_of_the_box() -> None:
    counted = _of(STRENGTHS, [("a", "d"), ("b", "e")])
    drawn = filled_draws(counted.policies, counted.tally, "interval", num_draws=2000, seed=0)
    assert set(drawn[:, 0, 3]) == {0.0, 1.0}
    assert drawn[:, 0, 3].mean() == pytest.approx(0.5, abs=0.04)
    assert (drawn[:, 3, 0] == 1 - drawn[:, 0, 3]).all()
    assert np.corrcoef(drawn[:, 0, 3], drawn[:, 1, 4])[0, 1] == pytest.approx(0, abs=0.08)


@pytest.mark.parametrize(
    ("imputed", "support", "touches"),
    [
        ([("a", "b")], "ac", True),
        ([("a", "b")], "b", True),
        ([("a", "b"), ("d", "e")], "c", False),
        ([("a", "b"), ("d", "e")], "ce", True),
        ([], "abc", False),
    ],
)
def test_what_touches_the_support(imputed: list[tuple[str, str]], support: str, touches: bool) -> None:  # noqa: FBT001
    assert touches_support(imputed, list(support)) is touches
