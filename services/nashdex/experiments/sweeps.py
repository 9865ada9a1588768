"""Sweeps: arms that follow from lists or ranges of values."""

import itertools
import math
import random
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from nashdex.core.section import Section

_MOST_ARMS = 1000


class Grid(Section):
    """Every combination of the values."""

    kind: Literal["grid"] = "grid"
    values: dict[str, list[Any]] = Field(min_length=1, description="Dotted key of a setting = list of its values.")

    @model_validator(mode="after")
    def _is_small(self) -> Self:
        if empty := next((key for key, values in self.values.items() if not values), None):
            raise ValueError(f"values of {empty!r} is empty; expected at least one value")
        num_arms = math.prod(map(len, self.values.values()))
        if num_arms > _MOST_ARMS:
            raise ValueError(f"the grid has {num_arms} arms; expected at most {_MOST_ARMS}")
        return self


class Range(Section):
    """Numbers between two bounds."""

    low: float = Field(description="Smallest value.")
    high: float = Field(description="Largest value.")
    scale: Literal["linear", "log"] = Field("linear", description="`log` draws the logarithm uniformly.")
    whole: bool = Field(default=False, description="Whether values are whole numbers.")

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"low is {self.low:g} and high {self.high:g}; expected low to be the smaller")
        if self.scale == "log" and self.low <= 0:
            raise ValueError(f"low is {self.low:g} and scale 'log'; expected low above 0")
        return self

    def draw(self, generator: random.Random) -> float | int:
        """Return a value, with four significant digits."""
        if self.scale == "log":
            value = math.exp(generator.uniform(math.log(self.low), math.log(self.high)))
        else:
            value = generator.uniform(self.low, self.high)
        return round(value) if self.whole else float(f"{value:.4g}")


def _sort_of_values(values: object) -> str | None:
    """Return the tag of a key's values in a random sweep; None where they are neither."""
    if isinstance(values, Range) or (isinstance(values, dict) and values.keys() & {"low", "high"}):
        return "range"
    return "list" if isinstance(values, list) else None


_Values = Annotated[
    Annotated[list[Any], Tag("list")] | Annotated[Range, Tag("range")],
    Discriminator(
        _sort_of_values,
        custom_error_type="values",
        custom_error_message="expected a list of values, or a range such as { low = 1, high = 2 }",
    ),
]


class RandomSweep(Section):
    """Independent draws (Bergstra & Bengio 2012)."""

    kind: Literal["random"] = "random"
    num_arms: int = Field(ge=1, le=_MOST_ARMS, description="Draws.")
    seed: int = Field(0, ge=0, description="Seed of the draws.")
    values: dict[str, _Values] = Field(
        min_length=1, description="Dotted key of a setting = list of its values, or a range."
    )

    @model_validator(mode="after")
    def _has_values(self) -> Self:
        if empty := next((key for key, values in self.values.items() if values == []), None):
            raise ValueError(f"values of {empty!r} is empty; expected at least one value")
        return self


Sweep = Annotated[Grid | RandomSweep, Field(discriminator="kind")]


def sweep_settings(sweep: Sweep) -> list[dict[str, Any]]:
    """Return the changed settings of each arm."""
    if isinstance(sweep, Grid):
        return [dict(zip(sweep.values, values, strict=True)) for values in itertools.product(*sweep.values.values())]
    generator = random.Random(sweep.seed)
    return [
        {
            key: values.draw(generator) if isinstance(values, Range) else generator.choice(values)
            for key, values in sweep.values.items()
        }
        for _ in range(sweep.num_arms)
    ]
