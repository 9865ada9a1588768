"""A game in a file, and its solution: what ``nashdex solve MATRIX.json`` reads and answers.

A file holds integer counts (``wins``, ``draws``, ``games``, as in ``interaction_matrix.json``) or ``payoffs`` of a
zero-sum game to the row player. Square and antisymmetric payoffs, or ``"symmetric": true``, are one population; others
are two. ``column_payoffs`` beside ``payoffs`` make it a bimatrix game.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from nashdex.core.documents import Model, describe_problems
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.metagame.counts import check_counts, check_names
from nashdex.metagame.exploitability import restricted_gain, restricted_gain_of_two
from nashdex.metagame.meta_solvers import META_SOLVERS, meta_solver
from nashdex.metagame.payoffs import centred, expected_scores, require_played

Floats = NDArray[np.float64]
Name = Annotated[str, Field(strict=True, min_length=1)]
Count = Annotated[int, Field(strict=True, ge=0, le=2**53)]
Payoff = Annotated[float, Field(strict=True, ge=-1e15, le=1e15)]

_ANTISYMMETRY_TOLERANCE = 1e-9
"""Share of the largest payoff: what writing decimals may cost."""


class _MatrixFile(Model):
    """The file as it is written. Which fields go together is for ``_game`` to say."""

    schema_version: Literal[1] = 1
    policies: tuple[Name, ...] | None = None
    row_policies: tuple[Name, ...] | None = None
    column_policies: tuple[Name, ...] | None = None
    wins: tuple[tuple[Count, ...], ...] | None = None
    draws: tuple[tuple[Count, ...], ...] | None = None
    games: tuple[tuple[Count, ...], ...] | None = None
    payoffs: tuple[tuple[Payoff, ...], ...] | None = None
    column_payoffs: tuple[tuple[Payoff, ...], ...] | None = None
    symmetric: bool | None = Field(None, strict=True)


@dataclass(frozen=True, slots=True)
class SymmetricGame:
    """One population. ``payoffs`` to the row player: antisymmetric, of shape (K, K)."""

    policies: tuple[str, ...]
    payoffs: Floats


@dataclass(frozen=True, slots=True)
class TwoPopulationGame:
    """Two populations, zero-sum. ``payoffs`` to the row player, of shape (M, N)."""

    row_policies: tuple[str, ...]
    column_policies: tuple[str, ...]
    payoffs: Floats


@dataclass(frozen=True, slots=True)
class BimatrixGame:
    """Two populations, each with payoffs of its own, of shape (M, N)."""

    row_policies: tuple[str, ...]
    column_policies: tuple[str, ...]
    row_payoffs: Floats
    column_payoffs: Floats


Game = SymmetricGame | TwoPopulationGame | BimatrixGame


class _Solved(Model):
    """What every answer says."""

    meta_solver: str
    value: float = Field(description="To the row player; of counts, expected score minus ½.")
    restricted_exploitability: float = Field(description="NashConv over the number of players, within the file.")
    status: str
    residual: float = Field(description="How far the answer is from what its solver promises.")
    unique: bool = Field(description="False where the answer was chosen among many.")


class SymmetricAnswer(_Solved):
    """The mixture of one population."""

    policies: tuple[str, ...]
    meta_strategy: dict[str, float]


class TwoPopulationAnswer(_Solved):
    """The mixtures of two populations."""

    row_policies: tuple[str, ...]
    column_policies: tuple[str, ...]
    row_strategy: dict[str, float]
    column_strategy: dict[str, float]


def read(path: Path) -> Game:
    """Return the game in ``path``.

    Raises:
        DataError: the file is missing, is no JSON, or what it says is wrong or incomplete.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); expected a JSON file with a matrix") from error
    try:
        return _game(_MatrixFile.model_validate_json(text))
    except ValidationError as error:
        raise DataError(f"{path}: {describe_problems(error)}") from error
    except (ValueError, DataError) as error:
        raise DataError(f"{path}: {error}") from error


def solve(game: Game, solver_name: str = "nash") -> SymmetricAnswer | TwoPopulationAnswer:
    """Return the mixture, or the two mixtures, that the meta-solver called ``solver_name`` chooses.

    Raises:
        ConfigurationError: there is no such meta-solver, or it is not defined for this kind of game.
    """
    solver = meta_solver(solver_name)
    if isinstance(game, SymmetricGame):
        one = solver.one_population(game.payoffs)
        return SymmetricAnswer(
            policies=game.policies,
            meta_strategy=_by_name(game.policies, one.strategy),
            meta_solver=solver.name,
            value=one.value,
            restricted_exploitability=max(0.0, float(restricted_gain(game.payoffs, one.strategy))),
            status=one.status,
            residual=one.residual,
            unique=one.unique,
        )
    if isinstance(game, TwoPopulationGame):
        two = solver.two_populations(game.payoffs)
        gain = restricted_gain_of_two(game.payoffs, two.row, two.column)
    elif solver.bimatrix is not None:
        two = solver.bimatrix(game.row_payoffs, game.column_payoffs)
        gain = (
            float((game.row_payoffs @ two.column).max() - two.row @ game.row_payoffs @ two.column)
            + float((two.row @ game.column_payoffs).max() - two.row @ game.column_payoffs @ two.column)
        ) / 2
    else:
        able = [name for name, other in META_SOLVERS.items() if other.bimatrix is not None]
        raise ConfigurationError(
            f"meta-solver {solver_name!r} is not defined for bimatrix games; "
            f"{'use one of ' + ', '.join(able) if able else 'none of this version is'}. "
            "A zero-sum game needs no column_payoffs: leave them out"
        )
    return TwoPopulationAnswer(
        row_policies=game.row_policies,
        column_policies=game.column_policies,
        row_strategy=_by_name(game.row_policies, two.row),
        column_strategy=_by_name(game.column_policies, two.column),
        meta_solver=solver.name,
        value=two.value,
        restricted_exploitability=max(0.0, gain),
        status=two.status,
        residual=two.residual,
        unique=two.unique,
    )


