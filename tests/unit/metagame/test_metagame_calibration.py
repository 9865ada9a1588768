"""Calibration: simulated tournaments have the design that they should, and intervals hold what they say."""

import os
from collections.abc import Mapping

import numpy as np
import pytest

from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.metagame.analysis.progress import mixture_scores
from nashdex.metagame.calibration.documents import CalibratedNumber, Calibration, warnings_of
from nashdex.metagame.evidence.estimates import (
    centred,
    clustered_wilson_interval,
    expected_scores,
    interval_of_mixture,
)
from nashdex.metagame.evidence.pairs import pair_statistics
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.tally import Floats, degrees_of_freedom, design_effect
from nashdex.metagame.ratings.bradley_terry import expected_scores_of
from nashdex.metagame.solvers.registry import configured
from nashdex.report.words.findings import calibration_finding
from nashdex.settings.solve import LastSettings, NashSettings, UniformSettings
from nashdex_lab.coverage.simulating import NUMBERS, Design, Truth, held, summarised


def design_of(scores: Floats, *, pairs: int = 50, correlation: float = -0.35, **more: object) -> Design:
    """Return the design of policies p0, p1, … with these true scores; p0 is scripted and the anchor."""
    size = len(scores)
    policies = tuple(PolicyId(f"p{index}") for index in range(size))
    fields: dict[str, object] = {
        "policies": policies,
        "scores": scores,
        "pairs": pairs * (1 - np.eye(size, dtype=int)),
        "single_battles": np.zeros((size, size), dtype=int),
        "correlation": correlation,
        "draw_share": 0.02,
        "meta_solver": NashSettings(),
        "num_draws": 200,
        "anchors": {"p0": 1000.0},
        "opponents": dict.fromkeys(policies[:-2], 1 / max(1, size - 2)),
        "candidates": policies[-2:],
        "base": policies[1],
        "trained": policies[2:],
        "scripted": policies[:1],
    }
    return Design(**(fields | more))  # type: ignore[arg-type]


def coverage_of(design: Design, sets: int, seed: int = 0) -> Mapping[str, CalibratedNumber]:
    """Return the coverage of each number."""
    truth = Truth.of(design)
    numbers = summarised([held(design, truth, derive_seed(seed, "set", number)) for number in range(sets)])
    return {number.name: number for number in numbers}


LADDER = expected_scores_of(np.array([-2.0, 0.0, 0.3, 0.4, 0.9, 1.0]))


@pytest.mark.parametrize("correlation", [-0.35, 0.0, 0.5])
def test_simulated_pairs_have_their_score_and_correlation(correlation: float) -> None:
    design = design_of(np.full((4, 4), 0.5), pairs=20_000, correlation=correlation)
    assert design.true_correlation() == pytest.approx(correlation, abs=0.01)
    selection, scoring = design.draw(np.random.default_rng(1))
    tally = selection + scoring
    assert (tally.pairs == design.pairs).all()
    assert tally.scores[0, 1] / tally.games[0, 1] == pytest.approx(0.5, abs=0.015)
    found = pair_statistics(tally).correlation
    assert found is not None
    assert found.value == pytest.approx(correlation, abs=0.02)


def test_a_lopsided_cell_takes_the_correlation_that_it_can() -> None:
    design = design_of(np.array([[0.5, 0.97], [0.03, 0.5]]), correlation=-0.4, pairs=10)
    assert -0.05 < design.true_correlation() < 0
    assert design.pair_chances(0, 1).sum() == pytest.approx(1)


def test_true_strengths_are_those_of_a_transitive_game() -> None:
    design = design_of(LADDER)
    assert Truth.of(design).elo == pytest.approx(1000 + 400 / np.log(10) * np.array([0, 2, 2.3, 2.4, 2.9, 3]), abs=0.1)


