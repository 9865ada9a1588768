"""A base size and, for each dimension, one that is larger in that dimension alone: what they cost, and exponents."""

import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Final, Literal, get_args

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from nashdex.core import keys
from nashdex.core.documents import Model
from nashdex.core.errors import DataError
from nashdex.core.ids import RunId
from nashdex.core.steps import StepName
from nashdex.planning.dag import step_function
from nashdex.runs.creation import PreparedRun, Run, create_run
from nashdex.runs.verification import verify_run
from nashdex.settings.run import RunSettings
from nashdex.store.directory import DirectoryStore
from nashdex.store.protocol import ObjectStore
from nashdex.store.usage import ObservedStore, total
from nashdex_bench.scaling.synthetic import (
    settings_of,
    write_counts,
    write_inputs,
    write_ledgers,
    write_start,
)
from nashdex_cluster.exporter.watch import Watch

_KIB = 1 if sys.platform == "darwin" else 1024
"""Bytes of the unit that the system counts resident memory in."""


class StepScale(Model):
    """One step of the newest iteration."""

    step: str
    cpu_seconds: NonNegativeFloat
    """User and system, without the imports of the process."""
    peak_bytes: NonNegativeInt
    """Largest resident memory of the process, with its imports."""
    requests: NonNegativeInt
    """Requests to the store."""

    def at_least(self, other: "StepScale") -> "StepScale":
        """Return the larger of each cost."""
        costs = {name: max(getattr(self, name), getattr(other, name)) for name in type(self).model_fields}
        return StepScale(**{**costs, "step": self.step})


def measured(step: str, work: Callable[[], object]) -> StepScale:
    """Do ``work`` in a forked process and return what it took.

    Raises:
        DataError: the process failed; it has printed why.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _work_and_exit(work, writing)
    os.close(writing)
    with os.fdopen(reading) as answer:
        requests = answer.read()
    _, status, used = os.wait4(child, 0)
    if status or not requests:
        raise DataError(f"the {step} step of the benchmark failed; its error is above")
    return StepScale(
        step=step,
        cpu_seconds=used.ru_utime + used.ru_stime,
        peak_bytes=used.ru_maxrss * _KIB,
        requests=int(requests),
    )


def _work_and_exit(work: Callable[[], object], answer: int) -> None:
    """Do ``work``, write how many requests it made, and end this process without the parent's clean-up."""
    code = 1
    try:
        before = _num_requests()
        work()
        os.write(answer, str(_num_requests() - before).encode())
        code = 0
    except BaseException:  # noqa: BLE001 - whatever it is, the parent must not go on as two processes
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _num_requests() -> int:
    return total().requests.total()


Dimension = Literal["policies", "iterations", "shards", "battles_per_pair"]
DIMENSIONS: Final[tuple[Dimension, ...]] = get_args(Dimension)
EXPORTER: Final = "exporter"
VERIFY: Final = "verify"
_RUN: Final = "scaling"
_MEASURABLE_SECONDS = 0.2
"""CPU time below which a ratio is noise."""


class Size(Model):
    """The size of a synthetic run."""

    policies: PositiveInt
    iterations: PositiveInt
    shards: PositiveInt
    battles_per_pair: PositiveInt
    draws: PositiveInt
    seeds: PositiveInt = 1
    """Policies that each iteration trains."""
    every: PositiveInt = 1
    """Iterations that it divides, and the last two, are solved, reported and measured; the others have placeholders."""

    def is_measured(self, iteration: int) -> bool:
        """Say whether ``iteration`` is solved, reported and measured."""
        return iteration > 0 and (iteration % self.every == 0 or iteration >= self.iterations - 2)

    @property
    def first_policies(self) -> int:
        """Policies of iteration 0, whose tournament is drawn at once; three are scripted."""
        return self.policies - self.seeds * (self.iterations - 1)


class IterationScale(Model):
    """What the steps of one iteration cost."""

    iteration: NonNegativeInt
    policies: PositiveInt
    steps: tuple[StepScale, ...]


