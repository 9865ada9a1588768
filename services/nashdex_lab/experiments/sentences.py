"""What a comparison shows, in sentences of a fixed set. None of them says that two arms are equal."""

import math
from typing import Literal

from nashdex_lab.experiments.estimates import ClusteredEstimate
from nashdex_lab.experiments.rules import ELO, EXPLOITER, Comparison

_SMALLEST_P = 1e-4

Finding = Literal["stronger", "weaker", "at most", "nothing shown", "no result"]


def finding(comparison: Comparison, estimate: ClusteredEstimate, p_value: float, level: float) -> Finding:
    """Return what a comparison shows.

    ``estimate`` has the interval that is corrected for the number of comparisons, ``p_value`` is Holm's, and ``level``
    is the level of all tests together.
    """
    if p_value <= level:
        return "stronger" if estimate.value > 0 else "weaker"
    weaker, stronger = _bounds(comparison, estimate)
    return "nothing shown" if weaker is None and stronger is None else "at most"


def sentence(comparison: Comparison, found: Finding, estimate: ClusteredEstimate | None, p_value: float) -> str:
    """Return the sentence of what was found."""
    one, other = comparison.arm, comparison.other
    if estimate is None or found == "no result":
        return f"{one} and {other}: no result yet."
    measured = interval_text(estimate, is_elo=comparison.measure == ELO)
    if comparison.measure != ELO:
        measured += f" in score against {against(comparison.measure)}"
    match found:
        case "stronger" | "weaker":
            said = f"{one} is {found} than {other}: {measured}, p {p_text(p_value)} after Holm."
        case "at most":
            said = f"{one} is {' and '.join(_most(comparison, estimate))} than {other}: {measured}."
        case _:
            said = f"no difference between {one} and {other} is shown: {measured}."
    if estimate.unit == "battles":
        return (
            f"Between the recipes {one} and {other} nothing can be shown with one seed. Of these policies alone, by "
            f"their battles: {said}"
        )
    return said[0].upper() + said[1:] if found == "nothing shown" else said


def against(measure: str) -> str:
    """Return the opponent of a score, in words."""
    return "its exploiter" if measure == EXPLOITER else measure


def interval_text(estimate: ClusteredEstimate, *, is_elo: bool) -> str:
    """Return a difference with its interval."""
    digits, unit = ("+.0f", " Elo") if is_elo else ("+.3f", "")
    text = f"{estimate.value:{digits}}{unit} [{estimate.low:{digits}}, {estimate.high:{digits}}]"
    return text.replace("-", "−")


def p_text(p_value: float) -> str:
    """Return a p-value with two digits."""
    return "< .0001" if p_value < _SMALLEST_P else f"{p_value:.2g}".removeprefix("0")


def _bounds(comparison: Comparison, estimate: ClusteredEstimate) -> tuple[float | None, float | None]:
    """Return by how much the arm can be weaker and stronger, each if it is less than what is of interest."""
    smallest = comparison.smallest_difference
    if smallest is None:
        return None, None
    weaker, stronger = max(0.0, -estimate.low), max(0.0, estimate.high)
    return weaker if weaker < smallest else None, stronger if stronger < smallest else None


def _most(comparison: Comparison, estimate: ClusteredEstimate) -> list[str]:
    factor = 1 if comparison.measure == ELO else 1000
    unit = " Elo" if comparison.measure == ELO else ""
    return [
        f"at most {math.ceil(bound * factor) / factor:g}{unit} {way}"
        for bound, way in zip(_bounds(comparison, estimate), ("weaker", "stronger"), strict=True)
        if bound is not None
    ]