def _cycle(size: int) -> Floats:
    """Return scores of ¾ against the next half of a circle."""
    ahead = (np.arange(size)[None, :] - np.arange(size)[:, None]) % size
    return np.where(ahead == 0, 0.5, np.where(ahead <= size // 2, 0.75, 0.25))


def _with_dominated(core: Floats, number: int) -> Floats:
    """Return ``core`` with policies that score ¼ against it and ½ among themselves."""
    size = len(core) + number
    scores = np.full((size, size), 0.5)
    scores[: len(core), : len(core)] = core
    scores[: len(core), len(core) :], scores[len(core) :, : len(core)] = 0.75, 0.25
    return scores


def _random_scores(size: int) -> Floats:
    upper = np.triu(np.random.default_rng(1).uniform(-0.35, 0.35, (size, size)), 1)
    return 0.5 + upper - upper.T


def _faint_cycle() -> Floats:
    """Return what a cycle of the first three of six policies adds: chance alone often hides it."""
    return np.pad(0.3 * (_cycle(3) - 0.5), ((0, 3), (0, 3)))


FAMILIES = {
    "ladder": design_of(LADDER),
    "ladder, pairs that agree": design_of(LADDER, correlation=0.5),
    "ladder, 20 pairs a cell": design_of(LADDER, pairs=20),
    "cycle of seven": design_of(_cycle(7), correlation=-0.2),
    "ten copies": design_of(np.full((10, 10), 0.5), correlation=0.0),
    "ten copies, uniform": design_of(np.full((10, 10), 0.5), correlation=0.0, meta_solver=UniformSettings()),
    "ten copies, last": design_of(np.full((10, 10), 0.5), correlation=0.0, meta_solver=LastSettings()),
    "ladder of 20, steps of 100 Elo": design_of(expected_scores_of(np.arange(20) * 100 * np.log(10) / 400)),
    "cycle with dominated policies": design_of(_with_dominated(_cycle(3), 4), correlation=-0.3),
    "random game of six": design_of(_random_scores(6), correlation=0.3, draw_share=0.2),
    "ladder of six with a faint cycle": design_of(np.clip(LADDER + _faint_cycle(), 0.02, 0.98)),
    "anchor 600 Elo below": design_of(expected_scores_of(np.array([-3.45, *[0.0] * 9])), correlation=0.0),
}
CYCLIC = {"ladder of six with a faint cycle", "cycle of seven", "cycle with dominated policies", "random game of six"}
"""Only these have a disc to hold a share of."""
ONE_SIDED = {("ladder of 20, steps of 100 Elo", "mixture_score")}
"""The best policy wins all battles against the anchor in .998 of the tournaments, so every interval holds at least that
share or at most .002."""
SETS = int(os.environ.get("NASHDEX_TEST_SETS", "0"))
"""Tournaments of each family; by default 50 of the first alone."""


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("family", FAMILIES if SETS else ["ladder", "cycle with dominated policies"])
def test_intervals_hold_what_they_say(family: str) -> None:
    """Bounds are three standard errors beyond .93 and .97."""
    numbers = coverage_of(FAMILIES[family], SETS or 50)
    assert set(numbers) == set(NUMBERS) - ({"embedding_share"} if family not in CYCLIC else set())
    off = []
    for name, number in numbers.items():
        print(f"{family}: {name} {number.coverage:.3f} ± {number.standard_error:.3f}")  # noqa: T201 - for the page
        slack = 3 * number.standard_error
        may_hold_more = number.conservative or (family, name) in ONE_SIDED
        highest = 1.0 if may_hold_more else 0.97 + slack
        if not 0.93 - slack <= number.coverage <= highest:
            off.append(name)
    assert off == []


@pytest.mark.parametrize("pairs", [25, 50, 200])
@pytest.mark.parametrize(("members", "shares"), [([0.2, 0.8], [0.5, 0.5]), ([0.05, 0.95], [0.3, 0.7]), ([0.5], [1.0])])
def test_a_battle_with_a_mixture_holds_what_it_says(pairs: int, members: list[float], shares: list[float]) -> None:
    """Both battles of a pair have the same drawn member, as in `nashdex battle` with a mixture."""
    generator = np.random.default_rng(pairs)
    sets, held_the_truth = 1000, 0
    groups = np.arange(2 * pairs) // 2
    for _ in range(sets):
        chances = generator.choice(members, pairs, p=shares)[groups]
        low, high = clustered_wilson_interval(generator.random(2 * pairs) < chances, groups)
        held_the_truth += low <= float(np.dot(members, shares)) <= high
    assert 0.93 <= held_the_truth / sets <= 0.975


@pytest.mark.parametrize("agreeing", [0.0, 0.3])
@pytest.mark.parametrize("pairs", [25, 50, 200])
def test_scores_next_to_1_hold_what_they_say_over_true_scores(pairs: int, agreeing: float) -> None:
    """At one true score counts, being whole, make any interval hold more or less; over .95 to 1 it evens out."""
    generator = np.random.default_rng(pairs)
    sets, held_the_truth = 4000, 0
    groups = np.arange(2 * pairs) // 2
    for truth in generator.uniform(0.95, 1.0, sets):
        wins = generator.random(2 * pairs) < truth
        seconds = wins[1::2]
        seconds[:] = np.where(generator.random(pairs) < agreeing, wins[::2], seconds)
        low, high = clustered_wilson_interval(wins, groups)
        held_the_truth += low <= truth <= high
    print(f"{pairs} pairs, {agreeing} agree: {held_the_truth / sets:.3f}")  # noqa: T201 - for the page
    assert 0.93 <= held_the_truth / sets <= 0.97


@pytest.mark.parametrize("members", [2, 6])
def test_a_mixture_of_scores_next_to_1_with_unequal_counts_holds_what_it_says(members: int) -> None:
    generator = np.random.default_rng(members)
    sets, held_the_truth = 1500, 0
    for _ in range(sets):
        truths, shares = generator.uniform(0.9, 1.0, members), generator.dirichlet(np.ones(members))
        cells = []
        for truth in truths:
            pairs = int(generator.choice([10, 25, 50, 200]))
            scores = (generator.random((pairs, 2)) < truth).sum(axis=1)
            mean = scores.mean() / 2
            effect = float(design_effect(((scores - 2 * mean) ** 2).sum(), pairs, mean, 2 * pairs))
            cells.append((mean, 2 * pairs / effect, float(degrees_of_freedom(pairs))))
        low, high = interval_of_mixture(shares, *np.array(cells).T)
        held_the_truth += int(low <= shares @ truths <= high)
    print(f"mixture of {members}: {held_the_truth / sets:.3f}")  # noqa: T201 - for the page
    assert 0.93 <= held_the_truth / sets <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "pairs", "correlation"), [(20, 50, -0.35), (6, 50, -0.35), (6, 50, 0.5), (6, 20, 0.0), (6, 10, 0.0)]
)
def test_a_mixtures_score_next_to_1_holds_what_it_says_over_ladders(size: int, pairs: int, correlation: float) -> None:
    """Ladders whose best policy truly scores .9 to 1 against the anchor, by the published mixture and interval."""
    sets, generator, held_the_truth = SETS or 200, np.random.default_rng(pairs), 0
    for best in generator.uniform(0.9, 1.0, sets):
        strengths = np.arange(size) * np.log(best / (1 - best)) / (size - 1)
        design = design_of(expected_scores_of(strengths), pairs=pairs, correlation=correlation)
        selection, scoring = design.draw(generator)
        matrix = SampledCounts.of(design.policies, selection + scoring)
        sigma = configured(design.meta_solver).one_population(centred(expected_scores(matrix.tally))).strategy
        shares = dict(zip(design.policies, sigma.tolist(), strict=True))
        (score,) = mixture_scores(matrix, shares, design.scripted)
        held_the_truth += int(score.low <= sigma @ design.scores[:, 0] <= score.high)
    print(f"ladder of {size}, {pairs} pairs, {correlation}: {held_the_truth / sets:.3f}")  # noqa: T201 - for the page
    slack = 3 * np.sqrt(0.95 * 0.05 / sets)
    assert 0.93 - slack <= held_the_truth / sets <= 0.97 + slack


