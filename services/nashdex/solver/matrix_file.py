"""A game in a file: the input of ``nashdex solve MATRIX.json``, and the counts for ``nashdex rate``.

A file holds integer counts (``wins``, ``draws``, ``games``, as in ``interaction_matrix.json``) or ``payoffs`` of a
zero-sum game to the row player. Square and antisymmetric payoffs, or ``"symmetric": true``, are one population; others
are two. ``column_payoffs`` beside ``payoffs`` make it a bimatrix game, of one population where they are the transpose.
A run's ``interaction_matrix.json`` is such a file, of either kind.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, TypeVar

import numpy as np
from pydantic import AfterValidator, Field, ValidationError

from nashdex.core.documents import Model, describe_problems
from nashdex.core.errors import DataError
from nashdex.core.evidence import Evidence
from nashdex.core.keys import INTERACTION_MATRIX, META_GAME_ANALYSIS, POPULATION
from nashdex.core.manifest import Manifest
from nashdex.core.steps import StepName
from nashdex.core.user_input import read_file
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.metagame.evidence.counts import check_counts, check_names, check_pairs
from nashdex.metagame.evidence.estimates import Floats, Tally, centred
from nashdex.metagame.evidence.imputation import Imputation, filled
from nashdex.metagame.population import Population
from nashdex.metagame.ratings.table import RatingTable
from nashdex.store import open_store
from nashdex.store.attempt import newest_manifest, read_object
from nashdex.store.documents import read_written
from nashdex.store.nearby import runs_nearby
from nashdex.store.protocol import ObjectStore


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError(f"{name!r} holds a control character; expected a name that can be printed")
    return name


Name = Annotated[str, Field(strict=True, min_length=1), AfterValidator(_printable)]
"""Any name that fits on a line: a policy of another project, not an id."""
Count = Annotated[int, Field(strict=True, ge=0, le=2**53)]
Payoff = Annotated[float, Field(strict=True, ge=-1e15, le=1e15)]
Meaning = TypeVar("Meaning")

_SYMMETRY_TOLERANCE = 1e-9
"""Share of the largest payoff: what writing decimals may cost."""

_SMALLEST_SCALE = 1e-100
"""Below, products of payoffs are not numbers any more."""

_EXPECTED = (
    'Expected a JSON object with payoffs to the row player, such as {"payoffs": [[0, 1], [-1, 0]]}, or with '
    "wins, draws and games, as in a run's interaction_matrix.json"
)


class _Pairs(Model):
    """Side-swapped pairs by result, as in ``interaction_matrix.json``."""

    won_both: tuple[tuple[Count, ...], ...]
    won_and_drew: tuple[tuple[Count, ...], ...]
    split: tuple[tuple[Count, ...], ...]
    drew_both: tuple[tuple[Count, ...], ...]


class _MatrixFile(Model):
    """The fields of a file. ``_game`` and ``_counts`` check which of them go together."""

    schema_version: Literal[1, 2, 3] = 3
    kind: Evidence | None = Field(None, description="Written by runs; the other fields say the same.")
    largest_payoff: Payoff | None = Field(None, description="Written by runs; ignored.")
    policies: tuple[Name, ...] | None = None
    row_policies: tuple[Name, ...] | None = None
    column_policies: tuple[Name, ...] | None = None
    wins: tuple[tuple[Count, ...], ...] | None = None
    draws: tuple[tuple[Count, ...], ...] | None = None
    games: tuple[tuple[Count, ...], ...] | None = None
    pairs: _Pairs | None = Field(None, description="The side-swapped pairs among the games; without, single battles.")
    payoffs: tuple[tuple[Payoff, ...], ...] | None = None
    column_payoffs: tuple[tuple[Payoff, ...], ...] | None = None
    symmetric: bool | None = Field(None, strict=True)


@dataclass(frozen=True, slots=True)
class SymmetricGame:
    """One population. ``payoffs`` to the row player, of shape (K, K): antisymmetric where the game is zero-sum."""

    policies: tuple[str, ...]
    payoffs: Floats
    zero_sum: bool = True
    tally: Tally | None = None
    """The battles that the payoffs are estimated from; None where they are given."""
    unplayed: Imputation = "block"
    """How the payoff of a pair without battles is imputed."""
    imputed: tuple[tuple[str, str], ...] = ()
    """The pairs without battles."""
    history: tuple[str, ...] | None = None
    """Policies in the order of joining, repeats included, for solvers that go by age; None: that of ``policies``."""


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


@dataclass(frozen=True, slots=True)
class Counts:
    """One population's battles."""

    policies: tuple[str, ...]
    tally: Tally
    """Counts of shape (K, K). Battles of a file without ``pairs`` are single."""


