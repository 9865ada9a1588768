"""A population and its results as metamon's PSRO scripts save them, and what each member is called here.

``population.json`` has the members, ``interaction_matrix.json`` their results as counts, and ``meta_strategy.json`` a
mixture. Unknown keys are ignored: other versions write more.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.user_input import read_file
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES
from nashdex_metamon.checkpoints.models import PUBLISHED_MODELS

POPULATION: Final = "population.json"
MATRIX: Final = "interaction_matrix.json"
STRATEGY: Final = "meta_strategy.json"
_MAX_BYTES: Final = 1 << 26
_TOLERANCE: Final = 1e-4
"""Largest error of a sum of rounded probabilities."""
_BASELINES: Final = {
    "RandomBaseline": "metamon:random-baseline",
    "MaxBPBaseline": "metamon:max-bp",
    "Gen1Trainer": "metamon:gen1-trainer",
    "Gen1TrainerGoodSwitching": "metamon:gen1-trainer-good-switching",
    "Gen1BossAI": "metamon:gen1-boss-ai",
    "BasicSwitcher": "metamon:basic-switcher",
    "Grunt": "metamon:grunt",
    "BugCatcher": "metamon:bug-catcher",
    "GymLeader": "metamon:gym-leader",
    "EmeraldKaizo": "metamon:emerald-kaizo",
    "PokeEnvHeuristic": "metamon:poke-env-heuristic",
    "EasyPokeEnvHeuristic": "metamon:easy-poke-env-heuristic",
    "MiniRNN": "metamon:mini-rnn",
}
"""Names of metamon's baselines here."""


