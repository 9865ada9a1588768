"""Plays one shard's part of the tournament."""

import resource
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

import structlog

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.evaluator.programs import play_planned_battles
from nashdex.games.interface import Game
from nashdex.games.showdown.external_causes import UNAVAILABLE
from nashdex.metagame.evidence.battles import BattleRecord, Battles, Pair, PlannedBattle
from nashdex.metagame.evidence.ledger import SavedReplay, ShardLedger, UnplayedCell
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, require_finished
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import choose_sizes, cores_of_shard
from nashdex.settings.external import ExternalPlayer, declared_program, is_external
from nashdex.settings.run import ArenaSettings, EvaluateSettings, RunSettings
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
    programs = _programs({policy for battle in mine for policy in battle.seats})
    in_process = [battle for battle in mine if not programs.keys() & set(battle.seats)]
    sizes = choose_sizes(settings.arena, len(in_process), cores_of_shard(settings.evaluate.shards))
    with Session(game.open_arena(num_gateways=sizes.gateways), sizes.concurrent_battles) as session:
        absent = _load(session, store, {policy for battle in mine for policy in battle.seats} - programs.keys())
        unplayed = dict(_unplayable(mine, absent, programs))
        present = [battle for battle in in_process if (battle.a, battle.b) not in unplayed]
        by_program = {
            program: [battle for battle in mine if program in battle.seats and (battle.a, battle.b) not in unplayed]
            for program in sorted(programs)
        }
        total = len(present) + sum(map(len, by_program.values()))
        assignments = _assignments(present, game.teams(), settings.seed, settings.arena, settings.evaluate)
        with Progress(StepName.EVALUATE, shard, total, "battles") as progress:
            for finished in session.play(assignments, progress):
                if finished.outcome is None and any(map(is_external, finished.assignment.seats)):
                    a, b = sorted(finished.assignment.seats)
                    unplayed[a, b] = finished.detail
                    continue
                outcome = require_finished(finished)
                seats, seed = finished.assignment.seats, finished.assignment.spec.seed
                pair = finished.assignment.number // 2
                one, other = finished.assignment.team_names
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
                        teams=(int(one), int(other)),
                        winner=outcome.winner,
                        turns=outcome.turns,
                        decisions=sum(outcome.decisions),
                    )
                )
            cpu_seconds_before = _ended_children_cpu_seconds()
            for program, planned in by_program.items():
                if planned:
                    seed = derive_seed(settings.seed, "evaluate", program, shard)
                    found, why = _play_program(
                        game, program, programs[program], session, planned, seed=seed, progress=progress
                    )
                    records += found
                    missing = set(planned) - {record.planned for record in found}
                    unplayed |= {(battle.a, battle.b): why for battle in missing}
        children_cpu_seconds = session.cpu_seconds() + _ended_children_cpu_seconds() - cpu_seconds_before
    return ShardLedger(
        battles=Battles.of(records).in_order(),
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


def _programs(policies: Iterable[PolicyId]) -> dict[PolicyId, ExternalPlayer]:
    """Return the declarations of those ``policies`` that are programs by websocket, as this machine declares them."""
    found = {}
    for policy in filter(is_external, policies):
        # Loading the policy says why a declaration is missing.
        with suppress(ConfigurationError):
            if program := declared_program(policy):
                found[policy] = program
    return found


def _unplayable(
    mine: Sequence[PlannedBattle], absent: Mapping[PolicyId, str], programs: Collection[PolicyId]
) -> Iterator[tuple[Pair, str]]:
    """Yield the cells of ``mine`` that cannot be played, and why."""
    for battle in mine:
        why = next((absent[policy] for policy in battle.seats if policy in absent), None)
        if battle.a in programs and battle.b in programs:
            why = "both are programs that play by websocket"
        if why is not None:
            yield (battle.a, battle.b), f"{UNAVAILABLE}: {why}"


def _play_program(
    game: Game,
    program: PolicyId,
    declared: ExternalPlayer,
    session: Session,
    planned: Sequence[PlannedBattle],
    *,
    seed: int,
    progress: Progress,
) -> tuple[list[BattleRecord], str]:
    """Play ``planned`` with the session's policies. Return the finished battles, and why the others are not played."""
    records: list[BattleRecord] = []

    def note(record: BattleRecord) -> None:
        records.append(record)
        progress.advance(decisions=session.counts.decisions, failures=session.counts.failures.total())

    try:
        play_planned_battles(
            game, program, declared, session.policies, planned, seed=seed, counts=session.counts, on_battle=note
        )
    except ConfigurationError as error:
        _log.warning("a program does not play", player=program, cause=str(error))
        return records, f"{UNAVAILABLE}: {error}"
    return records, f"{UNAVAILABLE}: {program} failed more than {declared.restarts} times in a row"


def _ended_children_cpu_seconds() -> float:
    """Return the CPU time of all child processes that have ended, user and system, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _assignments(
    mine: Sequence[PlannedBattle], teams: Sequence[str], seed: int, arena: ArenaSettings, evaluate: EvaluateSettings
) -> Iterator[Assignment]:
    for battle in mine:
        root = derive_seed(seed, "evaluate", battle.a, battle.b)
        paired = PairedBattles(root, teams, arena.deadline_seconds)
        log = battle.number < evaluate.replays_per_pair
        yield paired.assignment(battle.number, (battle.a, battle.b), log=log)
