"""``battle_totals.json``: the sums over all battles so far that ratings, progress and ladder need.

An iteration adds its own battles to the totals of the iteration before, so no step reads an old ledger. Each document
holds the hash of the one before it and of what its own ledgers found: a chain back to the first battle, which ``nashdex
verify`` follows by computing every link again. No hash covers a time, so two runs with one seed have equal totals.
"""

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np
from pydantic import Field, NonNegativeInt, model_validator

from nashdex.core.documents import Document, Model
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.metagame.evidence.battles import BattleRecord, Battles, PlannedBattle, Purpose, count_battles
from nashdex.metagame.evidence.estimates import EVEN
from nashdex.metagame.evidence.tally import Integers, Tally
from nashdex.metagame.ratings.ladder import LadderSums, climbed

Column = tuple[NonNegativeInt, ...]


class CellCounts(Model):
    """A tally by columns: one entry for each pair of policies that has played."""

    first: Column = Field(description="Places of the cells' first policies.")
    second: Column = Field(description="Places of their second ones, each after the first.")
    wins: Column = Field(description="Battles that the first policy won, pairs included.")
    draws: Column
    losses: Column
    won_both: Column = Field(description="Side-swapped pairs, by the first policy's two results.")
    won_and_drew: Column
    split: Column
    drew_both: Column
    drew_and_lost: Column
    lost_both: Column

    @model_validator(mode="after")
    def _columns_are_of_one_length(self) -> Self:
        if len({len(getattr(self, name)) for name in type(self).model_fields}) > 1:
            raise ValueError("the columns differ in length; expected one entry of each for every cell")
        if np.greater_equal(self.first, self.second).any():
            raise ValueError("a cell's first place is not before its second; expected every cell once")
        return self

    @classmethod
    def of(cls, tally: Tally) -> Self:
        """Return the played cells of ``tally``."""
        rows, columns = np.nonzero(np.triu(tally.games, 1))

        def column(table: Integers) -> tuple[int, ...]:
            return tuple(table[rows, columns].tolist())

        return cls(
            first=tuple(rows.tolist()),
            second=tuple(columns.tolist()),
            wins=column(tally.wins),
            draws=column(tally.draws),
            losses=column(tally.wins.T),
            won_both=column(tally.won_both),
            won_and_drew=column(tally.won_and_drew),
            split=column(tally.split),
            drew_both=column(tally.drew_both),
            drew_and_lost=column(tally.won_and_drew.T),
            lost_both=column(tally.won_both.T),
        )

    def tally(self, num_policies: int) -> Tally:
        """Return the counts as arrays of shape (K, K).

        Raises:
            DataError: a cell names a policy beyond ``num_policies``.
        """
        if self.second and max(self.second) >= num_policies:
            raise DataError(
                f"the battle totals have a cell of policy {max(self.second)}, but {num_policies} policies; the "
                "document was altered. Remove the solve step's manifest and run it again"
            )
        tally, first, second = Tally.nothing(num_policies), np.array(self.first, int), np.array(self.second, int)
        for table, own, others in (
            (tally.wins, self.wins, self.losses),
            (tally.draws, self.draws, self.draws),
            (tally.won_both, self.won_both, self.lost_both),
            (tally.won_and_drew, self.won_and_drew, self.drew_and_lost),
            (tally.split, self.split, self.split),
            (tally.drew_both, self.drew_both, self.drew_both),
        ):
            table[first, second], table[second, first] = np.array(own, int), np.array(others, int)
        tally.games[:] = tally.wins + tally.draws + tally.wins.T
        return tally


class OpenBattle(Model):
    """A battle whose side-swapped partner has not been played yet."""

    a: PolicyIdField = Field(description="Before b by id.")
    b: PolicyIdField
    number: NonNegativeInt
    score: float = Field(description="What a scored: 1, ½ or 0.")

    @property
    def record(self) -> BattleRecord:
        """The battle, as far as it counts."""
        battle = PlannedBattle(self.a, self.b, self.number)
        winner = None if self.score == EVEN else battle.seats.index(self.a if self.score > EVEN else self.b)
        return BattleRecord(battle.seats, battle.pair, seed=0, teams=None, winner=winner, turns=0, decisions=0)