class _Lenient(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class _Policy(_Lenient):
    policy_type: str
    checkpoint: NonNegativeInt | None = None
    model_class: str | None = None
    baseline_class: str | None = None


class _Population(_Lenient):
    policies: dict[str, _Policy] = Field(min_length=1)


class _Matchup(_Lenient):
    policy1: str
    policy2: str
    policy1_wins: NonNegativeInt
    policy2_wins: NonNegativeInt
    total_battles: NonNegativeInt


class _Matrix(_Lenient):
    matchups: list[_Matchup]


class _Strategy(_Lenient):
    meta_strategy: list[float]
    policy_names: list[str]


_Document = TypeVar("_Document", bound=_Lenient)


@dataclass(frozen=True, slots=True)
class Member:
    """A policy of the population."""

    name: str
    scripted: str | None
    """Its name here, if it is a scripted policy."""
    command: str | None
    """The import command, if it is an importable published model."""
    problem: str
    """Why it is not available; empty if it is."""
    probability: float | None
    """Probability in the meta-strategy; None without a meta-strategy."""


@dataclass(frozen=True, slots=True)
class PhaseZero:
    """The three files together."""

    members: tuple[Member, ...]
    wins: tuple[tuple[int, ...], ...]
    """Wins of the row's policy against the column's."""
    games: tuple[tuple[int, ...], ...]

    @property
    def num_unplayed(self) -> int:
        """Pairs that never met. metamon counts them as even."""
        size = len(self.members)
        return sum(self.games[row][column] == 0 for row in range(size) for column in range(row))

    def ledger(self) -> dict[str, Any]:
        """Return the counts in the form that ``nashdex rate`` and ``nashdex solve`` read."""
        size = len(self.members)
        return {
            "policies": [member.name for member in self.members],
            "wins": [list(row) for row in self.wins],
            "draws": [[0] * size for _ in range(size)],
            "games": [list(row) for row in self.games],
        }


def read_phase_zero(folder: Path) -> PhaseZero:
    """Return what ``folder`` holds; ``meta_strategy.json`` may be missing.

    Raises:
        DataError: a file is missing or is not as metamon writes it, or the files contradict one another.
    """
    population = _read(folder / POPULATION, _Population)
    names = list(population.policies)
    wins, games = _counts(_read(folder / MATRIX, _Matrix).matchups, names, str(folder / MATRIX))
    strategy = _strategy(folder / STRATEGY, names) if (folder / STRATEGY).exists() else {}
    members = tuple(_member(name, policy, strategy.get(name)) for name, policy in population.policies.items())
    return PhaseZero(members, tuple(map(tuple, wins)), tuple(map(tuple, games)))


def _read(path: Path, kind: type[_Document]) -> _Document:
    data = read_file(path, "a file of metamon's PSRO scripts", _MAX_BYTES)
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise DataError(f"{path} is not as metamon writes it: {describe_problems(error)}") from error


def _counts(matchups: list[_Matchup], names: list[str], source: str) -> tuple[list[list[int]], list[list[int]]]:
    place = {name: number for number, name in enumerate(names)}
    wins = [[0] * len(names) for _ in names]
    games = [[0] * len(names) for _ in names]
    for matchup in matchups:
        first, second = matchup.policy1, matchup.policy2
        strangers = [name for name in (first, second) if name not in place]
        if strangers or first == second:
            raise DataError(f"{source}: {first!r} against {second!r} is not a pair of policies of {POPULATION}")
        if matchup.policy1_wins + matchup.policy2_wins > matchup.total_battles:
            raise DataError(f"{source}: {first!r} and {second!r} have more wins than battles")
        if matchup.policy1_wins + matchup.policy2_wins < matchup.total_battles:
            raise DataError(
                f"{source}: {first!r} and {second!r} have fewer wins than battles; metamon counts no draws, so correct "
                "the file"
            )
        row, column = place[first], place[second]
        if games[row][column]:
            raise DataError(f"{source}: {first!r} and {second!r} meet twice; expected each pair once")
        wins[row][column], wins[column][row] = matchup.policy1_wins, matchup.policy2_wins
        games[row][column] = games[column][row] = matchup.total_battles
    return wins, games


def _strategy(path: Path, names: list[str]) -> dict[str, float]:
    given = _read(path, _Strategy)
    if len(given.meta_strategy) != len(given.policy_names) or set(given.policy_names) != set(names):
        raise DataError(f"{path}: expected one probability for each policy of {POPULATION}")
    if min(given.meta_strategy) < 0 or not math.isclose(math.fsum(given.meta_strategy), 1.0, abs_tol=_TOLERANCE):
        raise DataError(f"{path}: expected probabilities of at least 0 that sum to 1")
    return dict(zip(given.policy_names, given.meta_strategy, strict=True))


def _member(name: str, policy: _Policy, probability: float | None) -> Member:
    found: dict[str, Callable[[], tuple[str | None, str | None, str]]] = {
        "heuristic": lambda: _baseline(policy.baseline_class or name),
        "pretrained": lambda: _model(policy.model_class or name, policy.checkpoint),
    }
    describe = found.get(policy.policy_type)
    if describe is None:
        return Member(name, None, None, "import its file with `nashdex policy import`", probability)
    return Member(name, *describe(), probability)


def _baseline(name: str) -> tuple[str | None, str | None, str]:
    here = _BASELINES.get(name)
    if here is None or here not in SCRIPTED_POLICIES:
        return None, None, f"nashdex has no baseline {name}"
    return here, None, ""


def _model(name: str, epoch: int | None) -> tuple[str | None, str | None, str]:
    if name in _BASELINES:
        return _baseline(name)
    model = PUBLISHED_MODELS.get(name)
    if model is None:
        return None, None, f"metamon has published no model {name}; import its file with `nashdex policy import`"
    if model.unsupported:
        return None, None, model.unsupported
    chosen = "" if epoch is None else f" --epoch {epoch}"
    return None, f"nashdex policy import {name} STORE{chosen} --vocabulary {model.vocabulary}.json", ""


def require_new(path: Path) -> None:
    """Raise ConfigurationError if ``path`` exists: nothing is overwritten."""
    if path.exists():
        raise ConfigurationError(f"{path} exists already; name another file")
