"""The charts of the learning curves."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nashdex.report.document import Curve, Training
from nashdex.report.page.charts.lines import Point, Series, line_chart
from nashdex.report.words.texts import LEARNING_CHARTS, LearningChart


@dataclass(frozen=True, slots=True)
class LearningView:
    """One chart of learning curves."""

    text: LearningChart
    svg: Markup
    legend: Sequence[tuple[str, str]]


def learning_views(training: Training) -> list[LearningView]:
    """Return the charts of a training's curves, those that were measured."""
    curves = {curve.name: curve for curve in training.curves}
    views = []
    for text in LEARNING_CHARTS:
        found = [(curves[name], legend) for name, legend in text.curves if name in curves]
        if not found:
            continue
        series = [Series(legend, f"c{i}", _points(curve)) for i, (curve, legend) in enumerate(found)]
        svg = line_chart(series, label=f"{text.title} by update", x_label="update")
        views.append(LearningView(text, svg, [(one.colour, one.name) for one in series] if len(series) > 1 else []))
    return views


def _points(curve: Curve) -> list[Point]:
    return [Point(update, value) for update, value in zip(curve.updates, curve.values, strict=True)]
