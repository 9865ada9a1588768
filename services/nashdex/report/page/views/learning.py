"""The charts of the learning curves."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from markupsafe import Markup

from nashdex.core.results import Evaluation
from nashdex.report.document import Curve, Training
from nashdex.report.page.charts.lines import Point, Series, line_chart
from nashdex.report.words.texts import LearningChart, learning_charts, strength_chart

_ACCURACY: Final = "validation_accuracy_"
_OTHERS: Final = ("validation_loss_", "validation_decisions_")
_BAND: Final = re.compile(r"replays_(\d+)_(\d+)")
_UNRATED: Final = "replays_unrated"


@dataclass(frozen=True, slots=True)
class ClonedGroup:
    """One group of players."""

    players: str
    accuracy: float
    """Share of their decisions in which the clone's most likely action is theirs."""
    loss: float
    """Cross-entropy, nats a decision."""
    decisions: int
    """Held-out decisions with a choice."""


def is_of_group(value: str) -> bool:
    """Say whether a training's ``value`` is of one group of players; the table shows it."""
    return value.startswith((_ACCURACY, *_OTHERS))


def cloned_groups(training: Training, teacher: str) -> Iterator[ClonedGroup]:
    """Yield the groups that ``training`` was validated on, the teacher first; none without replays."""
    groups = [name.removeprefix(_ACCURACY) for name in training.summary if name.startswith(_ACCURACY)]
    for group in sorted(groups, key=lambda name: (name.startswith("replays_"), name)):
        loss, decisions = (training.summary[f"{prefix}{group}"] for prefix in _OTHERS)
        yield ClonedGroup(_players(group, teacher), training.summary[_ACCURACY + group], loss, round(decisions))


def _players(group: str, teacher: str) -> str:
    if band := _BAND.fullmatch(group):
        return f"players of replays, rating {int(band[1])} to {int(band[2])}"
    return "players of replays without a rating" if group == _UNRATED else teacher


@dataclass(frozen=True, slots=True)
class LearningView:
    """One chart of learning curves."""

    text: LearningChart
    svg: Markup
    legend: Sequence[tuple[str, str]]


def learning_views(training: Training) -> list[LearningView]:
    """Return the charts of the measured curves, without constant ones."""
    curves = {curve.name: curve for curve in training.curves if not is_of_group(curve.name)}
    views = []
    for text in learning_charts(training.oracle, curves):
        found = [(curves[name], legend) for name, legend in text.curves if name in curves]
        if not found:
            continue
        if len(found) == 1 and is_constant(found[0][0]):
            continue
        series = [Series(legend, f"c{i}", _points(curve)) for i, (curve, legend) in enumerate(found)]
        svg = line_chart(series, label=f"{text.title} by update", x_label="update")
        views.append(LearningView(text, svg, [(one.colour, one.name) for one in series] if len(series) > 1 else []))
    return views


def strength_views(training: Training) -> list[LearningView]:
    """Return the charts of the score against fixed anchors: for each style, by decisions and by CPU minutes."""
    views = []
    for style in dict.fromkeys(evaluation.style for evaluation in training.evaluations):
        found = [evaluation for evaluation in training.evaluations if evaluation.style == style]
        text = strength_chart(style, [evaluation.anchor for evaluation in found])
        for x_label, places in (_by_decisions(found), ("CPU minutes", [one.cpu_seconds / 60 for one in found])):
            series = [
                Series(
                    legend,
                    f"c{i}",
                    [_strength(one, x) for one, x in zip(found, places, strict=True) if one.anchor == anchor],
                    has_band=True,
                )
                for i, (anchor, legend) in enumerate(text.curves)
            ]
            titled = replace(text, title=f"{text.title}, by {x_label}")
            svg = line_chart(series, label=titled.title, x_label=x_label, include=(0.5,))
            views.append(LearningView(titled, svg, [(one.colour, one.name) for one in series]))
    return views


def _by_decisions(evaluations: Sequence[Evaluation]) -> tuple[str, list[float]]:
    """Return the label of an axis of decisions, in a unit that leaves short numbers, and the places on it."""
    decisions = [evaluation.decisions for evaluation in evaluations]
    most = max(decisions)
    unit, size = next(((u, s) for u, s in (("million ", 1e6), ("thousand ", 1e3)) if most >= 2 * s), ("", 1.0))
    return f"{unit}decisions", [number / size for number in decisions]


def _strength(evaluation: Evaluation, x: float) -> Point:
    interval = f"[{evaluation.low:.3f}, {evaluation.high:.3f}]"
    title = (
        f"{evaluation.score:.3f} {interval} against {evaluation.anchor} after {evaluation.decisions:,} decisions, "
        f"{evaluation.cpu_seconds / 60:,.1f} CPU minutes; {evaluation.battles:,} battles"
    )
    return Point(x, evaluation.score, evaluation.low, evaluation.high, title)


def constant_curves(training: Training) -> list[tuple[Curve, str]]:
    """Return the curves that a line of text shows better than a chart, each with its title."""
    curves = [curve for curve in training.curves if not is_of_group(curve.name)]
    charts = learning_charts(training.oracle, (curve.name for curve in curves))
    titles = {text.curves[0][0]: text.title for text in charts if len(text.curves) == 1}
    return [
        (curve, f"{titles[curve.name][0].lower()}{titles[curve.name][1:]}")
        for curve in curves
        if curve.name in titles and is_constant(curve)
    ]


def is_constant(curve: Curve) -> bool:
    """Return whether the value never changed."""
    return len(curve.values) > 1 and len(set(curve.values)) == 1


def _points(curve: Curve) -> list[Point]:
    return [Point(update, value) for update, value in zip(curve.updates, curve.values, strict=True)]
