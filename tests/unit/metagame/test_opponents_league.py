"""The opponents of a learner in a league."""

from itertools import permutations
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.exact import ExactValues
from nashdex.metagame.opponents.league import ClassShares, Weighting, league_mixture, pfsp, problems
from nashdex.metagame.population import PolicyEntry, Population
from nashdex.settings.opponents import LeagueSettings
from support.tournaments import matrix

LEARNER, RANDOM, EQUAL, WEAK, WEAKER, STRONG = (
    PolicyId(name) for name in ("learner", "random", "equal", "weak", "weaker", "strong")
)
RATINGS: dict[str, float] = {
    LEARNER: 1500.0,
    RANDOM: 1000.0,
    EQUAL: 1500.0,
    WEAK: 1430.0,
    WEAKER: 1399.0,
    STRONG: 1650.0,
}
EVERY = ClassShares(0.05, 0.30, 0.30, 0.35)


def _population(*policies: PolicyId) -> Population:
    return Population(
        policies=tuple(
            PolicyEntry(
                id=policy,
                kind="scripted" if policy == RANDOM else "network",
                name=policy,
                iteration=None if policy == RANDOM else 0,
                parent=None,
            )
            for policy in policies
        )
    )


def _mixture(
    *policies: PolicyId, shares: ClassShares = EVERY, rates: dict[PolicyId, float] | None = None
) -> dict[PolicyId, float]:
    return league_mixture(_population(*policies), LEARNER, rates or {}, RATINGS, shares=shares)


@pytest.mark.parametrize(
    ("weighting", "weights"),
    [("hard", (0.01, 0.25, 0.81)), ("variance", (0.09, 0.25, 0.09))],
)
def test_pfsp_weighs_by_the_win_rate(weighting: Weighting, weights: tuple[float, ...]) -> None:
    rates = {WEAK: 0.9, EQUAL: 0.5, STRONG: 0.1}
    expected = [weight / sum(weights) for weight in weights]
    assert list(pfsp(rates, weighting).values()) == pytest.approx(expected)


def test_pfsp_hard_has_the_known_answer() -> None:
    shares = pfsp({WEAK: 0.9, EQUAL: 0.5, STRONG: 0.1}, "hard")
    assert [round(share, 4) for share in shares.values()] == [0.0093, 0.2336, 0.7570]


@pytest.mark.parametrize("weighting", get_args(Weighting))
def test_opponents_that_are_all_beaten_for_certain_are_met_alike(weighting: Weighting) -> None:
    assert pfsp({WEAK: 1.0, WEAKER: 1.0}, weighting) == {WEAK: 0.5, WEAKER: 0.5}
    assert pfsp({}, weighting) == {}


@given(st.dictionaries(st.sampled_from([*"abcdef"]), st.floats(0, 1), min_size=1), st.sampled_from(get_args(Weighting)))
def test_pfsp_is_a_distribution_that_follows_ids(rates: dict[str, float], weighting: Weighting) -> None:
    by_id = {PolicyId(policy): rate for policy, rate in rates.items()}
    shares = pfsp(by_id, weighting)
    assert sum(shares.values()) == pytest.approx(1)
    assert min(shares.values()) >= 0
    assert pfsp(dict(reversed(by_id.items())), weighting) == shares


def test_each_class_gets_its_share_and_its_own_members() -> None:
    rates = {WEAK: 0.6, WEAKER: 0.8}
    mixture = _mixture(RANDOM, LEARNER, EQUAL, WEAK, WEAKER, STRONG, rates=rates)
    hard = {EQUAL: 0.25, STRONG: 0.25, WEAK: 0.16, WEAKER: 0.04}
    peers = {policy: hard[policy] / 0.66 for policy in (EQUAL, STRONG, WEAK)}
    exploitable = {policy: hard[policy] / 0.20 for policy in (WEAK, WEAKER)}
    assert mixture == pytest.approx(
        {
            RANDOM: 0.05,
            LEARNER: 0.30,
            EQUAL: 0.30 * peers[EQUAL],
            STRONG: 0.30 * peers[STRONG],
            WEAK: 0.30 * peers[WEAK] + 0.35 * exploitable[WEAK],
            WEAKER: 0.35 * exploitable[WEAKER],
        }
    ), "70 Elo below is a peer and exploitable, 101 below only exploitable, 150 above a peer"


def test_empty_classes_give_their_share_to_the_others_in_proportion() -> None:
    assert _mixture(RANDOM, LEARNER) == pytest.approx({LEARNER: 0.30 / 0.35, RANDOM: 0.05 / 0.35})


def test_nobody_to_meet_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"opponents\.baseline or opponents\.itself"):
        _mixture(RANDOM, LEARNER, shares=ClassShares(0, 0, 0.5, 0.5))


def test_the_mixture_follows_ids_not_places() -> None:
    rates = {EQUAL: 0.31, WEAK: 0.77, STRONG: 0.1}
    mixtures = [_mixture(*order, rates=rates) for order in permutations([RANDOM, LEARNER, EQUAL, WEAK, STRONG])]
    assert all(mixture == mixtures[0] for mixture in mixtures)
    assert all(list(mixture) == list(mixtures[0]) for mixture in mixtures)


def test_win_rates_start_at_even_and_are_never_certain() -> None:
    played = [[0, 8, 0], [8, 0, 0], [0, 0, 0]]
    counted = matrix(
        (WEAK, LEARNER, STRONG), [[0, 0, 0], [7, 0, 0], [0, 0, 0]], played, [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    )
    assert counted.win_rates(LEARNER) == {WEAK: pytest.approx(8.5 / 10), STRONG: 0.5}


def test_exact_payoffs_are_win_rates_on_the_game_s_scale() -> None:
    matrix = ExactValues(policies=(LEARNER, WEAK), payoffs=((0.0, 1.0), (-1.0, 0.0)), largest_payoff=2.0)
    assert matrix.win_rates(LEARNER) == {WEAK: 0.75}


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ({}, None),
        ({"baseline": 0}, None),
        ({"baseline": 0, "itself": 0}, "opponents.baseline and opponents.itself are both 0, and at first the learner"),
    ],
    ids=str,
)
def test_shares_that_may_leave_no_opponent_are_named_as_they_were_set(
    shares: dict[str, object], said: str | None
) -> None:
    found = list(problems(LeagueSettings.model_validate(shares)))
    assert len(found) == (said is not None)
    assert all(problem.startswith(said or "") for problem in found)
