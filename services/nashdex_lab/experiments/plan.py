"""The plan of an experiment: what a person writes in ``FILE.toml`` before anything runs."""

import itertools
import math
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Discriminator, Field, StringConstraints, Tag, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from nashdex.core.documents import describe, nearest_keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import RunId, id_of_text, run_id
from nashdex.core.section import ASKS_FOR_KIND, Section
from nashdex.core.user_input import expected_instead, expected_one_of, flatten, read_toml
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES
from nashdex_lab.experiments.rules import ArmName, Comparison, DifferenceRule, Rule, ScoreRule, score_measures

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


Sweep = Annotated[Grid | RandomSweep, Field(discriminator="kind"), ASKS_FOR_KIND]


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


_SEPARATOR = "/"
_MAX_STEM = 30
_SET_BY_THE_PLAN = {
    "seed": "list the runs' seeds in `seeds`",
    "run": "begin the runs' ids with `name`",
}
"""Settings that every run gets from the plan, and what a person writes instead."""


Plays = Literal["last", "magnet", "mixture"]


class Arm(Section):
    """One variant of the base settings."""

    name: ArmName = Field(description="Lower-case letters, digits, dots and dashes.")
    settings: dict[str, Any] = Field(
        default_factory=dict, description="Changed settings: nested tables, or dotted keys in quotes."
    )
    plays: Plays = Field(
        "last",
        description="What is measured: the last trained policy or its magnet (a damping reference `ema`) in "
        "measure.style, or the run's final mixture, whose members sample.",
    )


class ExploiterSettings(Section):
    """An exploiter of one budget for each finished run's policy: `nashdex exploit --from-target`.

    It begins with the policy's own weights and meets the policy as it samples: whoever knows a deterministic policy
    exploits it.
    """

    decisions: int = Field(300_000, ge=1, le=10**12, description="Decisions that it learns from.")
    battles: int = Field(
        1000, ge=10, le=500_000, multiple_of=2, description="Battles that score it, with no other use."
    )


class Measurement(Section):
    """Battles of each finished run's last policy against fixed references, the same for all arms."""

    anchors: dict[str, float] = Field(
        {"heuristic": 0.0}, min_length=1, description="Scripted policies, each with its fixed Elo."
    )
    battles: int = Field(
        1000, ge=10, le=10_000_000, multiple_of=2, description="Battles against each anchor, in side-swapped pairs."
    )
    style: Literal["greedy", "sampled"] = Field("greedy", description="How the policy plays.")
    seed: int = Field(
        20_000, ge=0, lt=2**62, description="Root of the battles. Arms of one seed play the same battles."
    )
    exploiter: ExploiterSettings | None = Field(
        None, description="Train an exploiter against each run's policy, and measure the policy's score against it."
    )

    @property
    def scores(self) -> tuple[str, ...]:
        """What scores are against."""
        return score_measures(self.anchors, has_exploiter=self.exploiter is not None)

    @field_validator("anchors")
    @classmethod
    def _are_known(cls, anchors: dict[str, float]) -> dict[str, float]:
        for name in anchors:
            if name not in SCRIPTED_POLICIES:
                raise ValueError(f"unknown anchor {name!r}: {expected_one_of(name, SCRIPTED_POLICIES.names)}")
        return anchors


