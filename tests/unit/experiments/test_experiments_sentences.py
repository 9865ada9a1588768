"""The sentences of a comparison: a fixed set, none of which accepts a null hypothesis."""

import pytest

from nashdex_lab.experiments.estimates import ClusteredEstimate, Unit
from nashdex_lab.experiments.rules import Comparison
from nashdex_lab.experiments.sentences import finding, p_text, sentence

LEVEL = 0.05


def said(
    low: float, value: float, high: float, *, p: float, smallest: float | None = None, measure: str = "elo",
    unit: Unit = "seeds",
) -> str:  # fmt: skip
    comparison = Comparison(arm="a", other="b", measure=measure, smallest_difference=smallest)
    estimate = ClusteredEstimate(value=value, low=low, high=high, unit=unit)
    return sentence(comparison, finding(comparison, estimate, p, LEVEL), estimate, p)


@pytest.mark.parametrize(
    ("interval", "p", "smallest", "says"),
    [
        ((5, 20, 35), 0.012, None, "a is stronger than b: +20 Elo [+5, +35], p .012 after Holm."),
        ((-35, -20, -5), 0.05, 50, "a is weaker than b: −20 Elo [−35, −5], p .05 after Holm."),
        ((-2, 20, 42), 0.04, None, "a is stronger than b: +20 Elo [−2, +42], p .04 after Holm."),
        ((-9, 2, 13), 0.8, None, "No difference between a and b is shown: +2 Elo [−9, +13]."),
        ((-9, 2, 13), 0.8, 5, "No difference between a and b is shown: +2 Elo [−9, +13]."),
        ((-9.2, 2, 13), 0.8, 10, "a is at most 10 Elo weaker than b: +2 Elo [−9, +13]."),
        ((-19, -2, 3.5), 0.8, 10, "a is at most 4 Elo stronger than b: −2 Elo [−19, +4]."),
        ((-9, 2, 13), 1.0, 20, "a is at most 9 Elo weaker and at most 13 Elo stronger than b: +2 Elo [−9, +13]."),
    ],
)
def test_each_case_has_its_sentence(
    interval: tuple[float, float, float], p: float, smallest: float | None, says: str
) -> None:
    low, value, high = interval
    assert said(low, value, high, p=p, smallest=smallest) == says


def test_a_score_is_said_with_its_anchor() -> None:
    assert said(0.01, 0.02, 0.03, p=0.001, measure="random") == (
        "a is stronger than b: +0.020 [+0.010, +0.030] in score against random, p .001 after Holm."
    )
    assert said(-0.01, 0.002, 0.0123, p=0.9, measure="random", smallest=0.02) == (
        "a is at most 0.01 weaker and at most 0.013 stronger than b: +0.002 [−0.010, +0.012] in score against random."
    )


def test_with_one_seed_nothing_is_said_of_recipes() -> None:
    text = said(5, 20, 35, p=0.012, unit="battles")
    assert text.startswith("Between the recipes a and b nothing can be shown with one seed. Of these policies alone")
    assert text.endswith("by their battles: a is stronger than b: +20 Elo [+5, +35], p .012 after Holm.")


def test_p_values_are_short() -> None:
    assert [p_text(p) for p in (1.0, 0.61234, 0.0352, 0.00011, 1e-9)] == ["1", ".61", ".035", ".00011", "< .0001"]