class BattleTotals(Document):
    """Battles of all iterations so far, by their use, and the sums of a ladder."""

    policies: tuple[PolicyIdField, ...]
    battles: NonNegativeInt = Field(0, description="Battles of all iterations.")
    selection: CellCounts = Field(description="Battles for selecting a policy.")
    scoring: CellCounts = Field(description="Battles for scoring a policy that was selected on others.")
    open: tuple[OpenBattle, ...] = Field((), description="Battles that wait for their side-swapped partner.")
    ladder: dict[PolicyIdField, LadderSums]
    findings_sha256: str | None = Field(None, description="Battles and payoffs of this iteration's ledgers.")
    before_sha256: str | None = Field(None, description="Totals of the iteration before; null in the first.")

    @classmethod
    def nothing(cls, policies: Sequence[PolicyId] = ()) -> Self:
        """Return the totals before any battle."""
        none = CellCounts.of(Tally.nothing(len(policies)))
        ladder = {policy: LadderSums() for policy in policies}
        return cls(policies=tuple(policies), selection=none, scoring=none, ladder=ladder)

    def to_json(self) -> bytes:
        """Return the document as JSON without indentation: most of it are columns of numbers."""
        return self.model_dump_json().encode() + b"\n"

    def tally(self, purpose: Purpose | None = None) -> Tally:
        """Return the counts of battles for ``purpose``, or of all, shape (K, K) in the order of ``policies``."""
        if purpose is None:
            return self.tally(Purpose.SELECTION) + self.tally(Purpose.SCORING)
        counts = self.selection if purpose == Purpose.SELECTION else self.scoring
        return counts.tally(len(self.policies))

    def with_battles(
        self,
        policies: Sequence[PolicyId],
        records: Iterable[BattleRecord],
        findings_sha256: str | None = None,
        before_sha256: str | None = None,
    ) -> Self:
        """Return the totals with ``records`` added, in the order played, which the ladder's Elo depends on.

        Args:
            policies: the members by now, including the members of these totals.
            records: the battles of one iteration.
            findings_sha256: hash of the findings of this iteration's ledgers (``ledger.findings_sha256``).
            before_sha256: hash of these totals, where they are stored.

        Raises:
            DataError: a battle names a policy that is not among ``policies``, or is recorded twice, or a policy of
                these totals has left.
        """
        strangers = sorted(set(self.policies) - set(policies))
        if strangers:
            raise DataError(f"{strangers[0]!r} has battles and is no member any more; expected members to stay")
        place = {policy: index for index, policy in enumerate(policies)}
        order = np.ix_(*2 * [[place[policy] for policy in self.policies]])
        battles, waiting = Battles.of(records), Battles.of(one.record for one in self.open)
        counts: dict[Purpose, CellCounts] = {}
        still_open: list[tuple[PlannedBattle, float]] = []
        for purpose in Purpose:
            fresh, left = count_battles(policies, battles.for_purpose(purpose), waiting=waiting.for_purpose(purpose))
            known = self.tally(purpose)
            for name in Tally.tables():
                getattr(fresh, name)[order] += getattr(known, name)
            counts[purpose] = CellCounts.of(fresh)
            still_open += zip((one.planned for one in left), left.scores().tolist(), strict=True)
        return type(self)(
            policies=tuple(policies),
            battles=self.battles + len(battles),
            selection=counts[Purpose.SELECTION],
            scoring=counts[Purpose.SCORING],
            open=tuple(OpenBattle(**battle._asdict(), score=score) for battle, score in sorted(still_open)),
            ladder=climbed({policy: self.ladder.get(policy, LadderSums()) for policy in policies}, battles),
            findings_sha256=findings_sha256,
            before_sha256=before_sha256,
        )

    def require_counted(self, policies: Sequence[PolicyId], games: Integers) -> None:
        """Check that a matrix counts exactly the battles of these totals.

        Args:
            policies: the matrix's, in its order.
            games: its battles of every cell, shape (K, K).

        Raises:
            DataError: a cell differs; names the first such cell and the remedy.
        """
        place = {policy: index for index, policy in enumerate(self.policies)}
        order = [place[policy] for policy in policies]
        recorded = np.sum([self.tally(purpose).games for purpose in Purpose], axis=0)[np.ix_(order, order)]
        for i, j in np.argwhere(np.triu(recorded != games))[:1]:
            raise DataError(
                f"{policies[i]!r} against {policies[j]!r}: the ledgers record {recorded[i, j]} battles that "
                f"do not fit the matrix's {games[i, j]} games; expected every recorded battle to be counted once. "
                "If evaluate ran again for an iteration that was solved before, remove its solve manifest and all "
                "later ones too"
            )
