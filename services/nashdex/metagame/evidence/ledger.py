"""The ledgers of evaluate's shards: battles that were played, and payoffs that were computed, all by id.

A stored ledger is a safetensors blob in an lz4 frame (``core.frames``): the columns of ``Battles`` by name, payoffs as
``exact_payoffs``, ``exact_a`` and ``exact_b``, and in the metadata, under ``ledger``, everything else as JSON.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    ValidationError,
    model_validator,
)

from nashdex.core import frames
from nashdex.core.documents import Document, Model
from nashdex.core.errors import DataError
from nashdex.core.frames import FrameReader
from nashdex.core.ids import PolicyIdField
from nashdex.metagame.evidence.battles import COLUMNS, Battles, Pair, smallest

LEDGER = "ledger.safetensors.lz4"
"""The name of a shard's ledger among its attempt's objects."""
_READER = FrameReader("ledger", "ledger", "run the evaluate shard again", max_bytes=1 << 29, max_header_bytes=1 << 26)
_EXACT = ("exact_payoffs", "exact_a", "exact_b")


class ExactCell(Model):
    """The expected payoff of a pair whose game is small enough to add up; no battle was played for it."""

    policies: tuple[PolicyIdField, PolicyIdField] = Field(description="Sorted by id.")
    payoff: float = Field(description="To the first, the mean over both seatings, in the game's own units.")

    @model_validator(mode="after")
    def _policies_are_sorted(self) -> "ExactCell":
        first, second = self.policies
        if not first < second:
            raise ValueError(f"{first!r} and {second!r}: expected two different policies, sorted by id")
        return self


class SavedReplay(Model):
    """A battle that can be watched."""

    policies: tuple[PolicyIdField, PolicyIdField] = Field(description="Policies by seat.")
    pair: NonNegativeInt
    object: str = Field(description="The replay's name among the shard's objects.")


class UnplayedCell(Model):
    """A cell with a player of another program that was not available, or had no result for a battle."""

    policies: tuple[PolicyIdField, PolicyIdField] = Field(description="Sorted by id.")
    cause: str = Field(description="Cause and detail of the failure.")


class LedgerHeader(Document):
    """A ledger without its columns. Version 1 was JSON with an object a battle."""

    schema_version: int = 2
    failures: dict[str, NonNegativeInt] = Field(description="Failed tries by cause; each was replayed.")
    rejected_choices: NonNegativeInt
    decisions: NonNegativeInt = Field(description="Decisions of both seats in finished battles.")
    seconds: NonNegativeFloat
    cpu_seconds: NonNegativeFloat = Field(description="CPU time of all processes, user and system.")
    replays: tuple[SavedReplay, ...] = ()
    unplayed: tuple[UnplayedCell, ...] = Field(
        (), description="Cells that count none of this iteration's battles, in any shard: a later iteration plays them."
    )


class _StoredHeader(LedgerHeader):
    policies: tuple[PolicyIdField, ...] = Field(description="Ids that the columns are places in, sorted.")


class ShardLedger(LedgerHeader):
    """The result of one shard of evaluate."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    battles: Battles
    exact: tuple[ExactCell, ...] = Field((), description="Payoffs of a tabular game, instead of battles.")


def encode(ledger: ShardLedger) -> bytes:
    """Return the ledger as it is stored."""
    battles, cells = ledger.battles, [cell.policies for cell in ledger.exact]
    policies = tuple(sorted({*battles.policies, *(policy for cell in cells for policy in cell)}))
    place = {policy: index for index, policy in enumerate(policies)}
    tensors: dict[str, NDArray[Any]] = {
        **{name: getattr(battles, name) for name in COLUMNS},
        **dict(zip(("a", "b"), map(smallest, battles.places(policies)), strict=True)),
        "exact_payoffs": np.array([cell.payoff for cell in ledger.exact], dtype=np.float64),
        "exact_a": smallest([place[a] for a, _ in cells]),
        "exact_b": smallest([place[b] for _, b in cells]),
    }
    header = _StoredHeader(policies=policies, **{name: getattr(ledger, name) for name in LedgerHeader.model_fields})
    return frames.encode({name: [column] for name, column in tensors.items()}, {"ledger": header.model_dump_json()})


def decode(frame: bytes, source: str) -> ShardLedger:
    """Return a stored ledger after checking every value.

    Raises:
        DataError: it is damaged, of another version, or its values are no battles; ``source`` names it.
    """
    tensors, document, _ = _READER.decode(frame, source)
    header = _StoredHeader.from_json(document, source)
    if missing := sorted({*COLUMNS, *_EXACT} - tensors.keys()):
        raise DataError(f"{source} has no {', '.join(missing)}; it was altered")
    battles = Battles.checked(header.policies, {name: tensors[name] for name in COLUMNS}, source)
    payoffs, a, b = (tensors[name] for name in _EXACT)
    if payoffs.dtype != np.float64 or {a.dtype.kind, b.dtype.kind} != {"u"} or not a.shape == b.shape == payoffs.shape:
        raise DataError(f"{source}: its payoffs are not a number and two places each; it was altered")
    try:
        exact = tuple(
            ExactCell(policies=(header.policies[i], header.policies[j]), payoff=payoff)
            for i, j, payoff in zip(a.tolist(), b.tolist(), payoffs.tolist(), strict=True)
        )
    except (IndexError, TypeError, ValidationError) as error:
        raise DataError(f"{source} has a payoff of no pair of its policies: {error}") from error
    others = {name: getattr(header, name) for name in LedgerHeader.model_fields}
    return ShardLedger(battles=battles, exact=exact, **others)


def counted(ledgers: Sequence[ShardLedger]) -> list[ShardLedger]:
    """Return an iteration's ledgers without the battles of cells that one of its shards could not play whole.

    The battles of a cell are numbered without gaps, and a gap would never close.
    """
    unplayed = unplayed_pairs(ledgers)
    return [
        ledger
        if not unplayed
        else ledger.model_copy(
            update={
                "battles": ledger.battles.outside(unplayed),
                "replays": tuple(one for one in ledger.replays if tuple(sorted(one.policies)) not in unplayed),
            }
        )
        for ledger in ledgers
    ]


def unplayed_pairs(ledgers: Iterable[ShardLedger]) -> frozenset[Pair]:
    """Return the cells that one of an iteration's shards could not play whole."""
    return frozenset(cell.policies for ledger in ledgers for cell in ledger.unplayed)


def findings_sha256(ledgers: Sequence[ShardLedger]) -> str:
    """Return the hash of all battles and payoffs in an iteration's ledgers, in hexadecimal digits.

    It covers a line of JSON for each, sorted by cell and number. It does not depend on what each attempt measures for
    itself, such as seconds and failed tries, nor on how battles are divided into shards. Every other value counts.
    """
    digest = hashlib.sha256()
    for one in Battles.joined(ledger.battles for ledger in ledgers).in_order():
        (first, second), (team, other) = one.policies, one.teams or ("", "")
        digest.update(
            f'{{"policies":["{first}","{second}"],"pair":{one.pair},"purpose":"{one.purpose}","seed":{one.seed},'
            f'"teams":["{team}","{other}"],"winner":{"null" if one.winner is None else one.winner},'
            f'"turns":{one.turns},"decisions":{one.decisions}}}\n'.encode()
        )
    for cell in sorted((one for ledger in ledgers for one in ledger.exact), key=lambda cell: cell.policies):
        digest.update(cell.model_dump_json().encode() + b"\n")
    return digest.hexdigest()
