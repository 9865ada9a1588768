"""Battles for selecting a policy and battles for scoring the selected one, as types that cannot be mixed."""

from collections.abc import Iterable
from dataclasses import dataclass

from nashdex.core.errors import DataError
from nashdex.metagame.evidence.ledger import BattleRecord, Purpose


@dataclass(frozen=True, slots=True)
class SelectionBattles:
    """Battles for selecting the best of several policies.

    Raises:
        DataError: one of them is for scoring.
    """

    records: tuple[BattleRecord, ...]

    def __post_init__(self) -> None:
        _require(self.records, Purpose.SELECTION)

    @classmethod
    def among(cls, records: Iterable[BattleRecord]) -> "SelectionBattles":
        """Return the ``records`` that are for selection."""
        return cls(tuple(record for record in records if record.purpose == Purpose.SELECTION))


@dataclass(frozen=True, slots=True)
class ScoringBattles:
    """Battles reserved for scoring a policy that was selected on others.

    Raises:
        DataError: one of them is for selection, though something was chosen.
    """

    records: tuple[BattleRecord, ...]
    chosen: bool = True
    """False where there was nothing to choose, so that every battle may score."""

    def __post_init__(self) -> None:
        if self.chosen:
            _require(self.records, Purpose.SCORING)

    @classmethod
    def among(cls, records: Iterable[BattleRecord], *, num_candidates: int) -> "ScoringBattles":
        """Return the ``records`` that may score one of ``num_candidates``; a single one was not chosen."""
        if num_candidates == 1:
            return cls(tuple(records), chosen=False)
        return cls(tuple(record for record in records if record.purpose == Purpose.SCORING))


def _require(records: Iterable[BattleRecord], purpose: Purpose) -> None:
    for record in records:
        if record.purpose != purpose:
            raise DataError(
                f"the battle with seed {record.seed} between {' and '.join(record.policies)} is for {record.purpose}; "
                f"expected battles for {purpose}: no battle may both choose a policy and score it"
            )