Solved: TypeAlias = tuple[ObjectStore, Manifest]
"""A run's store, and the manifest of one of its solve steps."""


def newest_solved(source: str) -> Solved | None:
    """Return the store and the newest solve step of the run whose URI is ``source``; None where that is a file.

    Raises:
        DataError: the folder or bucket holds no run with a solved iteration.
    """
    if "://" not in source and not Path(source).is_dir():
        return None
    store = open_store(source)
    newest = newest_manifest(store, StepName.SOLVE)
    if newest is None:
        raise DataError(
            f"{source} holds no run with a solved iteration; {runs_nearby(source)}expected a JSON file with a matrix, "
            "or the URI of a run"
        )
    return store, newest


def load(source: str, solved: Solved | None) -> tuple[bytes, str]:
    """Return the text of a file, or of the ``interaction_matrix.json`` of ``solved``, the newest of the run ``source``.

    Its name for errors is the second.

    Raises:
        DataError: the file cannot be read, or the matrix is missing or altered.
    """
    if solved is None:
        return read_file(Path(source), "a JSON file with a matrix, or the URI of a run"), source
    store, newest = solved
    return read_object(store, newest, INTERACTION_MATRIX), f"{store.uri}/{newest.objects[INTERACTION_MATRIX].key}"


def published_ratings(solved: Solved) -> RatingTable | None:
    """Return the ratings that the solve step published, if it did.

    Raises:
        DataError: its analysis is missing or altered.
    """
    store, manifest = solved
    if META_GAME_ANALYSIS not in manifest.objects:
        return None
    analysis = read_written(store, manifest, META_GAME_ANALYSIS, MetaGameAnalysis)
    return RatingTable(**{name: getattr(analysis, name) for name in RatingTable.model_fields})


def published_history(solved: Solved) -> tuple[str, ...] | None:
    """Return the run's members in the order of joining, repeats included; None if the solve step did not publish them.

    Raises:
        DataError: its population is missing or altered.
    """
    store, manifest = solved
    if POPULATION not in manifest.objects:
        return None
    return read_written(store, manifest, POPULATION, Population).history


def read(path: Path) -> Game:
    """Return the game in ``path``.

    Raises:
        DataError: the file is missing, is not JSON, or what it says is wrong or incomplete.
    """
    return game_in(read_file(path, "a JSON file with a matrix"), str(path))


def game_in(text: bytes, name: str, *, unplayed: Imputation = "block", history: tuple[str, ...] | None = None) -> Game:
    """Return the game in ``text``; ``name`` is the file's, for errors.

    ``unplayed`` and ``history`` are as in ``SymmetricGame``.

    Raises:
        DataError: it is not JSON, or what it says is wrong or incomplete.
    """
    game = _parse(text, name, lambda file: _game(file, unplayed))
    return replace(game, history=history) if isinstance(game, SymmetricGame) else game


def counts_in(text: bytes, name: str) -> Counts:
    """Return the counts in ``text``; ``name`` is the file's, for errors. Cells that were not played hold 0 games.

    Raises:
        DataError: it is not JSON, or holds no counts, or wrong or incomplete ones.
    """
    return _parse(text, name, _counts)


def _parse(text: bytes, path: str, meaning: Callable[[_MatrixFile], Meaning]) -> Meaning:
    try:
        return meaning(_MatrixFile.model_validate_json(text))
    except ValidationError as error:
        is_whole = not error.errors()[0]["loc"] or error.errors()[0]["type"] == "extra_forbidden"
        problem = describe_problems(error)
        raise DataError(f"{path}: {problem}. {_EXPECTED}" if is_whole else f"{path}: {problem}") from error
    except (ValueError, DataError) as error:
        raise DataError(f"{path}: {error}") from error