class Scale(Model):
    """What the newest iteration of a run of one size cost."""

    size: Size
    battles: NonNegativeInt
    """Battles in all iterations."""
    steps: tuple[StepScale, ...]
    largest: tuple[StepScale, ...]
    """The most of each cost that a step took in any measured iteration."""
    iterations: tuple[IterationScale, ...]
    """The measured ones."""
    document_bytes: dict[str, NonNegativeInt]
    """Published documents by name."""

    def step(self, name: str) -> StepScale:
        """Return one step."""
        return next(step for step in self.steps if step.step == name)


class Exponents(Model):
    """By which power of one dimension each cost grows: log of the costs' ratio over log of the sizes'."""

    dimension: Dimension
    factor: float
    cpu_seconds: dict[str, float | None] = Field(description="By step; null where the time is too short to compare.")
    peak_bytes: dict[str, float]
    requests: dict[str, float]
    document_bytes: dict[str, float]


class ScalingResult(Model):
    """All sizes, the base first."""

    scales: tuple[Scale, ...]
    exponents: tuple[Exponents, ...]


def scaling(
    base: Size,
    dimensions: Sequence[Dimension],
    factor: int,
    on_scale: Callable[[Scale], None] = lambda _: None,
    on_iteration: Callable[[IterationScale], None] = lambda _: None,
    kept: Path | None = None,
) -> ScalingResult:
    """Measure ``base``, and for each of ``dimensions`` a size that is ``factor`` times as large in it.

    Args:
        base: the first size.
        dimensions: what grows.
        factor: by how much.
        on_scale: called with each measurement.
        on_iteration: called with each measured iteration of ``base``.
        kept: where the run of ``base`` stays, instead of a temporary folder.

    Raises:
        DataError: a step failed.
    """
    first = scale_of(base, kept, on_iteration)
    on_scale(first)
    scales, exponents = [first], []
    for dimension in dimensions:
        larger = base.model_copy(update={dimension: factor * getattr(base, dimension)})
        scales.append(scale_of(larger))
        on_scale(scales[-1])
        exponents.append(_exponents(first, scales[-1], dimension, factor))
    return ScalingResult(scales=tuple(scales), exponents=tuple(exponents))


def scale_of(
    size: Size, kept: Path | None = None, on_iteration: Callable[[IterationScale], None] = lambda _: None
) -> Scale:
    """Make a synthetic run of ``size``, in a temporary folder if none is ``kept``, and measure its steps."""
    folder = kept or Path(tempfile.mkdtemp(prefix="nashdex-scaling-"))
    try:
        store = ObservedStore(DirectoryStore(folder), lambda *_: None)
        return _measured_run(store, store.at(_RUN), size, on_iteration)
    finally:
        if kept is None:
            shutil.rmtree(folder, ignore_errors=True)


def _measured_run(
    root: ObjectStore, store: ObjectStore, size: Size, on_iteration: Callable[[IterationScale], None]
) -> Scale:
    settings = settings_of(
        iterations=size.iterations,
        shards=size.shards,
        battles_per_pair=size.battles_per_pair,
        draws=size.draws,
        seeds=size.seeds,
    )
    create_run(root.uri, PreparedRun(settings, inputs={}))
    measured_ones: list[IterationScale] = []
    for iteration in range(settings.iterations):
        is_measured = size.is_measured(iteration)
        steps = [_step(store, settings, iteration, StepName.PLAN)]
        measured("evaluate", partial(_write, store, settings, iteration, solves=iteration > 0 and not is_measured))
        if not iteration:
            measured("solve", partial(write_start, store, settings, size.first_policies))
            _step(store, settings, iteration, StepName.REPORT)
        if is_measured:
            steps += [_step(store, settings, iteration, step) for step in (StepName.SOLVE, StepName.REPORT)]
            steps.append(measured(EXPORTER, Watch(root, active_seconds=1e9).scan))
            policies = size.first_policies + size.seeds * iteration
            measured_ones.append(IterationScale(iteration=iteration, policies=policies, steps=tuple(steps)))
            on_iteration(measured_ones[-1])
    newest = settings.iterations - 1
    names = [name for name in keys.PUBLISHED_BY if store.exists(keys.published(newest, name))]
    return Scale(
        size=size,
        battles=size.policies * (size.policies - 1) // 2 * size.battles_per_pair,
        steps=(*measured_ones[-1].steps, measured(VERIFY, partial(_verify, store, settings, newest))),
        largest=tuple(_largest(measured_ones)),
        iterations=tuple(measured_ones),
        document_bytes={name: len(store.get(keys.published(newest, name))) for name in names},
    )


