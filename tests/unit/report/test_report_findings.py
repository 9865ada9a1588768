"""What a report says in words: never more than its intervals allow."""

import pytest

from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.exploitability import ExploitabilityEstimate
from nashdex.metagame.evidence.estimates import wilson_interval
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.report.document import AnchorScore, EloEstimate, PolicyRow, Probability, Progress
from nashdex.report.words.findings import (
    anchors_finding,
    best_response_finding,
    exact_best_response_finding,
    exact_finding,
    mixture_finding,
    progress_finding,
    scripted_opponents_warning,
    top_rated_note,
)
from nashdex.report.words.texts import percent, precise, sentence, signed, verdict

CLAIMS = ("clear progress", "scores above", "scores below", "is exploitable", "made the policy weaker")
A, B, C = PolicyId("a"), PolicyId("b"), PolicyId("c")
NAMES = {A: "best response 1", B: "clone 0", C: "random"}
MIXTURE = "the previous mixture"


def rate_of(wins: int, games: int) -> Estimate:
    low, high = wilson_interval(wins, games)
    return Estimate(value=wins / games, low=float(low), high=float(high))


def gap_of(gap: Estimate, games: int | None = None) -> ExploitabilityEstimate:
    return ExploitabilityEstimate(**gap.model_dump(), estimator="best_response_gap", games=games, policy=A)


def test_26_of_50_is_no_difference() -> None:
    rate = rate_of(26, 50)
    assert verdict(rate, 0.5) == "undecided"
    said = anchors_finding([AnchorScore(opponent=C, rate=rate, games=50)], NAMES)
    assert said == "It shows no clear difference from even against random."
    gap = Estimate(value=rate.value - 0.5, low=rate.low - 0.5, high=rate.high - 0.5)
    said = best_response_finding(gap_of(gap, games=50), NAMES, MIXTURE)
    assert "52.0 %" in said
    assert "38.5 to 65.2 %" in said
    assert "no clear difference from even" in said
    assert not any(claim in said for claim in CLAIMS)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.001, 0.2, "above"), (-0.2, -0.001, "below"), (-0.1, 0.1, "undecided"), (0.0, 0.2, "undecided")],
)
def test_an_interval_that_holds_the_neutral_value_decides_nothing(low: float, high: float, expected: str) -> None:
    assert verdict(Estimate(value=(low + high) / 2, low=low, high=high)) == expected


def test_the_mixture_is_named_by_falling_probability() -> None:
    shares = [(A, 0.25), (B, 0.75), (C, 0.0)]
    strategy = [Probability(policy=p, probability=Estimate(value=v, low=v, high=v)) for p, v in shares]
    said = mixture_finding(strategy, NAMES, trained=[A, B], final=True)
    assert said == "The final mixture plays clone 0 (75.0 %) and best response 1 (25.0 %)."


def test_a_mixture_without_a_trained_policy_says_so() -> None:
    strategy = [Probability(policy=C, probability=Estimate(value=1.0, low=0.4, high=1.0))]
    said = mixture_finding(strategy, NAMES, trained=[A, B], final=True)
    assert said.endswith("it always plays random. It contains no trained policy.")


def test_a_mixture_of_many_names_the_largest() -> None:
    names = {PolicyId(f"p{i}"): f"policy {i}" for i in range(6)}
    strategy = [
        Probability(policy=p, probability=Estimate(value=v, low=v, high=v))
        for p, v in zip(names, (0.4, 0.2, 0.15, 0.1, 0.1, 0.05), strict=True)
    ]
    said = mixture_finding(strategy, names, trained=[PolicyId("p5")], final=False)
    assert said.startswith("The mixture so far plays policy 0 (40.0 %), ")
    assert said.endswith("policy 3 (10.0 %) and 2 others (15.0 % together).")


def test_anchors_are_told_apart_by_verdict() -> None:
    scores = [
        AnchorScore(opponent=A, rate=rate_of(45, 100), games=100),
        AnchorScore(opponent=B, rate=rate_of(52, 100), games=100),
        AnchorScore(opponent=C, rate=rate_of(97, 100), games=100),
    ]
    said = anchors_finding(scores, NAMES)
    assert "scores above even against random" in said
    assert "no clear difference from even against best response 1 and clone 0" in said
    assert "scores below" not in said


@pytest.mark.parametrize(
    ("low", "high", "claim"), [(10.0, 150.0, CLAIMS[0]), (-150.0, -10.0, CLAIMS[4]), (-4.0, 160.0, None)]
)
def test_progress_is_claimed_only_where_the_interval_excludes_0(low: float, high: float, claim: str | None) -> None:
    elo = Estimate(value=(low + high) / 2, low=low, high=high)
    said = progress_finding(Progress(best=A, base=B, elo=elo, standard_error=40.0), NAMES)
    assert [c for c in CLAIMS if c in said] == ([claim] if claim else [])
    if claim is None:
        assert "includes 0" in said


