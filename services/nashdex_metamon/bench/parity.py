"""Parity of a checkpoint's observations: ours beside the observations of metamon's own code.

A folder of goldens holds ``battles/ID.json.gz`` (each seat's lines and requests) and ``spaces/ID.json.gz`` (what
metamon's code made of them: states, and the text and numbers of each observation space).
"""

import gzip
import json
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError, DataError, TryAgainError
from nashdex.games.interface import Decisions, SeatLines
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.protocol import Lines, Seat, Track, TrackedSeat, Untrack
from nashdex_metamon.dex import dex
from nashdex_metamon.live import LiveSeat, generation_of
from nashdex_metamon.observations import OBSERVATION_SPACES

_ANSWER_SECONDS: Final = 60.0
_TOLERANCE: Final = 1e-6
_SEATS: Final[tuple[Seat, Seat]] = (0, 1)


class Difference(Model):
    """One field of one state that differs."""

    battle: str
    seat: int
    decision: NonNegativeInt
    """Its number among the seat's decisions."""
    field: str
    """Path in the state; Pokémon and moves of a list by name."""
    here: Any
    metamon: Any


class FormatParity(Model):
    """Counts of one format."""

    decisions: NonNegativeInt = 0
    equal: NonNegativeInt = Field(0, description="Decisions in which every text and number of every space is equal.")
    texts: dict[str, NonNegativeInt] = Field({}, description="Decisions with equal text, by space.")
    numbers: dict[str, NonNegativeInt] = Field({}, description="Decisions with equal numbers, by space.")


class Parity(Model):
    """What the goldens show."""

    formats: dict[str, FormatParity]
    fields: dict[str, NonNegativeInt] = Field(description="Decisions in which a field of the state differs, by field.")
    differences: tuple[Difference, ...] = Field(description="All of them.")
    view_milliseconds: NonNegativeFloat = Field(description="CPU time of a decision's state and four observations.")

    @property
    def num_decisions(self) -> int:
        """Decisions and ends of battles, of both seats."""
        return sum(counts.decisions for counts in self.formats.values())

    @property
    def num_equal(self) -> int:
        """Those in which every text and number of every space is equal."""
        return sum(counts.equal for counts in self.formats.values())

    @property
    def is_equal(self) -> bool:
        """Whether every decision is equal."""
        return self.num_equal == self.num_decisions


def measure_parity(root: Path) -> Parity:
    """Compare every battle of the folder ``root``.

    Raises:
        ConfigurationError: it has no goldens.
        DataError: one cannot be read.
        TryAgainError: the gateway does not answer.
    """
    battles = sorted(path.name.partition(".")[0] for path in root.glob("spaces/*.json.gz"))
    if not battles:
        raise ConfigurationError(f"{root} has no goldens: expected battles/ID.json.gz and spaces/ID.json.gz")
    formats: dict[str, FormatParity] = {}
    differences: list[Difference] = []
    seconds = 0.0
    for format_id, of_format in groupby(battles, key=lambda battle: battle.partition("-")[0]):
        counts = _Counts()
        began = time.process_time()
        gateway = Gateway(format_id)
        try:
            for battle in of_format:
                for seen in _decisions(root, battle, gateway):
                    differences += counts.add(battle, seen)
        finally:
            gateway.close()
        seconds += time.process_time() - began
        formats[format_id] = counts.result()
    places = {(one.field, one.battle, one.seat, one.decision) for one in differences}
    fields = Counter(field for field, *_ in places)
    return Parity(
        formats=formats,
        fields=dict(fields.most_common()),
        differences=tuple(differences),
        view_milliseconds=1000 * seconds / max(sum(counts.decisions for counts in formats.values()), 1),
    )


def parity_lines(found: Parity) -> Iterator[str]:
    """Yield the result as lines for people."""
    yield f"{'format':12} {'decisions':>9} {'equal':>6} {'share':>7}  equal texts / numbers by space"
    for format_id, counts in found.formats.items():
        spaces = ", ".join(
            f"{name.removesuffix('ObservationSpace')} {counts.texts.get(name, 0)} / {counts.numbers.get(name, 0)}"
            for name in OBSERVATION_SPACES
        )
        yield f"{format_id:12} {counts.decisions:9} {counts.equal:6} {counts.equal / counts.decisions:7.2%}  {spaces}"
    share = found.num_equal / found.num_decisions
    yield f"{'all':12} {found.num_decisions:9} {found.num_equal:6} {share:7.2%}"
    yield f"{found.view_milliseconds:.2f} ms of CPU a decision: state, four observations, and the gateway's client"
    first = {one.field: one for one in reversed(found.differences)}
    for field, number in found.fields.items():
        one = first[field]
        place = f"{one.battle} seat {one.seat} decision {one.decision}"
        yield f"{number:6} {field}: {one.here!r}, metamon {one.metamon!r}; first in {place}"