class Experiment(Section):
    """Arms × seeds of one base configuration, and the rule that judges them."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{0,29}$")] | None = Field(
        None, description="Prefix of its runs' ids; by default the file's name."
    )
    hypothesis: str = Field(min_length=1, description="What is expected, and why.")
    base: Path = Field(description="Settings of a run, from the plan's folder.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Changed in every arm.")
    seeds: tuple[int, ...] = Field((1, 2, 3), min_length=1, description="`seed` of the runs of each arm.")
    arms_at_once: int = Field(1, ge=1, le=1000, description="Runs at the same time.")
    processes: int = Field(1, ge=1, le=1024, description="Steps of one run at the same time.")
    arms: tuple[Arm, ...] = Field((), description="The variants.")
    sweep: Sweep | None = Field(None, description="Further arms, from a grid or at random.")
    measure: Measurement = Field(Measurement(), description="How a finished run is measured.")
    verdict: Rule = Field(description="The rule that decides, stated before the first run.")
    invalid: dict[str, str] = Field(
        default_factory=dict, description="Runs that do not count, ARM/SEED = reason, such as a fault found later."
    )
    follow_ups: tuple[str, ...] = Field((), description="What to try next; written when the results are known.")

    @field_validator("seeds")
    @classmethod
    def _are_different(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(seeds)) < len(seeds):
            raise ValueError("a seed is repeated; expected each seed once")
        return seeds

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for place, key in self._changed_keys():
            if instead := _SET_BY_THE_PLAN.get(key.partition(".")[0]):
                raise ValueError(
                    f"{key!r} in {place} has no effect, because the plan gives each run its own: leave it out, and "
                    f"{instead}"
                )
        arms = self.all_arms
        if not arms:
            raise ValueError("there is no arm; expected arms or a sweep")
        names = [arm.name for arm in arms]
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two arms are called {repeated!r}; expected different names")
        if problem := next(self.verdict.problems(names, self.measure.scores), None):
            raise ValueError(problem)
        runs = {f"{name}{_SEPARATOR}{seed}" for name in names for seed in self.seeds}
        if unknown := next((key for key in self.invalid if key not in runs), None):
            expected = expected_instead(unknown, sorted(runs), f"ARM/SEED, such as {min(runs)}")
            raise ValueError(f"invalid holds {unknown!r}, which is not a run; {expected}")
        return self

    def _changed_keys(self) -> Iterator[tuple[str, str]]:
        """Yield each dotted key of settings that the plan changes, after the place that changes it."""
        yield from (("settings", key) for key, _ in flatten(self.settings))
        yield from ((f"the settings of arm {arm.name!r}", key) for arm in self.arms for key, _ in flatten(arm.settings))
        if self.sweep is not None:
            yield from (("sweep.values", key) for key in self.sweep.values)

    @property
    def all_arms(self) -> tuple[Arm, ...]:
        """The arms, also the sweep's."""
        swept = () if self.sweep is None else sweep_settings(self.sweep)
        return (*self.arms, *(Arm(name=f"sweep-{i:02d}", settings=found) for i, found in enumerate(swept, 1)))

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Every comparison of the rule."""
        return self.verdict.all_comparisons([arm.name for arm in self.all_arms])


class PlannedRun(Section):
    """One run of an experiment."""

    id: RunId
    stored: RunId = Field(description="The run in the store. Arms of equal settings share the first arm's run.")
    arm: str
    seed: int
    plays: Plays = "last"
    overrides: tuple[str, ...] = Field(description="KEY=VALUE of each setting that differs from the base.")

    @property
    def key(self) -> str:
        """ARM/SEED."""
        return f"{self.arm}{_SEPARATOR}{self.seed}"


class Plan(Section):
    """An experiment as it was read from its file."""

    path: Path
    experiment: Experiment

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.experiment.name or id_of_text(self.path.stem, _MAX_STEM, "experiment")

    @property
    def base(self) -> Path:
        """The base settings' file."""
        return self.path.parent / self.experiment.base

    def beside(self, suffix: str) -> Path:
        """Return the path of a file beside the plan, which ends in ``suffix`` instead of ``.toml``."""
        return self.path.with_name(self.path.stem + suffix)

    @property
    def runs(self) -> tuple[PlannedRun, ...]:
        """The runs, all arms of the first seed first, so that an unfinished experiment compares equals.

        Raises:
            ConfigurationError: an id is too long.
        """
        common = dict(flatten(self.experiment.settings))
        first: dict[frozenset[str], RunId] = {}
        runs = []
        for seed in self.experiment.seeds:
            for arm in self.experiment.all_arms:
                changed = common | dict(flatten(arm.settings))
                overrides = (*(f"{key}={literal(value)}" for key, value in changed.items()), f"seed={seed}")
                name = run_id(f"{self.name}-{arm.name}-{seed}")
                stored = first.setdefault(frozenset(overrides), name)
                runs.append(
                    PlannedRun(id=name, stored=stored, arm=arm.name, seed=seed, plays=arm.plays, overrides=overrides)
                )
        return tuple(runs)


_SECTIONS: Final = (
    Experiment,
    Arm,
    Measurement,
    ExploiterSettings,
    DifferenceRule,
    ScoreRule,
    Comparison,
    Grid,
    RandomSweep,
    Range,
)
_KEYS: Final = tuple(dict.fromkeys(key for section in _SECTIONS for key in section.model_fields))


def read_plan(path: Path) -> Plan:
    """Return the plan in a TOML file.

    Raises:
        DataError: the file is missing or is not TOML.
        ConfigurationError: a key is unknown or a value does not fit.
    """
    values = read_toml(path, "an experiment")
    try:
        return Plan(path=path, experiment=Experiment.model_validate(values))
    except ValidationError as error:
        problems = [_as_written(problem, values) for problem in error.errors(include_url=False)]
        raise ConfigurationError(f"{path}: {describe(problems, nearest_keys(_KEYS))}") from error


def _as_written(problem: ErrorDetails, values: Mapping[str, Any]) -> ErrorDetails:
    """Return a problem under the key that the file has: pydantic puts the kind of a section before it."""
    place: list[int | str] = []
    below: Any = values
    for part in problem["loc"]:
        is_item = isinstance(below, list) and isinstance(part, int)
        is_written = part in below if isinstance(below, Mapping) else is_item
        if is_written:
            below = below[part]
            place.append(part)
    if problem["type"] == "missing":
        place.append(problem["loc"][-1])
    return {**problem, "loc": tuple(place)}


def literal(value: Any) -> str:  # noqa: ANN401 - any value of TOML
    """Return a value as TOML writes it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        case list() | tuple():
            return f"[{', '.join(map(literal, value))}]"
        case dict():
            return "{ " + ", ".join(f"{literal(key)} = {literal(one)}" for key, one in value.items()) + " }"
    return repr(value)
