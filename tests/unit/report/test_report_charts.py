"""Charts draw what they are given, at the right places, and say it in words too."""

import math
import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nashdex.report.page.charts.axes import LETTER, decade_label, decade_powers, nice_ticks, spans_decades, tick_labels
from nashdex.report.page.charts.bars import Segment, share_bar, stacked_bars
from nashdex.report.page.charts.disc import HEIGHT, WIDTH, Dot, disc_chart
from nashdex.report.page.charts.lines import Point, Series, line_chart


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
    assert y0 > y2, "larger values are higher up"
    titles = [title.text for circle in svg.iter("circle") for title in circle]
    assert titles == ["none", "all"]
    whisker = next(e for e in svg.iter("line") if "c0" in e.attrib["class"])
    assert float(whisker.attrib["y2"]) == pytest.approx(y2)
    assert float(whisker.attrib["y1"]) == pytest.approx(y2 + (y0 - y2) / 4, abs=0.11)


def test_the_last_label_of_an_x_axis_is_not_cut() -> None:
    """A label is centred on its tick, so one at the right end needs room."""
    series = Series("score", "c0", [Point(0, 0.0), Point(1.25, 1.0)])
    svg = parsed(line_chart([series], label="Score", x_label="million decisions"))
    last = next(e for e in svg.iter("text") if e.text == "1.25")
    width = float(svg.attrib["viewBox"].split()[2])
    assert float(last.attrib["x"]) + len("1.25") * LETTER / 2 <= width


def test_iterations_get_whole_ticks_only() -> None:
    series = Series("gap", "c0", [Point(1, 0.1), Point(2, 0.2)])
    svg = parsed(line_chart([series], label="Gap", x_label="iteration", whole_x=True))
    ticks = [e.text for e in svg.iter("text") if e.attrib["text-anchor"] == "middle"]
    assert ticks == ["1", "2", "iteration"]


def test_rounding_errors_alone_make_an_axis_too() -> None:
    svg = parsed(line_chart([Series("gap", "c0", [Point(0, 3e-17), Point(1, 0.0)])], label="Gap", x_label="iteration"))
    assert next(e.text for e in svg.iter("text") if e.attrib["text-anchor"] == "end") == "0.0"


def heights(svg: ET.Element) -> list[float]:
    return [float(circle.attrib["cy"]) for circle in svg.iter("circle")]


def test_powers_of_ten_are_evenly_spaced_and_zero_stands_below_them() -> None:
    points = [Point(i, y, title=str(y)) for i, y in enumerate((1.0, 0.1, 0.01, 3e-17))]
    svg = parsed(line_chart([Series("exact", "c0", points)], label="Exact", x_label="iteration", logarithmic=True))
    one, tenth, hundredth, zero = heights(svg)
    assert tenth - one == pytest.approx(hundredth - tenth, abs=0.11)
    assert zero > hundredth
    assert [e.text for e in svg.iter("text") if e.attrib["text-anchor"] == "end"] == ["0", "0.01", "0.1", "1"]


def test_a_logarithmic_axis_is_for_numbers_of_different_size() -> None:
    assert spans_decades([1.25, 0.5, 2.8e-17])
    assert spans_decades([1.0, 0.009])
    assert not spans_decades([1.25, 0.5, 0.11])
    assert not spans_decades([1.0, -0.001]), "a negative number has no logarithm"
    assert not spans_decades([0.0, 1e-17]), "all zero up to rounding"


@given(low=st.floats(min_value=1e-9, max_value=10), factor=st.floats(min_value=1, max_value=1e9))
def test_powers_of_ten_are_few_and_cover_the_range(low: float, factor: float) -> None:
    powers = decade_powers(low, low * factor)
    assert 2 <= len(powers) <= 6
    assert 10.0 ** powers[0] <= low * 1.001
    assert 10.0 ** powers[-1] >= low * factor * 0.999


def test_powers_of_ten_are_written_plainly_while_they_are_short() -> None:
    assert [decade_label(power) for power in (2, 0, -2, -3, -11)] == ["100", "1", "0.01", "10⁻³", "10⁻¹¹"]


def test_a_bar_shows_its_interval_only_where_it_has_one() -> None:
    uncertain = parsed(share_bar(0.5, 0.25, 1.0, colour="c0", title="a"))
    exact = parsed(share_bar(0.5, 0.5, 0.5, colour="c0", title="a"))
    assert [e.attrib["class"] for e in uncertain if e.tag == "path"] == ["interval"]
    assert [e for e in exact if e.tag == "path"] == []
    back, bar = uncertain.iter("rect")
    assert float(bar.attrib["width"]) == pytest.approx(float(back.attrib["width"]) / 2, abs=0.1)


def dots(number: int, radius: float = 1.0) -> list[Dot]:
    turn = 2 * math.pi / number
    return [
        Dot(
            radius * math.cos(i * turn),
            radius * math.sin(i * turn),
            1 / number,
            "c0",
            f"best response {i}",
            f"title {i}",
        )
        for i in range(number)
    ]


def test_the_disc_keeps_angles_and_goes_counterclockwise() -> None:
    svg = parsed(disc_chart(dots(4), label="Disc"))
    found = {
        e[0].text: (float(e.attrib["cx"]) - WIDTH / 2, HEIGHT / 2 - float(e.attrib["cy"]))
        for e in svg.iter("circle")
        if len(e)
    }
    right, up, left, down = (found[f"title {i}"] for i in range(4))
    assert right == pytest.approx((-left[0], -left[1]), abs=0.11)
    assert up == pytest.approx((-down[0], -down[1]), abs=0.11)
    assert up[1] > 0
    assert right[0] > 0


@pytest.mark.parametrize("number", [1, 3, 20, 60])
def test_labels_of_the_disc_never_cover_each_other(number: int) -> None:
    svg = parsed(disc_chart([*dots(number // 2 + 1), *dots(number // 2 + 1, 0.15)], label="Disc"))
    boxes = [(float(e.attrib["x"]), float(e.attrib["y"]), 6 * len(e.text or "")) for e in svg.iter("text")]
    assert boxes
    for i, (x, y, width) in enumerate(boxes):
        assert x >= 0
        assert x + width <= WIDTH
        for other_x, other_y, other_width in boxes[:i]:
            assert abs(y - other_y) > 11 or x > other_x + other_width or other_x > x + width


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
