"""What a run cost: CPU and GPU time, bytes and requests of every step, their price, and what the money bought.

Manifests hold the usage of the winning attempts; the usage of killed attempts is not recorded.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, NonNegativeFloat, NonNegativeInt, ValidationError

from nashdex.core.documents import Model, describe_problems
from nashdex.core.errors import ConfigurationError
from nashdex.core.steps import StepName
from nashdex.core.user_input import read_toml
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.report.assembly.cost import (
    ELO_STEP,
    GAP_STEP,
    bottleneck,
    gained_elo,
    lowered_exploitability,
    ratio,
    step_uses,
)
from nashdex.report.document import Report, StepUse
from nashdex.report.sources import IterationManifests

_HOUR_SECONDS = 3600.0
_GIGABYTE = 1e9
_THOUSAND = 1000.0

Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Prices(Model):
    """Prices in any currency."""

    cpu_hour: Price = 1.0
    gpu_hour: Price = 0.0
    gigabyte_read: Price = 0.0
    gigabyte_written: Price = 0.0
    thousand_reads: Price = 0.0
    thousand_writes: Price = 0.0


class StepCost(StepUse):
    """One step of one iteration, all shards together."""

    price: NonNegativeFloat


class IterationCost(Model):
    """One iteration."""

    iteration: NonNegativeInt
    price: NonNegativeFloat
    bottleneck: StepName = Field(description="The step with the longest wall time.")
    bottleneck_share: float = Field(description="Its share of the wall time of all steps, one after another.")
    steps: tuple[StepCost, ...]


class RunCost(Model):
    """A run up to its newest report."""

    prices: Prices
    price: NonNegativeFloat
    iterations: tuple[IterationCost, ...]
    price_of_100_elo: Estimate | None = Field(
        description="With the interval of the progress; null where chance explains the progress, or none is measured."
    )
    price_of_a_hundredth_of_gap: Estimate | None = Field(
        description="Price of lowering exploitability by .01 (exact, else best-response gap) from its first value to "
        "its last, with the interval of the fall; null where chance explains it."
    )


def read_prices(path: Path | None) -> Prices:
    """Return the prices in a TOML file. Without a file: 1 for an hour of CPU.

    Raises:
        DataError: the file is missing or is not TOML.
        ConfigurationError: a key is unknown or a price is negative.
    """
    if path is None:
        return Prices()
    values = read_toml(path, "prices")
    try:
        return Prices.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {describe_problems(error)}") from error


def cost_of(report: Report, manifests: Sequence[IterationManifests], prices: Prices) -> RunCost:
    """Return what the iterations of ``report`` cost."""
    iterations = tuple(_iteration_cost(each, prices) for each in manifests)
    price = sum(each.price for each in iterations)
    elo, fallen = gained_elo(report.progress, len(report.policies)), lowered_exploitability(report.iterations)
    return RunCost(
        prices=prices,
        price=price,
        iterations=iterations,
        price_of_100_elo=None if elo is None else ratio(price * ELO_STEP, elo),
        price_of_a_hundredth_of_gap=None if fallen is None else ratio(price * GAP_STEP, fallen),
    )


def _iteration_cost(manifests: IterationManifests, prices: Prices) -> IterationCost:
    steps = tuple(_step_cost(used, prices) for used in step_uses(manifests))
    slowest, share = bottleneck(steps)
    return IterationCost(
        iteration=manifests.iteration,
        price=sum(step.price for step in steps),
        bottleneck=slowest,
        bottleneck_share=share,
        steps=steps,
    )


def _step_cost(used: StepUse, prices: Prices) -> StepCost:
    price = (
        (used.cpu_seconds * prices.cpu_hour + used.gpu_seconds * prices.gpu_hour) / _HOUR_SECONDS
        + (used.bytes_read * prices.gigabyte_read + used.bytes_written * prices.gigabyte_written) / _GIGABYTE
        + (used.reads * prices.thousand_reads + used.writes * prices.thousand_writes) / _THOUSAND
    )
    return StepCost(**dict(used), price=price)
