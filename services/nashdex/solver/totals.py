"""The battle totals of an iteration: the totals of the iteration before, and its own ledgers."""

from collections.abc import Sequence

from nashdex.core import keys
from nashdex.core.ids import PolicyId
from nashdex.core.steps import StepName
from nashdex.metagame.evidence.ledger import LEDGER, BattleRecord, ShardLedger, findings_sha256
from nashdex.metagame.evidence.totals import BattleTotals, Source
from nashdex.metagame.population import Population
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import read_manifest
from nashdex.store.documents import read_from_shards, read_written
from nashdex.store.protocol import ObjectStore


def read_ledgers(store: ObjectStore, settings: RunSettings, iteration: int) -> list[ShardLedger]:
    """Return an iteration's ledgers, in the order of shards.

    Raises:
        DataError: a shard is not done, or its ledger is missing or altered.
    """
    return read_from_shards(store, iteration, StepName.EVALUATE, settings.evaluate.shards, LEDGER, ShardLedger)


def records_of(ledgers: Sequence[ShardLedger]) -> tuple[BattleRecord, ...]:
    """Return the battles of all shards, in their order."""
    return tuple(record for ledger in ledgers for record in ledger.battles)


def totals_with(
    store: ObjectStore,
    settings: RunSettings,
    iteration: int,
    policies: Sequence[PolicyId],
    ledgers: Sequence[ShardLedger],
) -> BattleTotals:
    """Return the totals after an iteration's ``ledgers``.

    Raises:
        DataError: the totals of the iteration before are missing or altered, or a battle is recorded twice.
    """
    before, digest = _before(store, settings, iteration)
    return before.with_battles(policies, records_of(ledgers), Source(findings_sha256(ledgers), digest))


def _before(store: ObjectStore, settings: RunSettings, iteration: int) -> tuple[BattleTotals, str | None]:
    """Return the totals of the iteration before and their hash.

    A version without totals may have solved that iteration: then they are added up from all its ledgers, with no hash.
    """
    if iteration == 0:
        return BattleTotals.nothing(), None
    solved = read_manifest(store, iteration - 1, StepName.SOLVE, 0)
    if described := solved.objects.get(keys.BATTLE_TOTALS):
        return read_written(store, solved, keys.BATTLE_TOTALS, BattleTotals), described.sha256
    policies = read_written(store, solved, keys.POPULATION, Population).ids
    ledgers = read_ledgers(store, settings, iteration - 1)
    return totals_with(store, settings, iteration - 1, policies, ledgers), None
