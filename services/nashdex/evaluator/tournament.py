"""Plays one shard's part of the tournament."""

import time
from collections.abc import Iterator, Sequence

import structlog

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.games.interface import Game
from nashdex.games.showdown.external_causes import UNAVAILABLE
from nashdex.metagame.evidence.ledger import BattleRecord, Pair, PlannedBattle, SavedReplay, ShardLedger, UnplayedCell
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, require_finished
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import choose_sizes, cores_of_shard
from nashdex.settings.external import is_external
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress

_log = structlog.get_logger(__name__)


def play_shard(
    store: ObjectStore,
    settings: RunSettings,
    game: Game,
    mine: Sequence[PlannedBattle],
    attempt: Attempt,
    shard: int,
) -> ShardLedger:
    """Play ``mine`` and return the ledger; replays go to ``attempt``.

    A cell with a player of another program that is not available, or gives a battle no result, is unplayed, never lost.

    Raises:
        DataError: a policy is missing or altered.
        TryAgainError: a battle could not be finished.
        StoppedError: the process was asked to stop.
    """
    started = time.monotonic()
    records: list[BattleRecord] = []
    replays: list[SavedReplay] = []
    unplayed: dict[Pair, str] = {}
    sizes = choose_sizes(settings.arena, len(mine), cores_of_shard(settings.evaluate.shards))
    with Session(game.open_arena(num_gateways=sizes.gateways), sizes.concurrent_battles) as session:
        absent = _load(session, store, {policy for battle in mine for policy in battle.seats})
        for battle in mine:
            if why := next((absent[policy] for policy in battle.seats if policy in absent), None):
                unplayed[battle.a, battle.b] = f"{UNAVAILABLE}: {why}"
        present = [battle for battle in mine if (battle.a, battle.b) not in unplayed]
        with Progress(StepName.EVALUATE, shard, len(present), "battles") as progress:
            for finished in session.play(_assignments(present, game.teams(), settings), progress):
                if finished.outcome is None and any(map(is_external, finished.assignment.seats)):
                    a, b = sorted(finished.assignment.seats)
                    unplayed[a, b] = finished.detail
                    continue
                outcome = require_finished(finished)
                seats, seed = finished.assignment.seats, finished.assignment.spec.seed
                pair = finished.assignment.number // 2
                if outcome.log is not None:
                    # A key has no colon, and an id no plus sign.
                    first, second = (policy.replace(":", "+") for policy in seats)
                    name = f"replays/{first}-vs-{second}-{pair}-{finished.assignment.number % 2}.log"
                    attempt.write(name, outcome.log.encode())
                    replays.append(SavedReplay(policies=seats, pair=pair, object=name))
                records.append(
                    BattleRecord(
                        policies=seats,
                        pair=pair,
                        seed=seed,
                        teams=finished.assignment.team_names,
                        winner=outcome.winner,
                        turns=outcome.turns,
                        decisions=sum(outcome.decisions),
                    )
                )
        children_cpu_seconds = session.cpu_seconds()
    return ShardLedger(
        battles=tuple(sorted(records, key=lambda record: record.planned)),
        failures=dict(session.counts.failures),
        rejected_choices=session.counts.rejected_choices,
        decisions=session.counts.decisions,
        seconds=time.monotonic() - started,
        cpu_seconds=time.process_time() + children_cpu_seconds,
        replays=tuple(sorted(replays, key=lambda replay: replay.object)),
        unplayed=tuple(UnplayedCell(policies=cell, cause=why) for cell, why in sorted(unplayed.items())),
    )


def _load(session: Session, store: ObjectStore, policies: set[PolicyId]) -> dict[PolicyId, str]:
    """Load ``policies``, and return why those of other programs that are not available are not."""
    session.load(store, [policy for policy in policies if not is_external(policy)])
    absent: dict[PolicyId, str] = {}
    for policy in sorted(filter(is_external, policies)):
        try:
            session.load(store, [policy])
        except ConfigurationError as error:
            absent[policy] = str(error)
            _log.warning("a player of another program does not play", player=policy, cause=str(error))
    return absent


def _assignments(mine: Sequence[PlannedBattle], teams: Sequence[str], settings: RunSettings) -> Iterator[Assignment]:
    for battle in mine:
        root = derive_seed(settings.seed, "evaluate", battle.a, battle.b)
        paired = PairedBattles(root, teams, settings.arena.deadline_seconds)
        log = battle.number < settings.evaluate.replays_per_pair
        yield paired.assignment(battle.number, (battle.a, battle.b), log=log)
