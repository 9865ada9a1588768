"""Choosing the best of several evaluations on one half of the battles, and scoring it on the other."""

import numpy as np
import pytest

from nashdex.core.results import Evaluation
from nashdex.learning.evaluation.ledger import best, held_out, selection_score
from nashdex.metagame.evidence.estimates import wilson_interval


def evaluation(scores: list[float], decisions: int, anchor: str = "heuristic", style: str = "greedy") -> Evaluation:
    return Evaluation(
        decisions=decisions,
        cpu_seconds=0.0,
        anchor=anchor,
        style=style,
        score=sum(scores) / len(scores),
        low=0.0,
        high=1.0,
        battles=len(scores),
        draws=0,
        selection_score=selection_score(scores),
        held_out=held_out(scores),
    )


def test_pairs_are_dealt_out_in_turn_and_never_split() -> None:
    scores = [1.0, 1.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0]
    assert selection_score(scores) == 0.75
    half = held_out(scores)
    assert (half.score, half.battles) == (0.125, 4)
    assert 0 <= half.low < 0.125 < half.high < 1


def test_the_interval_is_that_of_pairs_whose_battles_go_together() -> None:
    alike = [float(pair // 2 % 2) for pair in range(200) for _ in range(2)]
    half = held_out(alike)
    assert (half.score, half.battles) == (0.5, 200)
    low, high = wilson_interval(50, 100)
    assert (half.low, half.high) == pytest.approx((low, high), abs=0.003)


def test_the_best_is_chosen_on_the_even_pairs_of_the_first_anchor_and_style() -> None:
    even_is_better, odd_is_better = [1.0, 1.0, 0.0, 0.0] * 2, [0.0, 0.0, 1.0, 1.0] * 2
    found = [
        evaluation([1.0] * 8, 0),
        evaluation(odd_is_better, 10),
        evaluation([1.0] * 8, 10, anchor="start"),
        evaluation(even_is_better, 20),
        evaluation([1.0] * 8, 20, style="sampled"),
        evaluation(even_is_better, 30),
    ]
    chosen = best(found)
    assert chosen is found[3], "not the start, no other anchor or style, and the earlier of equals"
    assert chosen.held_out is not None
    assert chosen.held_out.score == 0.0


def test_nothing_is_best_before_anything_was_learned() -> None:
    assert best([]) is None
    assert best([evaluation([1.0] * 4, 0)]) is None


def test_the_held_out_score_of_the_best_of_many_has_no_bias() -> None:
    """Of 30 equal policies, the winner's own half says .56, where the truth is one half."""
    rng = np.random.default_rng(0)
    chosen = []
    for _ in range(200):
        found = [evaluation(rng.integers(0, 2, 400).astype(float).tolist(), number + 1) for number in range(30)]
        chosen.append(best(found))
    own = [one.selection_score for one in chosen if one is not None and one.selection_score is not None]
    other = [one.held_out.score for one in chosen if one is not None and one.held_out is not None]
    assert np.mean(own) > 0.55
    assert np.mean(other) == pytest.approx(0.5, abs=0.01)