def test_a_gap_above_even_is_a_weakness_and_one_below_is_no_proof_of_strength() -> None:
    def said(low: float, high: float) -> str:
        gap = Estimate(value=(low + high) / 2, low=low, high=high)
        return best_response_finding(gap_of(gap, games=9), NAMES, MIXTURE)

    assert "that mixture is exploitable by at least +0.050" in said(0.05, 0.15)
    assert "too weak to show" in said(-0.15, -0.05)
    assert "that mixture may be exploitable or not" in said(-0.05, 0.05)
    assert "unknown" in best_response_finding(None, NAMES, MIXTURE)


def test_exact_exploitability_is_called_an_equilibrium_only_where_it_is_zero_up_to_rounding() -> None:
    def said(*values: float) -> str:
        gaps = [Estimate(value=value, low=value, high=value) for value in values]
        return exact_finding(
            [ExploitabilityEstimate(**g.model_dump(), estimator="exact", nash_conv=2 * g.value) for g in gaps]
        )

    assert "2.8e−17 (NashConv 5.6e−17): it is an equilibrium" in said(0.5, 2.8e-17)
    assert "not an equilibrium" in said(0.5, 1e-6)
    assert "after 0.5000 in the first iteration" in said(0.5, 0.1)
    assert "after" not in said(0.5)


def test_an_exact_gap_is_a_number_and_no_estimate() -> None:
    def said(value: float) -> str:
        gap = Estimate(value=value, low=value, high=value)
        return exact_best_response_finding(gap_of(gap), NAMES, MIXTURE)

    assert "gains 0.2500 per game against it" in said(0.25)
    assert "loses 0.0100 per game" in said(-0.01)
    assert "breaks even" in said(1e-16)


def test_numbers_as_text() -> None:
    assert precise(0.45833) == "0.4583"
    assert precise(-2.8e-17) == "−2.8e−17"
    assert precise(2.8e-17, smallest=1e-12) == "0"
    assert percent(0.9723) == "97.2 %"
    assert signed(-0.0123, 3) == "−0.012"
    assert signed(85.4, 0) == "+85"
    assert signed(-0.0001, 3) == "0.000"
    assert sentence("p won all its games") == "P won all its games."


def test_scripted_opponents_of_a_training_are_disclosed() -> None:
    said = scripted_opponents_warning({PolicyId("heuristic"): 0.1, C: 0.05})
    assert said.startswith("training met c in 5.0 % and heuristic in 10.0 % of the learner's battles with itself")


def rated(policy: PolicyId, elo: float, standard_error: float = 10.0) -> PolicyRow:
    return PolicyRow(
        id=policy, short_id=policy, name=NAMES[policy], kind="scripted", iteration=None, parent=None, anchor=False,
        probability=Estimate(value=0, low=0, high=0), ladder=None, games=100,
        rating=EloEstimate(elo=Estimate(value=elo, low=elo - 20, high=elo + 20), standard_error=standard_error),
    )  # fmt: skip


def test_the_highest_rating_is_said_to_lean_high_with_the_held_out_figure_beside_it() -> None:
    rows = [rated(A, 1130), rated(B, 1100), rated(C, 1000, 0.0)]
    alone = top_rated_note(rows, None, NAMES)
    assert alone is not None
    assert alone.startswith("Best response 1 is the highest by the same battles that rate it, so its rating leans high")
    progress = Progress(best=A, base=B, elo=Estimate(value=22, low=-3, high=47), standard_error=13)
    assert top_rated_note(rows, progress, NAMES) == (
        f"{alone} In this table it is +30 Elo relative to clone 0; by the battles that did not choose it, +22 "
        "(95 % interval −3 to +47)."
    )
    other = Progress(best=B, base=A, elo=Estimate(value=22, low=-3, high=47), standard_error=13)
    assert top_rated_note(rows, other, NAMES) == alone, "the figure of another policy is not of the highest"


def test_nothing_was_chosen_where_ratings_are_exact_fixed_or_alone() -> None:
    assert top_rated_note([rated(A, 1130, 0.0), rated(B, 1100, 0.0)], None, NAMES) is None
    assert top_rated_note([rated(A, 1130), rated(C, 1000, 0.0)], None, NAMES) is None
    assert top_rated_note([rated(C, 1200, 0.0), rated(A, 1130), rated(B, 1100)], None, NAMES) is None