def _largest(iterations: Sequence[IterationScale]) -> Iterator[StepScale]:
    for steps in zip(*(each.steps for each in iterations), strict=True):
        yield reduce(StepScale.at_least, steps)


def _write(store: ObjectStore, settings: RunSettings, iteration: int, *, solves: bool) -> None:
    write_inputs(store, settings, iteration)
    ledgers = write_ledgers(store, settings, iteration)
    if solves:
        write_counts(store, settings, iteration, ledgers)


def _verify(store: ObjectStore, settings: RunSettings, iteration: int) -> None:
    """Verify the newest iteration alone: iterations before may have placeholders."""
    found = verify_run(Run(RunId(_RUN), store, settings), first=iteration)
    if found.problems:
        raise DataError(found.problems[0])


def _step(store: ObjectStore, settings: RunSettings, iteration: int, step: StepName) -> StepScale:
    function = step_function(step)
    return measured(step, partial(function, store, settings, iteration, 0))


def _exponents(base: Scale, larger: Scale, dimension: Dimension, factor: int) -> Exponents:
    def exponent(before: float, now: float) -> float:
        return math.log(max(now, 1.0) / max(before, 1.0)) / math.log(factor)

    def seconds_exponent(before: float, now: float) -> float | None:
        if now < _MEASURABLE_SECONDS:
            return None
        return math.log(now / max(before, _MEASURABLE_SECONDS)) / math.log(factor)

    both = [(step, larger.step(step.step)) for step in base.steps]
    return Exponents(
        dimension=dimension,
        factor=factor,
        cpu_seconds={one.step: seconds_exponent(one.cpu_seconds, other.cpu_seconds) for one, other in both},
        peak_bytes={one.step: exponent(one.peak_bytes, other.peak_bytes) for one, other in both},
        requests={one.step: exponent(one.requests, other.requests) for one, other in both},
        document_bytes={
            name: exponent(size, larger.document_bytes.get(name, 0)) for name, size in base.document_bytes.items()
        },
    )


def lines(scale: Scale) -> tuple[str, ...]:
    """Return a size and its costs as a table."""
    size = scale.size
    dimensions = f"{size.policies} policies, {size.iterations} iterations, {size.shards} shards"
    return (
        f"{dimensions}, {scale.battles:,} battles, {size.draws} draws",
        *map(_line, scale.steps),
        "the most of any measured iteration",
        *map(_line, scale.largest),
        *(f"  {name:25} {size_bytes / 1e6:8.2f} MB" for name, size_bytes in scale.document_bytes.items()),
    )


def _line(step: StepScale) -> str:
    costs = f"{step.cpu_seconds:8.2f} CPU-seconds {step.peak_bytes >> 20:7,} MiB {step.requests:6,} requests"
    return f"  {step.step:10} {costs}"


def exponent_lines(found: Exponents) -> tuple[str, ...]:
    """Return the exponents of one dimension as a table; a step whose time is too short to compare has a dash."""

    def shown(values: Mapping[str, float | None]) -> str:
        return ", ".join(f"{name} {'-' if value is None else f'{value:.1f}'}" for name, value in values.items())

    return (
        f"exponents in {found.dimension.replace('_', ' ')}, from one size to {found.factor:g} times as much:",
        f"  CPU time   {shown(found.cpu_seconds)}",
        f"  memory     {shown(found.peak_bytes)}",
        f"  requests   {shown(found.requests)}",
        f"  documents  {shown(found.document_bytes)}",
    )
