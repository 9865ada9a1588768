"""Checks of a payoff ledger's counts, wherever they come from. Problems are ValueErrors that name the cell."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Matrix = Sequence[Sequence[int]]
Name = TypeVar("Name", bound=str)


def check_names(names: Sequence[str]) -> None:
    """Check that ``names`` has names, each once.

    Raises:
        ValueError: there are none, one is there twice, or one has a character that does not print.
    """
    if not names:
        raise ValueError("there are no policies; expected at least one")
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise ValueError(f"policy {twice[0]!r} is named twice; expected every id once")
    odd = next((name for name in names if not name.isprintable()), None)
    if odd is not None:
        raise ValueError(f"policy {odd!r} has a character that does not print; expected letters, digits and signs")


def check_counts(policies: Sequence[str], wins: Matrix, draws: Matrix, games: Matrix) -> None:
    """Check that three matrices of counts describe one ledger of ``policies``.

    Raises:
        ValueError: says which policy or cell, what was found and what was expected.
    """
    check_names(policies)
    for name, counts in (("wins", wins), ("draws", draws), ("games", games)):
        _check_table(name, policies, counts)
    won, drawn, played = map(_array, (wins, draws, games))
    wrong = (drawn != drawn.T) | (played != played.T) | (won + drawn + won.T != played)
    for i, j in np.argwhere(np.triu(wrong, 1)).tolist():
        cell = f"{policies[i]!r} against {policies[j]!r}"
        for name, counts in (("draws", draws), ("games", games)):
            if counts[i][j] != counts[j][i]:
                raise ValueError(
                    f"{cell}: {counts[i][j]} {name} one way and {counts[j][i]} the other; expected the same number"
                )
        total = wins[i][j] + draws[i][j] + wins[j][i]
        if total != games[i][j]:
            raise ValueError(
                f"{cell}: {wins[i][j]} wins, {draws[i][j]} draws and {wins[j][i]} losses make {total} games, "
                f"but games says {games[i][j]}; expected the same number"
            )


def check_pairs(policies: Sequence[str], wins: Matrix, draws: Matrix, pairs: Mapping[str, Matrix]) -> None:
    """Check that counts of side-swapped pairs fit the counts of battles (checked by ``check_counts``).

    Raises:
        ValueError: says which table or cell, what was found and what was expected.
    """
    for name, counts in pairs.items():
        _check_table(f"pairs.{name}", policies, counts)
    won_both, won_and_drew, split, drew_both = (
        pairs[name] for name in ("won_both", "won_and_drew", "split", "drew_both")
    )
    both, one, each, neither = map(_array, (won_both, won_and_drew, split, drew_both))
    wrong = (each != each.T) | (neither != neither.T) | (2 * both + one + each > _array(wins))
    wrong |= one + one.T + 2 * neither > _array(draws)
    for i, j in np.argwhere(wrong).tolist():
        cell = f"{policies[i]!r} against {policies[j]!r}"
        for name, counts in (("split", split), ("drew_both", drew_both)):
            if counts[i][j] != counts[j][i]:
                raise ValueError(
                    f"{cell}: pairs.{name} is {counts[i][j]} one way and {counts[j][i]} the other; "
                    "expected the same number"
                )
        won = 2 * won_both[i][j] + won_and_drew[i][j] + split[i][j]
        drawn = won_and_drew[i][j] + won_and_drew[j][i] + 2 * drew_both[i][j]
        for name, in_pairs, counted in (("wins", won, wins[i][j]), ("draws", drawn, draws[i][j])):
            if in_pairs > counted:
                raise ValueError(
                    f"{cell}: the pairs hold {in_pairs} {name} of {counted} in all; expected no more than there are"
                )


def _array(counts: Matrix) -> NDArray[Any]:
    """Return ``counts`` as an array; of Python's integers if one does not fit into 64 bits."""
    try:
        return np.array(counts, dtype=np.int64)
    except OverflowError:
        return np.array(counts, dtype=object)


def _check_table(name: str, policies: Sequence[str], counts: Matrix) -> None:
    """Check that ``counts`` is square, not negative and 0 on its diagonal."""
    size = len(policies)
    if len(counts) != size:
        raise ValueError(f"{name} has {len(counts)} rows for {size} policies; expected one row and column a policy")
    for index, (policy, row) in enumerate(zip(policies, counts, strict=True)):
        if len(row) != size:
            raise ValueError(f"{name} of {policy!r} has {len(row)} entries; expected {size}, one a policy")
        if min(row) < 0:
            raise ValueError(f"{name} of {policy!r} holds {min(row)}; expected counts of 0 or more")
        if row[index]:
            raise ValueError(
                f"policy {policy!r} is counted against itself ({row[index]} {name}); expected 0 on the diagonal"
            )


def unplayed_cells(policies: Sequence[Name], games: Matrix) -> list[tuple[Name, Name]]:
    """Return the pairs of ``policies`` that have not met, in their order."""
    return [(policies[i], policies[j]) for i, j in combinations(range(len(policies)), 2) if games[i][j] == 0]
