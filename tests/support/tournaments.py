"""Tournaments for tests: counts from arrays, and battle records drawn from a true expected score."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.battles import BattleRecord, Battles, PlannedBattle
from nashdex.metagame.evidence.ledger import ShardLedger
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.population import PolicyEntry, Population


def population(*names: str) -> Population:
    """Return a population of scripted policies."""
    return Population(
        policies=tuple(
            PolicyEntry(id=PolicyId(name), kind="scripted", name=name, iteration=None, parent=None) for name in names
        )
    )


def matrix(policies: Sequence[str], wins: ArrayLike, games: ArrayLike, draws: ArrayLike | None = None) -> SampledCounts:
    """Return the matrix of these counts; no battle belongs to a pair."""
    drawn = np.zeros_like(games) if draws is None else draws
    tally = Tally.of_single_battles(*(np.asarray(table, dtype=np.int64) for table in (wins, drawn, games)))
    return SampledCounts.of([PolicyId(policy) for policy in policies], tally)


def drawn_matrix(policies: Sequence[str], scores: np.ndarray, games: int, seed: int) -> SampledCounts:
    """Return counts of ``games`` single battles a cell, drawn from true expected scores of shape (K, K)."""
    upper = np.triu(np.random.default_rng(seed).binomial(games, scores), k=1)
    lower = np.triu(games - upper, k=1).T
    return matrix(policies, upper + lower, games * (1 - np.eye(len(policies), dtype=int)))


def record(battle: PlannedBattle, winner: str | None, seed: int = 0) -> BattleRecord:
    """Return the record of ``battle``, won by the policy ``winner``."""
    return BattleRecord(
        policies=battle.seats,
        pair=battle.pair,
        seed=seed,
        teams=(battle.pair, battle.pair),
        winner=None if winner is None else battle.seats.index(PolicyId(winner)),
        turns=10,
        decisions=20,
    )


def cell(one: str, other: str, winners: Sequence[str | None]) -> list[BattleRecord]:
    """Return the records of a whole cell, battle 0 first."""
    a, b = sorted((PolicyId(one), PolicyId(other)))
    return [record(PlannedBattle(a, b, number), winner) for number, winner in enumerate(winners)]


def ledger(records: Iterable[BattleRecord]) -> ShardLedger:
    """Return a shard's ledger of these battles."""
    held = list(records)
    return ShardLedger(
        battles=Battles.of(held),
        failures={},
        rejected_choices=0,
        decisions=sum(battle.decisions for battle in held),
        seconds=1.0,
        cpu_seconds=1.0,
    )