@pytest.mark.slow
def test_a_null_run_claims_nothing() -> None:
    """Ten policies that play alike, 40 or 100 tournaments: exploitability never, single claims in about 5 %."""
    sets = 100 if SETS else 40
    numbers = coverage_of(design_of(np.full((10, 10), 0.5), correlation=0.0, num_draws=100), sets)
    assert numbers["restricted"].coverage == 1, "what the report calls exploitable"
    assert numbers["legacy_dominance_gap"].coverage >= 0.95
    for name in ("best_response_gap", "progress", "mixture_score"):
        misses = round(sets * (1 - numbers[name].coverage))
        print(f"null run: {name} {misses} of {sets}")  # noqa: T201 - for the page
        assert misses <= (8 if SETS else 7), name


def test_the_same_seed_gives_the_same_intervals() -> None:
    design = design_of(LADDER)
    truth = Truth.of(design)
    assert held(design, truth, 5) == held(design, truth, 5)


def _number(coverage: float, *, error: float = 0.004, conservative: bool = False) -> CalibratedNumber:
    return CalibratedNumber(
        name="elo", nominal=0.95, coverage=coverage, standard_error=error, sets=1000, conservative=conservative
    )


@pytest.mark.parametrize(
    ("number", "off"),
    [
        (_number(0.955), False),
        (_number(0.93), True),
        (_number(0.97), True),
        (_number(0.97, conservative=True), False),
        (_number(0.93, error=0.02), False),
    ],
)
def test_what_is_over_one_per_cent_off_is_warned_of(number: CalibratedNumber, *, off: bool) -> None:
    assert bool(warnings_of((number,))) == off
    finding = calibration_finding(
        Calibration(
            policies=6,
            battles=1500,
            correlation=-0.3,
            seed=0,
            seconds=1.0,
            numbers=(number,),
            warnings=warnings_of((number,)),
        )
    )
    assert ("Over 1 % off what they say: elo." in finding) == off