def _by_name(names: Sequence[str], strategy: Floats) -> dict[str, float]:
    return dict(zip(names, strategy.tolist(), strict=True))


def _game(file: _MatrixFile) -> Game:
    """Return what ``file`` means; problems are ValueErrors or DataErrors."""
    counts = {"wins": file.wins, "draws": file.draws, "games": file.games}
    given = [name for name, table in counts.items() if table is not None]
    if file.payoffs is not None and given:
        raise ValueError(f"both payoffs and {given[0]} are given; expected payoffs, or wins, draws and games")
    if file.payoffs is None:
        return _counted(file)
    payoffs = _table("payoffs", file.payoffs)
    if file.column_payoffs is None:
        if _is_symmetric(file, payoffs):
            return SymmetricGame(_pair_of_names(file, payoffs)[0], (payoffs - payoffs.T) / 2)
        return TwoPopulationGame(*_pair_of_names(file, payoffs), payoffs)
    column_payoffs = _table("column_payoffs", file.column_payoffs)
    if column_payoffs.shape != payoffs.shape:
        raise ValueError(f"column_payoffs is {_size(column_payoffs)} and payoffs {_size(payoffs)}; expected one size")
    return BimatrixGame(*_pair_of_names(file, payoffs), payoffs, column_payoffs)


def _counted(file: _MatrixFile) -> SymmetricGame:
    if file.wins is None or file.draws is None or file.games is None:
        raise ValueError("expected payoffs, or all of wins, draws and games")
    for name in ("row_policies", "column_policies", "column_payoffs"):
        if getattr(file, name) is not None:
            raise ValueError(f"{name} does not go with counts, which are of one population; expected policies")
    if file.symmetric is False:
        raise ValueError('counts are of one population; "symmetric": false does not go with them')
    policies = file.policies if file.policies is not None else _numbers(len(file.wins))
    check_counts(policies, file.wins, file.draws, file.games)
    wins, draws, games = (np.array(table, dtype=np.int64) for table in (file.wins, file.draws, file.games))
    require_played(policies, games)
    return SymmetricGame(policies, centred(expected_scores(wins, draws, games)))


def _table(name: str, rows: Sequence[Sequence[float]]) -> Floats:
    if not rows or not rows[0]:
        raise ValueError(f"{name} is empty; expected at least one row and one column")
    for index, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"{name}: row {index} has {len(row)} entries, row 0 has {len(rows[0])}; expected rows of one length"
            )
    return np.array(rows, dtype=np.float64)


def _is_symmetric(file: _MatrixFile, payoffs: Floats) -> bool:
    """Say whether ``payoffs`` are of one population; check a claim that they are."""
    problem = _asymmetry(payoffs)
    if file.symmetric:
        if problem is not None:
            raise ValueError(f'"symmetric": true, but {problem}')
        if file.row_policies != file.column_policies:
            raise ValueError('"symmetric": true, but rows and columns are not named alike; expected policies')
        return True
    return problem is None and file.symmetric is None and file.row_policies == file.column_policies


def _asymmetry(payoffs: Floats) -> str | None:
    """Return why ``payoffs`` cannot be of one population, or None."""
    num_rows, num_columns = payoffs.shape
    if num_rows != num_columns:
        return f"payoffs is {_size(payoffs)}; expected a square matrix"
    excess = np.abs(payoffs + payoffs.T)
    if excess.max() <= _ANTISYMMETRY_TOLERANCE * np.abs(payoffs).max():
        return None
    i, j = next((i, j) for i, j in product(range(num_rows), repeat=2) if excess[i, j] == excess.max())
    hint = ""
    if np.abs(excess - 1.0).max() <= _ANTISYMMETRY_TOLERANCE:
        hint = "; these look like win rates: take ½ from each"
    return (
        f"payoffs is not antisymmetric: [{i}][{j}] is {payoffs[i, j]} and [{j}][{i}] is {payoffs[j, i]}; "
        f"expected one to be minus the other{hint}"
    )


def _pair_of_names(file: _MatrixFile, payoffs: Floats) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of rows and columns; ``policies`` names both of a square matrix."""
    num_rows, num_columns = payoffs.shape
    if file.policies is None:
        return _names("row_policies", file.row_policies, num_rows), _names(
            "column_policies", file.column_policies, num_columns
        )
    if file.row_policies is not None or file.column_policies is not None:
        raise ValueError("policies is given beside row_policies or column_policies; expected one or the other")
    if num_rows != num_columns:
        raise ValueError(
            f"policies names one population, but payoffs is {_size(payoffs)}; expected row_policies and column_policies"
        )
    names = _names("policies", file.policies, num_rows)
    return names, names


def _names(what: str, given: tuple[str, ...] | None, count: int) -> tuple[str, ...]:
    """Return the names that are given, checked, or else the rows' or columns' numbers."""
    if given is None:
        return _numbers(count)
    if len(given) != count:
        raise ValueError(f"{what} holds {len(given)} names; expected {count}, one for each row or column")
    check_names(given)
    return given


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(str(index) for index in range(count))


def _size(payoffs: Floats) -> str:
    return f"{payoffs.shape[0]} × {payoffs.shape[1]}"