class _Seen(NamedTuple):
    """One decision, here and in metamon."""

    seat: int
    number: int
    state: dict[str, Any]
    texts: dict[str, str]
    numbers: dict[str, Sequence[float]]
    expected: dict[str, Any]


class _Counts:
    def __init__(self) -> None:
        self._decisions = self._equal = 0
        self._texts: Counter[str] = Counter()
        self._numbers: Counter[str] = Counter()

    def add(self, battle: str, seen: _Seen) -> Iterator[Difference]:
        """Count a decision and yield its differences."""
        self._decisions += 1
        equal = True
        for name, expected in seen.expected["obs"].items():
            text = seen.texts[name] == expected["text"]
            numbers = np.allclose(seen.numbers[name], expected["numbers"], atol=_TOLERANCE, rtol=0)
            self._texts[name] += text
            self._numbers[name] += numbers
            equal = equal and text and numbers
        self._equal += equal
        here, there = dict(_fields(seen.state)), dict(_fields(seen.expected["state"]))
        for field, value in there.items():
            if not _is_equal(here.get(field), value):
                yield Difference(
                    battle=battle,
                    seat=seen.seat,
                    decision=seen.number,
                    field=field,
                    here=here.get(field),
                    metamon=value,
                )

    def result(self) -> FormatParity:
        return FormatParity(
            decisions=self._decisions, equal=self._equal, texts=dict(self._texts), numbers=dict(self._numbers)
        )


def _decisions(root: Path, battle: str, gateway: Gateway) -> Iterator[_Seen]:
    """Yield each decision and end of a golden battle, followed through the gateway as in play."""
    format_id = battle.partition("-")[0]
    rows, spaces = _read(root / "battles" / f"{battle}.json.gz"), _read(root / "spaces" / f"{battle}.json.gz")
    facts = dex(generation_of(format_id))
    for seat in _SEATS:
        expected = [row for row in spaces["decisions"] if row["seat"] == seat]
        live = LiveSeat(format_id, seat, facts)
        said = list(_said(row for row in rows["rows"] if row["seat"] == seat))
        for number, (lines, request) in enumerate(said):
            tracked = _tracked(gateway, TrackedSeat(battle=seat, seat=seat, lines=lines, request=request, state=True))
            state = live.read(SeatLines(list(lines), request or {}, tracked))
            if state is None:
                continue
            found = {name: space.observe(state, live.seen) for name, space in OBSERVATION_SPACES.items()}
            yield _Seen(
                seat,
                number,
                state.to_json(),
                {name: one.text for name, one in found.items()},
                {name: one.numbers.tolist() for name, one in found.items()},
                expected.pop(0),
            )
        if expected:
            raise DataError(f"{battle} has {len(expected)} decisions of seat {seat} more in spaces than in battles")
    gateway.send(Untrack(battles=_SEATS))


def _said(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[tuple[str, ...], dict[str, Any] | None]]:
    """Yield a seat's decisions: the lines since the one before, and the request; None at the end."""
    lines: list[str] = []
    for row in rows:
        lines += row["lines"]
        if not (row["request"] and row["request"].get("wait")):
            yield tuple(lines), row["request"]
            lines = []


def _tracked(gateway: Gateway, row: TrackedSeat) -> dict[str, Any]:
    gateway.send(Track(rows=(row,)))
    gateway.flush()
    while not isinstance(message := gateway.receive(_ANSWER_SECONDS), Lines):
        if message is None:
            raise TryAgainError("the gateway does not answer; try again")
        if isinstance(message, Decisions):
            gateway.channel.recycle()
    state = message.rows[0].state
    assert state is not None, "the row asks for its state"
    return state


def _read(path: Path) -> dict[str, Any]:
    try:
        with gzip.open(path) as file:
            found: dict[str, Any] = json.load(file)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {error}; expected compressed JSON") from error
    return found


def _fields(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each field of a state by its path; Pokémon and moves of a list by their names."""
    for name, value in values.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _fields(value, f"{path}.")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield path, sorted(part["name"] for part in value)
            for part in value:
                yield from _fields(part, f"{path}[{part['name']}].")
        else:
            yield path, sorted(value) if isinstance(value, list) else value


def _is_equal(here: object, there: object) -> bool:
    if isinstance(there, float) and isinstance(here, int | float):
        return abs(here - there) < _TOLERANCE
    return here == there
