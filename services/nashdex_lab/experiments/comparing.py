"""Comparisons of arms over seeds, corrected for their number.

The value of arm a in seed s, an Elo or a score, is μ_a + u_as + e_as. u is what another training of the same recipe
would change (variance τ², the same for all arms); e is the error of the battles that measure the policy, with the known
variance b²_as from the battles' own intervals. The variance s²_a of an arm's values estimates τ² + b², so

    τ² = max(0, s² − b²)                    s², b²: means over the arms, weighted by S_a − 1
    Var(mean of a) = (τ² + mean b²_a) / S_a

and the difference of two arms is compared with Student's t. s² has ν = Σ (S_a − 1) degrees of freedom and the battles'
part any number, so the variance V of the difference has ν (V / (s² Σ 1/S_a))² (Satterthwaite 1946, Biometrics Bulletin
2, 110). Without the maximum and with equal b² these are ν, and this is the two-sample t test with a variance pooled
over all arms (Snedecor & Cochran, Statistical Methods). τ² is a moment estimator of a random effect beside a known
error, as in DerSimonian & Laird (1986, Controlled Clinical Trials 7, 177). So seeds that happen to lie closer together
than their battles allow do not shorten an interval. Arms that play the same trained runs count once in s² and ν; their
own difference gets too wide an interval.

`paired` instead takes the differences by seed, with S − 1 degrees of freedom and no further error of the battles: arms
of one seed meet the same teams, so the error of a difference is not known from the two intervals.

Multiplicity: p-values by Holm (1979, Scandinavian Journal of Statistics 6, 65), intervals by Bonferroni. With m
registered comparisons, whether or not they have a result, each interval has the level 1 − level / m, so that all hold
together. Holm's test is a little sharper: it can show a difference whose interval still includes 0.

If an arm has a single seed, the difference has the error of its battles alone: it is one of policies, not of recipes.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from scipy.special import ndtr, stdtr

from nashdex_lab.experiments.estimates import ClusteredEstimate, Unit, quantile

_FEWEST_SEEDS = 2


@dataclass(frozen=True)
class Sample:
    """One measure of an arm's completed runs, by seed."""

    values: Mapping[int, float]
    """Elo or score."""
    battle_errors: Mapping[int, float]
    """Standard errors by battles alone."""
    runs: tuple[str, ...] = ()
    """The runs in the store. Arms with the same ones, or some of them, are one training."""

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return math.fsum(self.values.values()) / len(self.values)

    @property
    def battle_variance(self) -> float:
        """Mean over the seeds of the variance by battles."""
        return math.fsum(error**2 for error in self.battle_errors.values()) / len(self.battle_errors)

    @property
    def variance(self) -> float:
        """Unbiased variance over the seeds, the battles' included. Needs two seeds."""
        return _variance(self.values.values())


@dataclass(frozen=True)
class Difference:
    """The difference of two arms' means, before any correction."""

    value: float
    standard_error: float
    degrees_of_freedom: float
    """Infinite where the error is the battles' alone."""
    unit: Unit

    def p_value(self) -> float:
        """Return the two-sided p-value of no difference."""
        if self.standard_error == 0:
            return 1.0 if self.value == 0 else 0.0
        return 2 * _distribution(-abs(self.value) / self.standard_error, self.degrees_of_freedom)

    def interval(self, level: float) -> ClusteredEstimate:
        """Return the estimate with the interval that misses the true difference with probability ``level``."""
        half = quantile(1 - level / 2, self.degrees_of_freedom) * self.standard_error
        return ClusteredEstimate(value=self.value, low=self.value - half, high=self.value + half, unit=self.unit)


def difference(
    one: Sample, other: Sample, everyone: Iterable[Sample], variance: Literal["pooled", "paired"]
) -> Difference | None:
    """Return ``one`` minus ``other``; None where there is nothing to compare.

    ``everyone`` holds all arms, for the pooled variance (``rules.DifferenceRule``).
    """
    if variance == "paired":
        return _paired(one, other)
    if not one.values or not other.values:
        return None
    value = one.mean - other.mean
    if min(len(one.values), len(other.values)) < _FEWEST_SEEDS:
        error = math.sqrt(sum(each.battle_variance / len(each.values) for each in (one, other)))
        return Difference(value, error, math.inf, "battles")
    total, battles, freedom = _pooled(everyone)
    squared = sum((max(0.0, total - battles) + each.battle_variance) / len(each.values) for each in (one, other))
    estimated = sum(total / len(each.values) for each in (one, other))
    # Satterthwaite: the estimated part of the variance has ``freedom`` degrees, the rest any number.
    of_variance = math.inf if estimated == 0 else freedom * (squared / estimated) ** 2
    return Difference(value, math.sqrt(squared), of_variance, "seeds")


def _pooled(samples: Iterable[Sample]) -> tuple[float, float, int]:
    """Return s², b² and the degrees of freedom of s²."""
    trainings: list[list[Sample]] = []
    for sample in samples:
        if len(sample.values) >= _FEWEST_SEEDS:
            shared = (arms for arms in trainings if any({*arm.runs} & {*sample.runs} for arm in arms))
            if arms := next(shared, None):
                arms.append(sample)
            else:
                trainings.append([sample])
    freedom, total, battles = 0, 0.0, 0.0
    for arms in trainings:
        own = max(len(arm.values) for arm in arms) - 1
        freedom += own
        total += own * math.fsum(arm.variance for arm in arms) / len(arms)
        battles += own * math.fsum(arm.battle_variance for arm in arms) / len(arms)
    return total / freedom, battles / freedom, freedom


def _paired(one: Sample, other: Sample) -> Difference | None:
    seeds = [seed for seed in one.values if seed in other.values]
    if not seeds:
        return None
    differences = [one.values[seed] - other.values[seed] for seed in seeds]
    mean = math.fsum(differences) / len(seeds)
    if len(seeds) < _FEWEST_SEEDS:
        (seed,) = seeds
        return Difference(mean, math.hypot(one.battle_errors[seed], other.battle_errors[seed]), math.inf, "battles")
    return Difference(mean, math.sqrt(_variance(differences) / len(seeds)), len(seeds) - 1, "seeds")


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values: those at most ``level`` are shown at ``level`` together."""
    adjusted, largest = [1.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def _variance(values: Iterable[float]) -> float:
    known = list(values)
    mean = math.fsum(known) / len(known)
    return math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1)


def _distribution(value: float, degrees_of_freedom: float) -> float:
    return float(ndtr(value) if math.isinf(degrees_of_freedom) else stdtr(degrees_of_freedom, value))
