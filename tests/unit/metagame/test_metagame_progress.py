"""Progress and scores against anchors, where the true answer is known."""

import random

import numpy as np
import pytest

from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.progress import Improvement, improvement, mixture_scores
from nashdex.metagame.evidence.battles import BattleRecord, Battles, PlannedBattle
from nashdex.metagame.evidence.estimates import cell_intervals, interval_of_mixture, wilson_interval
from nashdex.metagame.evidence.ledger import ShardLedger
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.totals import BattleTotals

BASE, ONE, TWO, WEAK = (PolicyId(name) for name in ("base", "one", "two", "weak"))


def ledger(elo: dict[PolicyId, float], battles_per_pair: int, seed: int = 0) -> ShardLedger:
    generator = random.Random(seed)
    members = sorted(elo)
    records = []
    for i, a in enumerate(members):
        for b in members[i + 1 :]:
            for number in range(battles_per_pair):
                battle = PlannedBattle(a, b, number)
                first, second = battle.seats
                first_wins = generator.random() < 1 / (1 + 10 ** ((elo[second] - elo[first]) / 400))
                records.append(
                    BattleRecord(
                        policies=battle.seats,
                        pair=battle.pair,
                        seed=number,
                        teams=(0, 0),
                        winner=0 if first_wins else 1,
                        turns=1,
                        decisions=2,
                    )
                )
    return ShardLedger(
        battles=Battles.of(records), failures={}, rejected_choices=0, decisions=0, seconds=1.0, cpu_seconds=1.0
    )


def improved(
    elo: dict[PolicyId, float], candidates: list[PolicyId], battles_per_pair: int, seed: int = 0
) -> Improvement | None:
    played = ledger(elo, battles_per_pair, seed)
    totals = BattleTotals.nothing().with_battles(sorted(elo), played.battles)
    return improvement(totals, BASE, candidates, anchors={}, num_draws=100, seed=1)


def test_the_best_is_found_and_its_lead_is_near_the_truth() -> None:
    found = improved({BASE: 1000.0, ONE: 1060.0, TWO: 1200.0, WEAK: 700.0}, [ONE, TWO], 400)
    assert found is not None
    assert (found.best, found.base) == (TWO, BASE)
    assert abs(found.elo.value - 200) < 3 * found.elo.standard_error
    assert found.elo.low < found.elo.value < found.elo.high
    assert found.games == 3 * 200, "the odd half of the base's battles"


def test_a_single_candidate_is_scored_on_every_battle() -> None:
    found = improved({BASE: 1000.0, ONE: 1000.0, WEAK: 700.0}, [ONE], 40)
    assert found is not None
    assert found.games == 2 * 40


def test_equal_policies_are_not_called_better() -> None:
    """The best of many equals looks better than the base on the battles that chose it; scored on others it does not."""
    elo = {BASE: 1000.0} | {PolicyId(f"p{i}"): 1000.0 for i in range(8)}
    leads = []
    for seed in range(12):
        found = improved(elo, sorted(set(elo) - {BASE}), 40, seed)
        assert found is not None
        leads.append(found.elo.value)
    error_of_mean = 35 / len(leads) ** 0.5
    assert abs(sum(leads) / len(leads)) < 3 * error_of_mean


def test_a_candidate_without_battles_to_score_on_is_left_out() -> None:
    """A new policy's first pair of battles chooses, and scores nothing: its rating there would be no measurement."""
    elo = {BASE: 1000.0, ONE: 1100.0, TWO: 1600.0}
    played = ledger(elo, 100).battles
    place = played.policies.index(TWO)
    few = played[((played.a != place) & (played.b != place)) | (played.numbers < 2)]
    totals = BattleTotals.nothing().with_battles(sorted(elo), few)
    found = improvement(totals, BASE, [ONE, TWO], anchors={}, num_draws=100, seed=1)
    assert found is not None
    assert found.best == ONE
    assert abs(found.elo.value - 100) < 3 * found.elo.standard_error
    unscored = BattleTotals.nothing().with_battles(sorted(elo), few[few.numbers < 2])
    assert improvement(unscored, BASE, [ONE, TWO], anchors={}, num_draws=100, seed=1) is None


def test_no_candidate_or_no_battles_to_score_on_is_no_answer() -> None:
    assert improved({BASE: 1000.0, WEAK: 700.0}, [], 40) is None
    assert improved({BASE: 1000.0, ONE: 1000.0, TWO: 1000.0}, [ONE, TWO], 2) is None, "pair 0 alone chooses"


def test_a_mixture_scores_the_weighted_mean_of_its_members() -> None:
    played = ledger({ONE: 1200.0, TWO: 1000.0, WEAK: 800.0}, 100)
    matrix = SampledCounts.unplayed(()).with_records((ONE, TWO, WEAK), played.battles)
    (score,) = mixture_scores(matrix, {ONE: 0.25, TWO: 0.75}, [WEAK])
    assert score.value == pytest.approx((0.25 * matrix.wins[0][2] + 0.75 * matrix.wins[1][2]) / 100)
    assert score.low < score.value < score.high
    assert score.games == 200


def test_a_mixture_of_one_policy_has_the_interval_of_its_cell() -> None:
    played = ledger({ONE: 1200.0, TWO: 1000.0, WEAK: 800.0}, 100)
    matrix = SampledCounts.unplayed(()).with_records((ONE, TWO, WEAK), played.battles)
    low, high = cell_intervals(matrix.tally)
    (score,) = mixture_scores(matrix, {ONE: 1.0}, [WEAK])
    assert (score.low, score.high) == pytest.approx((low[0, 2], high[0, 2]))


def test_the_variances_of_a_mixtures_cells_add_up() -> None:
    """Four cells of 100 games count as one of 400; a known score has no error."""
    known = np.full(4, np.inf)
    low, high = interval_of_mixture(np.full(4, 0.25), np.full(4, 0.9), np.full(4, 100.0), known)
    assert (low, high) == pytest.approx(wilson_interval(360, 400))
    assert interval_of_mixture(np.array([1.0]), np.array([0.5]), np.array([np.inf]), known[:1]) == (0.5, 0.5)


def test_a_member_of_the_mixture_counts_a_half_against_itself() -> None:
    played = ledger({ONE: 1200.0, WEAK: 800.0}, 100)
    matrix = SampledCounts.unplayed(()).with_records((ONE, WEAK), played.battles)
    (score,) = mixture_scores(matrix, {ONE: 0.5, WEAK: 0.5}, [WEAK])
    assert score.value == pytest.approx(0.5 * matrix.wins[0][1] / 100 + 0.25)
    assert mixture_scores(matrix, {WEAK: 1.0}, [WEAK]) == ()
