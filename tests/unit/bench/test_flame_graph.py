"""Flame graphs: widths are shares, what V8 writes is understood, and what it did not write is refused."""

import json
import time
from collections import Counter
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from nashdex.bench.collect.profiling import collapsed, flame_graph, sampled, stacks_of_cpu_profile
from nashdex.core.errors import DataError

SVG = "{http://www.w3.org/2000/svg}"


def _node(number: int, name: str, *children: int, url: str = "file:///x/src/battle.js") -> dict[str, Any]:
    frame = {"functionName": name, "url": url, "lineNumber": 9, "columnNumber": 1, "scriptId": "1"}
    return {"id": number, "callFrame": frame, "children": list(children), "hitCount": 0}


PROFILE = {
    "nodes": [
        _node(1, "(root)", 2, 5, 6, url=""),
        _node(2, "run", 3, 4),
        _node(3, "choose"),
        _node(4, "", url="node:internal/timers"),
        _node(5, "(idle)", url=""),
        _node(6, "(garbage collector)", url=""),
    ],
    "samples": [3, 3, 4, 5, 2, 6],
    "timeDeltas": [100, 200, 50, 7000, 25, 25],
}


def test_a_profile_gives_the_time_of_each_stack_without_idling() -> None:
    assert stacks_of_cpu_profile(json.dumps(PROFILE), "p") == {
        ("run battle.js:10", "choose battle.js:10"): 300,
        ("run battle.js:10", "(anonymous) timers:10"): 50,
        ("run battle.js:10",): 25,
        ("(garbage collector)",): 25,
    }


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"nodes": [], "samples": [3], "timeDeltas": [1]}'])
def test_what_is_no_profile_is_refused_by_name(text: str) -> None:
    with pytest.raises(DataError, match=r"^gw\.cpuprofile is not a V8 CPU profile: "):
        stacks_of_cpu_profile(text, "gw.cpuprofile")


def test_collapsed_stacks_have_one_line_each() -> None:
    assert collapsed({("b", "c d"): 2, ("a",): 3, ("z",): 0}) == "a 3\nb;c d 2\n"


def _boxes(svg: str) -> dict[str, tuple[float, float, float]]:
    """Return left edge, width and level (from below) by title."""
    root = ET.fromstring(svg)  # noqa: S314 - made here
    height = float(str(root.get("viewBox")).split()[3])
    found = {}
    for group in root.iter(f"{SVG}g"):
        box = group.find(f"{SVG}rect")
        assert box is not None
        x, y, width = (float(str(box.get(name))) for name in ("x", "y", "width"))
        found[str(group.findtext(f"{SVG}title"))] = (x, width, (height - y) / 17 - 1)
    return found


def test_a_box_is_as_wide_as_its_share_and_lies_upon_its_caller() -> None:
    boxes = _boxes(flame_graph({("a", "b"): 500_000, ("a", "c<d>"): 250_000, ("a",): 0, ("e",): 250_000}, "Title"))
    assert boxes == {
        "1.0 s sampled: 100.0%": (0, 1200, 0),
        "a: 75.0%": (0, 900, 1),
        "b: 50.0%": (0, 600, 2),
        "c<d>: 25.0%": (600, 300, 2),
        "e: 25.0%": (900, 300, 1),
    }


def test_a_callers_own_time_lies_beside_its_callees() -> None:
    boxes = _boxes(flame_graph({("a",): 600, ("a", "b"): 600}, "Title"))
    assert boxes["b: 50.0%"] == (600, 600, 2)


def test_nothing_sampled_is_an_empty_graph() -> None:
    assert _boxes(flame_graph({}, "Nothing")) == {}


def _spin(rounds: int) -> int:
    return sum(i * i for i in range(rounds))


@pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="no clocks of threads here")
def test_sampling_finds_the_function_that_works() -> None:
    stacks: Counter[tuple[str, ...]] = Counter()
    with sampled(stacks):
        _spin(3_000_000)
    in_spin = sum(time for stack, time in stacks.items() if any(frame.startswith("_spin ") for frame in stack))
    assert in_spin > 0.8 * sum(stacks.values()) > 0
