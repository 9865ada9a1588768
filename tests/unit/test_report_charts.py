"""Charts draw what they are given, at the right places, and say it in words too."""

import math
import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.solver.report_charts import Point, Segment, Series, line_chart, nice_ticks, stacked_bars, tick_labels


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - our own drawing


FINITE = st.floats(min_value=-1e6, max_value=1e6, allow_nan=False)


@given(low=FINITE, size=st.floats(min_value=1e-6, max_value=1e6))
def test_ticks_are_few_and_cover_the_range(low: float, size: float) -> None:
    high = low + size
    if high - low < 1e-9 * max(abs(low), 1.0):
        return
    ticks = nice_ticks(low, high)
    step = ticks[1] - ticks[0]
    assert 2 <= len(ticks) <= 6
    assert ticks[0] <= low + 2e-3 * step
    assert ticks[-1] >= high - 2e-3 * step
    assert all(math.isclose(b - a, step, rel_tol=1e-3) for a, b in pairwise(ticks))


def test_ticks_are_round_numbers() -> None:
    assert nice_ticks(0, 0.034) == [0, 0.01, 0.02, 0.03, 0.04]
    assert nice_ticks(-0.042, 0.132) == [-0.05, 0, 0.05, 0.1, 0.15]
    assert nice_ticks(-1e-9, 0.008)[0] == 0, "a rounding error needs no tick"
    assert nice_ticks(0, 0) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]


def test_tick_labels_have_the_decimals_that_their_step_needs() -> None:
    assert tick_labels([-0.05, 0, 0.05]) == ["−0.05", "0.00", "0.05"]
    assert tick_labels([0, 2500, 5000]) == ["0", "2,500", "5,000"]
    assert tick_labels([0, 0.0025]) == ["0.0000", "0.0025"]


def test_a_line_goes_through_its_points() -> None:
    series = Series("gap", "c0", [Point(0, 0.0, title="none"), Point(1, 0.5), Point(2, 1.0, 0.75, 1.0, title="all")])
    svg = parsed(line_chart([series], label="Gap by iteration", x_label="iteration"))
    path = next(e for e in svg if e.tag == "path").attrib["d"]
    (x0, y0), (x1, y1), (x2, y2) = [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.11)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.11)
    assert y0 > y2, "larger values stand higher"
    titles = [title.text for circle in svg.iter("circle") for title in circle]
    assert titles == ["none", "all"]
    whisker = next(e for e in svg.iter("line") if "c0" in e.attrib["class"])
    assert float(whisker.attrib["y2"]) == pytest.approx(y2)
    assert float(whisker.attrib["y1"]) == pytest.approx(y2 + (y0 - y2) / 4, abs=0.11)


def test_iterations_get_whole_ticks_only() -> None:
    series = Series("gap", "c0", [Point(1, 0.1), Point(2, 0.2)])
    svg = parsed(line_chart([series], label="Gap", x_label="iteration", whole_x=True))
    ticks = [e.text for e in svg.iter("text") if e.attrib["text-anchor"] == "middle"]
    assert ticks == ["1", "2", "iteration"]


def test_no_points_are_said_in_words() -> None:
    assert "Nothing was measured" in line_chart([Series("gap", "c0", [])], label="Gap", x_label="iteration")


def test_bars_are_as_high_as_their_shares() -> None:
    bars = [("0", [Segment(0.25, "c0", "a: 25 %"), Segment(0.75, "c1", "b: 75 %")])]
    svg = parsed(stacked_bars(bars, label="Mixture", x_label="iteration"))
    low, high = list(svg.iter("rect"))
    assert float(high.attrib["height"]) == pytest.approx(3 * float(low.attrib["height"]), abs=0.4)
    assert float(high.attrib["y"]) + float(high.attrib["height"]) == pytest.approx(float(low.attrib["y"]), abs=0.11)
    assert [title.text for rect in (low, high) for title in rect] == ["a: 25 %", "b: 75 %"]


def test_names_cannot_become_markup() -> None:
    svg = stacked_bars([("<b>", [Segment(1.0, "c0", '"><script>')])], label='"><script>', x_label="<i>")
    assert "<script>" not in svg
    assert "<b>" not in svg
    assert [title.text for title in parsed(svg).iter("title")] == ['"><script>']
