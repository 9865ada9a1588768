"""Plays one shard's part of the tournament."""

import time
from collections.abc import Iterator, Sequence

from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.games.interface import Game
from nashdex.metagame.evidence.ledger import BattleRecord, PlannedBattle, SavedReplay, ShardLedger
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, require_finished
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import choose_sizes, cores_of_shard
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress


def play_shard(
    store: ObjectStore,
    settings: RunSettings,
    game: Game,
    mine: Sequence[PlannedBattle],
    attempt: Attempt,
    shard: int,
) -> ShardLedger:
    """Play ``mine`` and return the ledger; replays go to ``attempt``.

    Raises:
        DataError: a policy is missing or altered.
        TryAgainError: a battle could not be finished.
        StoppedError: the process was asked to stop.
    """
    started = time.monotonic()
    records: list[BattleRecord] = []
    replays: list[SavedReplay] = []
    sizes = choose_sizes(settings.arena, len(mine), cores_of_shard(settings.evaluate.shards))
    with Session(game.open_arena(num_gateways=sizes.gateways), sizes.concurrent_battles) as session:
        session.load(store, [policy for battle in mine for policy in battle.seats])
        with Progress(StepName.EVALUATE, shard, len(mine), "battles") as progress:
            for finished in session.play(_assignments(mine, game.teams(), settings), progress):
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
    )


def _assignments(mine: Sequence[PlannedBattle], teams: Sequence[str], settings: RunSettings) -> Iterator[Assignment]:
    for battle in mine:
        root = derive_seed(settings.seed, "evaluate", battle.a, battle.b)
        paired = PairedBattles(root, teams, settings.arena.deadline_seconds)
        log = battle.number < settings.evaluate.replays_per_pair
        yield paired.assignment(battle.number, (battle.a, battle.b), log=log)
