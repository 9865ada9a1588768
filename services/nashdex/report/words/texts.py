"""What the report's page says about each estimator and each learning curve."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from nashdex.metagame.analysis.exploitability import Estimator
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.opponents.registry import OPPONENT_RULES
from nashdex.metagame.tournament.gate import GateDecision
from nashdex.oracles.registry import ORACLES

_SMALLEST_DECIMAL = 1e-3
"""Smaller numbers are written with a power of ten."""


def verdict(interval: Estimate, neutral: float = 0.0) -> Literal["above", "below", "undecided"]:
    """Return on which side of ``neutral`` the interval lies; undecided if it contains ``neutral``."""
    if interval.low > neutral:
        return "above"
    return "below" if interval.high < neutral else "undecided"


def percent(share: float) -> str:
    """Return a share as text: ``97.2 %``."""
    return f"{100 * share:.1f} %"


def percent_range(interval: Estimate) -> str:
    """Return an interval of shares as text: ``95.1 to 98.4 %``."""
    return f"{100 * interval.low:.1f} to {percent(interval.high)}"


def signed(value: float, decimals: int) -> str:
    """Return a number with its sign, a true minus: ``+85``, ``−0.012``."""
    text = f"{value:+.{decimals}f}".replace("-", "−")
    return text[1:] if not text.strip("+−0.") else text


def precise(value: float, smallest: float = 0.0) -> str:
    """Return an exact number: ``0.4583``, ``3.1e−17``. Numbers up to ``smallest`` are rounding errors: ``0``."""
    if abs(value) <= smallest:
        return "0"
    text = f"{value:.4f}" if abs(value) >= _SMALLEST_DECIMAL else f"{value:.1e}"
    return text.replace("-", "−")


def capital(text: str) -> str:
    """Return ``text`` with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Return ``text`` as a sentence: first letter in upper case, full stop at the end."""
    return f"{capital(text)}{'' if text.endswith('.') else '.'}"


@dataclass(frozen=True, slots=True)
class EstimatorText:
    """The meaning of an estimator, its limits, and the reason for its absence."""

    name: Estimator
    title: str
    meaning: str
    absent: str
    has_nash_conv: bool = False
    exact_meaning: str | None = None
    """Replaces ``meaning`` where payoffs are exact."""


ESTIMATORS = (
    EstimatorText(
        name="exact",
        title="Exact exploitability",
        meaning="What a best response over the whole game tree gains per game, in a random seat. This is the true "
        "value; NashConv is twice that, the sum over both seats. 0 is an equilibrium.",
        absent="Only for tabular games. The game tree of Showdown is too large to search.",
        has_nash_conv=True,
    ),
    EstimatorText(
        name="best_response_gap",
        title="Best-response gap",
        meaning="Score above ½ of this iteration's policy against the previous mixture, which it was trained against, "
        "on fresh battles. A lower bound: better training may gain more, so a small gap proves no strength.",
        exact_meaning="What this iteration's policy gains per game against the previous mixture, which it was trained "
        "against. A lower bound; with an exact oracle, that mixture's exact exploitability.",
        absent="No best response was trained against a mixture.",
    ),
    EstimatorText(
        name="restricted",
        title="Restricted exploitability",
        meaning="What the best member of the population gains against the mixture. 0 by construction for the Nash "
        "mixture of the same payoffs; the interval covers errors of those payoffs. Says nothing about opponents "
        "outside the population.",
        exact_meaning="What the best member of the population gains per game against the mixture. 0 by construction "
        "for the Nash mixture. Says nothing about opponents outside the population.",
        absent="Not published, because a payoff on the support is missing.",
    ),
    EstimatorText(
        name="legacy_dominance_gap",
        title="Legacy dominance gap",
        meaning="How badly the weakest member loses to the mixture. Kept for comparison with older work. It is not an "
        "exploitability: it stays high once a weak policy is in the population.",
        absent="Not published, because a payoff is missing.",
    ),
)


def opponents_of(rule: str) -> str:
    """Return what an iteration trained against, by its opponent rule."""
    return OPPONENT_RULES[rule].words if rule in OPPONENT_RULES else rule


def oracle_summary(name: str) -> str:
    """Return what an oracle does, in one line."""
    return ORACLES[name].summary if name in ORACLES else name


def other_opponents(rule: str, iteration: int) -> str | None:
    """Return what an iteration trained against, where that is not the meta-strategy; None where it is."""
    if iteration == 0 or (rule in OPPONENT_RULES and OPPONENT_RULES[rule].answers_meta_strategy):
        return None
    return opponents_of(rule)


DECISIONS: Final[dict[GateDecision, str]] = {
    "accept": "accepted",
    "reject": "rejected",
    "undecided": "undecided, let in",
    "exempt": "not tested",
}
"""What a gate decided."""


@dataclass(frozen=True, slots=True)
class LearningChart:
    """A chart of learning curves, drawn if at least one of them was measured."""

    title: str
    caption: str
    curves: tuple[tuple[str, str], ...]
    """Name of each curve, and its name in the legend."""


LEARNING_CHARTS = (
    LearningChart(
        "KL gauges",
        "nats per decision",
        (("kl_round_start", "round start"), ("kl_reference", "reference"), ("kl_iteration_start", "iteration start")),
    ),
    LearningChart("Policy entropy", "nats per decision", (("entropy", "entropy"),)),
    LearningChart("Clip fraction", "share of decisions", (("clip_fraction", "clip fraction"),)),
    LearningChart(
        "Explained variance",
        "share of the returns' variance, by the critic",
        (("explained_variance", "explained variance"),),
    ),
    LearningChart(
        "Rank of the critic", "dimensions of its last layer's inputs", (("critic_rank", "dimensions that hold 99 %"),)
    ),
    LearningChart("Value loss", "of the critic", (("value_loss", "value loss"),)),
    LearningChart("Policy loss", "of the actor", (("policy_loss", "policy loss"),)),
    LearningChart("Gradient norm", "before clipping", (("gradient_norm", "gradient norm"),)),
    LearningChart("Reference coefficient", "β, of the reference KL", (("beta_reference", "β"),)),
    LearningChart("Entropy coefficient", "of the entropy bonus", (("entropy_coefficient", "entropy coefficient"),)),
    LearningChart("Learning rate", "Adam's step size", (("learning_rate", "learning rate"),)),
    LearningChart(
        "Cloning loss",
        "cross-entropy, nats per decision",
        (("loss", "training"), ("validation_loss", "held-out battles")),
    ),
    LearningChart(
        "Cloning accuracy",
        "share of decisions",
        (("accuracy", "training"), ("validation_accuracy", "held-out battles")),
    ),
)


def strength_chart(style: str, anchors: Iterable[str]) -> LearningChart:
    """Return the words of the chart of a training's score against fixed anchors, with a curve for each anchor."""
    return LearningChart(
        f"Score against fixed anchors, {style} play",
        "a win is 1, a draw ½; 95 % band; the same battles each time",
        tuple((name, "where training began" if name == "start" else name) for name in dict.fromkeys(anchors)),
    )


