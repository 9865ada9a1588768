"""``report_cells.js``: every pair of policies, where the report itself lists only the rows that matter.

A script that calls ``reportCells`` with a JSON document: a page opened from a folder can load scripts, but no JSON.
"""

from typing import Final, Self

import numpy as np
from pydantic import NonNegativeFloat, NonNegativeInt, model_validator

from nashdex.core.documents import Document
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyIdField
from nashdex.metagame.evidence.estimates import cell_intervals
from nashdex.metagame.evidence.exact import ExactValues
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.report.document import Cell, Report, policy_names

_BEFORE: Final = b"reportCells("
_AFTER: Final = b");\n"
_DIGITS: Final = 6
"""Decimals of the ends of intervals and of effective battles."""


class PayoffCells(Document):
    """Each pair once, the higher rated policy as the row: (0, 1), (0, 2), …, (1, 2), … by places in ``policies``."""

    policies: tuple[PolicyIdField, ...]
    """By falling rating."""
    names: tuple[str, ...]
    """The report's names of the policies."""
    wins: tuple[NonNegativeInt, ...] = ()
    """The row's wins. Empty where payoffs are exact, like the columns of battles below."""
    draws: tuple[NonNegativeInt, ...] = ()
    losses: tuple[NonNegativeInt, ...] = ()
    low: tuple[NonNegativeFloat, ...] = ()
    """Low end of the score's 95 % Wilson interval by side-swapped pairs."""
    high: tuple[NonNegativeFloat, ...] = ()
    effective_battles: tuple[NonNegativeFloat, ...] = ()
    exact: tuple[float, ...] = ()
    """Expected payoffs of a tabular game to the row, in the game's units."""

    @model_validator(mode="after")
    def _has_every_pair(self) -> Self:
        size = len(self.policies)
        columns = (self.wins, self.draws, self.losses, self.low, self.high, self.effective_battles)
        expected = [size * (size - 1) // 2] * len(columns) if not self.exact else [0] * len(columns)
        if [len(column) for column in columns] != expected or len(self.exact) not in {0, size * (size - 1) // 2}:
            raise ValueError(f"the columns do not hold each pair of {size} policies once")
        return self

    @classmethod
    def of(cls, report: Report, matrix: InteractionMatrix) -> Self:
        """Return all pairs of the report's policies."""
        order, names = tuple(row.id for row in report.policies), policy_names(report.policies)
        shown, above = tuple(names[policy] for policy in order), np.triu_indices(len(order), k=1)
        if isinstance(matrix, ExactValues):
            payoffs = matrix.restricted_to(order).array()[above]
            return cls(policies=order, names=shown, exact=tuple(payoffs.tolist()))
        assert isinstance(matrix, SampledCounts), "evidence is exact or counted"
        place = {policy: number for number, policy in enumerate(matrix.policies)}
        tally = matrix.tally.over([place[policy] for policy in order])
        low, high = cell_intervals(tally)
        return cls(
            policies=order,
            names=shown,
            wins=tuple(tally.wins[above].tolist()),
            draws=tuple(tally.draws[above].tolist()),
            losses=tuple(tally.wins.T[above].tolist()),
            low=tuple(low[above].round(_DIGITS).tolist()),
            high=tuple(high[above].round(_DIGITS).tolist()),
            effective_battles=tuple(tally.effective_games()[above].round(_DIGITS).tolist()),
        )

    def to_json(self) -> bytes:
        """Return the script that gives the document to the page."""
        return _BEFORE + self.model_dump_json().encode() + _AFTER

    @classmethod
    def from_json(cls, data: bytes, source: str) -> Self:
        """Parse the script; ``source`` names it in errors.

        Raises:
            DataError: it is not what ``to_json`` writes.
        """
        return super().from_json(json_of_script(data, source), source)

    def cell(self, row: int, column: int) -> Cell | None:
        """Return the score of one policy against another, by their places; None if they have not met."""
        place = self._place(row, column)
        wins, draws, losses = self.wins[place], self.draws[place], self.losses[place]
        low, high = self.low[place], self.high[place]
        if not (games := wins + draws + losses):
            return None
        if row > column:
            wins, losses, low, high = losses, wins, 1 - high, 1 - low
        rate = Estimate(value=(wins + draws / 2) / games, low=low, high=high)
        effective = self.effective_battles[place]
        return Cell(wins=wins, draws=draws, losses=losses, rate=rate, effective_battles=effective)

    def payoff(self, row: int, column: int) -> float:
        """Return the exact payoff of one policy against another, by their places."""
        payoff = self.exact[self._place(row, column)]
        return payoff if row < column else -payoff

    def _place(self, row: int, column: int) -> int:
        one, other = sorted((row, column))
        return one * len(self.policies) - one * (one + 1) // 2 + other - one - 1


def json_of_script(data: bytes, source: str) -> bytes:
    """Return the JSON in the script ``data``.

    Raises:
        DataError: it is no such script.
    """
    if not (data.startswith(_BEFORE) and data.endswith(_AFTER)):
        raise DataError(f"{source} is no script of payoffs: expected {_BEFORE.decode()}…{_AFTER.decode().strip()}")
    return data[len(_BEFORE) : -len(_AFTER)]