def _game(file: _MatrixFile, unplayed: Imputation) -> Game:
    """Return what ``file`` means; problems are ValueErrors or DataErrors."""
    counts = {"wins": file.wins, "draws": file.draws, "games": file.games}
    given = [name for name, table in counts.items() if table is not None]
    if file.pairs is not None and file.payoffs is not None:
        raise ValueError("both payoffs and pairs are given; pairs go with wins, draws and games")
    if file.payoffs is not None and given:
        raise ValueError(f"both payoffs and {given[0]} are given; expected payoffs, or wins, draws and games")
    if file.payoffs is None:
        if not given:
            raise ValueError("expected payoffs, or all of wins, draws and games")
        counted = _counts(file)
        scores, imputed = filled(counted.policies, counted.tally, unplayed)
        return SymmetricGame(counted.policies, centred(scores), tally=counted.tally, unplayed=unplayed, imputed=imputed)
    payoffs = _table("payoffs", file.payoffs)
    if file.column_payoffs is None:
        if _is_one_population(file, _asymmetry(payoffs)):
            return SymmetricGame(_pair_of_names(file, payoffs)[0], (payoffs - payoffs.T) / 2)
        return TwoPopulationGame(*_pair_of_names(file, payoffs), payoffs)
    column_payoffs = _table("column_payoffs", file.column_payoffs)
    if column_payoffs.shape != payoffs.shape:
        raise ValueError(f"column_payoffs is {_size(column_payoffs)} and payoffs {_size(payoffs)}; expected one size")
    if _is_one_population(file, _asymmetry(payoffs, column_payoffs)):
        return SymmetricGame(_pair_of_names(file, payoffs)[0], payoffs, zero_sum=False)
    return BimatrixGame(*_pair_of_names(file, payoffs), payoffs, column_payoffs)


def _counts(file: _MatrixFile) -> Counts:
    if file.wins is None or file.draws is None or file.games is None:
        instead = "" if file.payoffs is None else "it has payoffs and no battles; "
        raise ValueError(f"{instead}expected all of wins, draws and games, as a run with battles writes them")
    for name in ("payoffs", "row_policies", "column_policies", "column_payoffs"):
        if getattr(file, name) is not None:
            raise ValueError(f"{name} does not go with counts, which are of one population; expected policies")
    if file.symmetric is False:
        raise ValueError('counts are of one population; "symmetric": false does not go with them')
    policies = file.policies if file.policies is not None else _numbers(len(file.wins))
    check_counts(policies, file.wins, file.draws, file.games)
    counts = tuple(np.array(table, dtype=np.int64) for table in (file.wins, file.draws, file.games))
    if file.pairs is None:
        return Counts(policies, Tally.of_single_battles(*counts))
    pairs = dict(file.pairs)
    check_pairs(policies, file.wins, file.draws, pairs)
    return Counts(policies, Tally(*counts, *(np.array(table, dtype=np.int64) for table in pairs.values())))


def _table(name: str, rows: Sequence[Sequence[float]]) -> Floats:
    if not rows or not rows[0]:
        raise ValueError(f"{name} is empty; expected at least one row and one column")
    for index, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"{name}: row {index} has {len(row)} entries, row 0 has {len(rows[0])}; expected rows of one length"
            )
    table = np.array(rows, dtype=np.float64)
    if 0.0 < (largest := float(np.abs(table).max())) < _SMALLEST_SCALE:
        raise ValueError(f"{name}: the largest is {largest}; expected 0 or {_SMALLEST_SCALE} or more: use another unit")
    return table


def _is_one_population(file: _MatrixFile, asymmetry: str | None) -> bool:
    """Say whether the game is of one population, check a claim that it is; ``asymmetry`` says why it cannot be."""
    if file.symmetric:
        if asymmetry is not None:
            raise ValueError(f'"symmetric": true, but {asymmetry}')
        if file.row_policies != file.column_policies:
            raise ValueError('"symmetric": true, but rows and columns are not named alike; expected policies')
        return True
    return asymmetry is None and file.symmetric is None and file.row_policies == file.column_policies


def _asymmetry(payoffs: Floats, column_payoffs: Floats | None = None) -> str | None:
    """Return why a game cannot be of one population, or None; without ``column_payoffs`` it is zero-sum."""
    num_rows, num_columns = payoffs.shape
    if num_rows != num_columns:
        return f"payoffs is {_size(payoffs)}; expected a square matrix"
    excess = np.abs(payoffs + payoffs.T) if column_payoffs is None else np.abs(payoffs - column_payoffs.T)
    if excess.max() <= _SYMMETRY_TOLERANCE * np.abs(payoffs).max():
        return None
    i, j = np.unravel_index(excess.argmax(), excess.shape)
    if column_payoffs is not None:
        return (
            f"column_payoffs is not the transpose of payoffs: [{j}][{i}] is {column_payoffs[j, i]} and "
            f"[{i}][{j}] of payoffs is {payoffs[i, j]}; expected the same number"
        )
    hint = ""
    if np.abs(excess - 1.0).max() <= _SYMMETRY_TOLERANCE:
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