_WRITTEN_FOR = ("ppo", "clone")
"""The oracles whose curves ``LEARNING_CHARTS`` describe."""


def learning_charts(oracle: str, curves: Iterable[str]) -> tuple[LearningChart, ...]:
    """Return the charts for an oracle's ``curves``: the common ones, then one for each other curve.

    A curve is in a common chart if there is one with its name, and the oracle's ``metrics`` describe it in the words of
    the built-in oracles. Otherwise it has a chart whose caption is the oracle's words; a curve of an oracle that is not
    installed has no caption.
    """
    meanings = ORACLES[oracle].metrics if oracle in ORACLES else {}
    own = [name for name in curves if meanings.get(name) not in _common_words(name)]
    return (
        *(replace(chart, curves=tuple(c for c in chart.curves if c[0] not in own)) for chart in LEARNING_CHARTS),
        *(LearningChart(capital(_words(name)), meanings.get(name, ""), ((name, _words(name)),)) for name in own),
    )


def _words(name: str) -> str:
    return name.replace("_", " ")


def _common_words(name: str) -> set[str]:
    """Return what the built-in oracles call the curve ``name``: nothing if no common chart draws it."""
    if not any(name == curve for chart in LEARNING_CHARTS for curve, _ in chart.curves):
        return set()
    return {ORACLES[oracle].metrics[name] for oracle in _WRITTEN_FOR if name in ORACLES[oracle].metrics}
