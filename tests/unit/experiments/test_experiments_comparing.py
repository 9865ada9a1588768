"""Comparisons keep what they promise: over 1,000 simulated experiments each, from battles to sentences."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pytest
from scipy import stats

from nashdex_lab.experiments.comparing import Sample, difference, holm
from nashdex_lab.experiments.estimates import ELO_PER_STRENGTH, fixed_reference_elo
from nashdex_lab.experiments.records import Match
from nashdex_lab.experiments.rules import Comparison
from nashdex_lab.experiments.sentences import finding

NUM_EXPERIMENTS, SEEDS, BATTLES, LEVEL = 1000, 3, 1000, 0.05
COMPARISONS = 4
"""Each of four arms with the first one."""
SAMPLING_ERROR = 2.5 * math.sqrt(LEVEL * (1 - LEVEL) / NUM_EXPERIMENTS)


class Rates(NamedTuple):
    """Shares of the simulated experiments."""

    any_shown: float
    """A difference was shown."""
    any_false_bound: float
    """`At most` was said of less than the true difference."""
    all_covered: float
    """The corrected intervals held all true differences."""
    one_covered: float
    """The 95 % interval of one comparison held the true difference."""


def simulated(between_seeds: float, *, true: float = 0.0, smallest: float = 20.0, seed: int = 0) -> Rates:
    """Return what experiments show whose arms differ from the first one by ``true`` Elo, each.

    Args:
        between_seeds: standard deviation of the Elo of one recipe's trainings.
        true: Elo of the other arms; the first has 0.
        smallest: smallest difference of interest.
        seed: of the draws.
    """
    draws = np.random.default_rng(seed)
    elos = draws.normal(0.0, between_seeds, (NUM_EXPERIMENTS, COMPARISONS + 1, SEEDS))
    elos[:, 1:] += true
    wins = draws.binomial(BATTLES, 1 / (1 + np.exp(-elos / ELO_PER_STRENGTH)))
    measured = {won: _elo_of(int(won)) for won in np.unique(wins)}
    shown, false_bound, covered, one_covered = 0, 0, 0, 0
    for experiment in wins:
        samples = [_sample([measured[won] for won in arm]) for arm in experiment]
        found = [difference(sample, samples[0], samples, "pooled") for sample in samples[1:]]
        known = [each for each in found if each is not None]
        p_values = holm([each.p_value() for each in known])
        intervals = [each.interval(LEVEL / COMPARISONS) for each in known]
        comparison = Comparison(arm="a", other="b", smallest_difference=smallest)
        said = [finding(comparison, one, p, LEVEL) for one, p in zip(intervals, p_values, strict=True)]
        shown += bool({"stronger", "weaker"} & {*said})
        false_bound += any(
            word == "at most" and (one.high < min(true, smallest) or one.low > max(true, -smallest))
            for one, word in zip(intervals, said, strict=True)
        )
        covered += all(one.low <= true <= one.high for one in intervals)
        alone = known[0].interval(LEVEL)
        one_covered += alone.low <= true <= alone.high
    return Rates(*(count / NUM_EXPERIMENTS for count in (shown, false_bound, covered, one_covered)))


def _elo_of(wins: int) -> tuple[float, float]:
    score = wins / BATTLES
    half = 1.96 * math.sqrt(score * (1 - score) / BATTLES)
    match = Match(
        wins=wins, draws=0, losses=BATTLES - wins, score=score, low=score - half, high=score + half, battles=BATTLES,
        command="",
    )  # fmt: skip
    return fixed_reference_elo({"heuristic": match}, {"heuristic": 0.0})


def _sample(elos: Sequence[tuple[float, float]]) -> Sample:
    return Sample(
        values={seed: value for seed, (value, _) in enumerate(elos)},
        battle_errors={seed: error for seed, (_, error) in enumerate(elos)},
    )


@pytest.mark.parametrize("between_seeds", [0.0, 8.0, 25.0])
def test_in_null_experiments_any_difference_is_shown_at_most_at_the_level(between_seeds: float) -> None:
    """Battles alone have a standard deviation of 11 Elo here."""
    rates = simulated(between_seeds)
    assert 0.005 < rates.any_shown <= LEVEL + SAMPLING_ERROR
    assert 0.93 <= rates.one_covered <= 0.97
    assert rates.all_covered >= 1 - LEVEL - SAMPLING_ERROR


@pytest.mark.parametrize("between_seeds", [8.0, 25.0])
def test_true_differences_are_covered_and_no_bound_is_below_them(between_seeds: float) -> None:
    rates = simulated(between_seeds, true=30.0, smallest=20.0)
    assert 0.93 <= rates.one_covered <= 0.97
    assert rates.all_covered >= 1 - LEVEL - SAMPLING_ERROR
    assert rates.any_false_bound <= LEVEL + SAMPLING_ERROR
    assert rates.any_shown > 0.15, "not by showing nothing"


def test_without_an_error_of_battles_two_arms_are_a_t_test_with_a_pooled_variance() -> None:
    one, other = _exact(10.0, 12.0, 14.0), _exact(17.0, 18.0, 24.0)
    found = difference(one, other, [one, other], "pooled")
    assert found is not None
    t_test = stats.ttest_ind([10, 12, 14], [17, 18, 24])
    assert found.degrees_of_freedom == pytest.approx(4)
    assert found.value / found.standard_error == pytest.approx(t_test.statistic)
    assert found.p_value() == pytest.approx(t_test.pvalue)
    expected = t_test.confidence_interval(0.9)
    assert (found.interval(0.1).low, found.interval(0.1).high) == pytest.approx((expected.low, expected.high))


def test_seeds_that_lie_closer_together_than_their_battles_allow_shorten_no_interval() -> None:
    one, other = (Sample(dict(enumerate([x, x + 0.1, x])), dict.fromkeys(range(3), 6.0)) for x in (0.0, 10.0))
    found = difference(one, other, [one, other], "pooled")
    assert found is not None
    assert found.standard_error == pytest.approx(6 * math.sqrt(2 / 3))
    assert found.p_value() > 0.03


def test_other_arms_say_how_much_seeds_vary_and_one_training_counts_once() -> None:
    wide = _exact(0.0, 30.0, 60.0)
    one, other = _exact(0.0, 1.0, 2.0), _exact(5.0, 6.0, 7.0)
    alone, beside = (difference(one, other, all_arms, "pooled") for all_arms in ([one, other], [one, other, wide]))
    assert alone is not None
    assert beside is not None
    assert beside.standard_error > 10 * alone.standard_error
    assert beside.degrees_of_freedom == pytest.approx(6)
    shared = [Sample(each.values, each.battle_errors, ("run-1", "run-2", "run-3")) for each in (other, wide)]
    joined = difference(one, shared[0], [one, *shared], "pooled")
    assert joined is not None
    assert joined.degrees_of_freedom == pytest.approx(4)


def test_one_training_counts_once_where_one_of_its_arms_lacks_a_seed() -> None:
    """A run may be invalid, or not measured yet, for one of the arms that share it."""
    one, runs = _exact(0.0, 1.0, 2.0), ("run-1", "run-2", "run-3")
    last, magnet = _exact(5.0, 6.0, 7.0), _exact(5.5, 6.5)
    shared = [Sample(last.values, last.battle_errors, runs), Sample(magnet.values, magnet.battle_errors, runs[:2])]
    found = difference(one, shared[0], [one, *shared], "pooled")
    assert found is not None
    assert found.degrees_of_freedom == pytest.approx(4)


def test_paired_differences_are_students_over_the_seeds() -> None:
    one, other = _exact(10.0, 20.0, 30.0), _exact(9.0, 18.0, 27.0)
    found = difference(one, other, [one, other], "paired")
    assert found is not None
    assert (found.value, found.degrees_of_freedom) == (2.0, 2)
    assert found.p_value() == pytest.approx(stats.ttest_1samp([1, 2, 3], 0).pvalue)
    only_one = Sample({3: 5.0}, {3: 2.0})
    assert difference(one, only_one, [], "paired") is None, "no seed in common"


@pytest.mark.parametrize("variance", ["pooled", "paired"])
def test_one_seed_has_the_error_of_its_battles_alone(variance: Literal["pooled", "paired"]) -> None:
    one, other = Sample({0: 10.0}, {0: 3.0}), Sample({0: 0.0}, {0: 4.0})
    found = difference(one, other, [one, other], variance)
    assert found is not None
    assert (found.unit, found.standard_error, found.degrees_of_freedom) == ("battles", 5.0, math.inf)
    assert found.p_value() == pytest.approx(2 * stats.norm.sf(2))


def test_holm_is_bonferroni_step_by_step() -> None:
    """The p-values of `docs/research/population.md`, in another order."""
    adjusted = holm([0.031, 0.005, 0.61, 0.009, 0.40, 0.048, 0.12])
    assert adjusted == pytest.approx([0.155, 0.035, 0.80, 0.054, 0.80, 0.192, 0.36])
    assert holm([]) == []


def _exact(*values: float) -> Sample:
    return Sample(values=dict(enumerate(values)), battle_errors=dict.fromkeys(range(len(values)), 0.0))
