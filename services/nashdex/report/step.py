"""The report step: one document with every number, and one page to read and to share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import nashdex
from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId, RunId
from nashdex.core.manifest import Manifest
from nashdex.core.output_files import write_output
from nashdex.core.steps import StepName
from nashdex.games.interface import Game
from nashdex.games.registry import game_of_run
from nashdex.metagame.analysis.exploit import (
    EXACT_ESTIMATOR,
    SAMPLED_ESTIMATOR,
    BestResponse,
    ExploitVerdict,
    SmallerBudgets,
    WonReplay,
)
from nashdex.metagame.analysis.exploitability import Answer
from nashdex.metagame.calibration.documents import Calibration
from nashdex.metagame.evidence.battles import Battles
from nashdex.metagame.evidence.estimates import EVEN
from nashdex.metagame.opponents.registry import OPPONENT_RULES
from nashdex.oracles.registry import ORACLES
from nashdex.oracles.tree import tree_opponents
from nashdex.report.assembly.cost import step_uses
from nashdex.report.assembly.iterations import iteration_row
from nashdex.report.assembly.report import assemble
from nashdex.report.assembly.report import replays as iteration_replays
from nashdex.report.cells import PayoffCells
from nashdex.report.document import (
    MAX_EMBEDDED_BYTES,
    MAX_EMBEDDED_BYTES_OF_MANY,
    IterationRow,
    Replay,
    Report,
    replays_to_embed,
)
from nashdex.report.page.board import Board
from nashdex.report.page.render import render_page
from nashdex.report.sources import IterationManifests, IterationSources, newest_report, read_iteration, read_manifests
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt, find_done, find_manifest, read_manifest, read_object
from nashdex.store.checked import find_object, read_root
from nashdex.store.documents import read_written
from nashdex.store.protocol import ObjectStore


def exploit_verdict(
    store: ObjectStore, game: Game, earlier: Sequence[IterationManifests], last: IterationSources
) -> ExploitVerdict:
    """Return what the newest best responses score against the run's target.

    Raises:
        DataError: the new policies have not met all of the target.
    """
    target = last.plan.answered
    is_played = last.matrix.evidence.is_played
    candidates = tuple(sorted({last.plan.member(result) for result in last.trained}))
    battles = Battles.joined(each.ledger.battles for each in last.evaluated)
    gap = last.matrix.best_response_gap(Answer(target, candidates, battles))
    if gap is None or gap.policy is None:
        raise DataError("no best response has met all of the target; expected battles against each of its policies")
    unit = 1.0 if is_played else 1.0 / (2.0 * game.largest_payoff)
    manifests = [manifest for each in earlier for manifest in each.all] + list(last.manifests.all)
    first_trainings = (manifest for each in earlier for manifest in each.by_step[StepName.TRAIN])
    demonstrated = max((int(manifest.counts.get("decisions", 0)) for manifest in first_trainings), default=0)
    return ExploitVerdict(
        target=dict(target),
        policy=gap.policy,
        score=EVEN + unit * gap.value,
        low=max(0.0, EVEN + unit * gap.low),
        high=min(1.0, EVEN + unit * gap.high),
        estimator=SAMPLED_ESTIMATOR if is_played else EXACT_ESTIMATOR,
        battles=gap.games or 0,
        decisions=demonstrated + sum(result.num_decisions for result in last.trained),
        seeds=len(last.trained),
        exact=_exact_score(store, game, last),
        cpu_seconds=sum(manifest.cpu_seconds for manifest in manifests),
        best_responses=tuple(
            BestResponse(
                policy=last.plan.member(result), seed=shard, decisions=result.num_decisions, curve=result.evaluations
            )
            for shard, result in enumerate(last.trained)
        ),
        replays=tuple(_won(last, gap.policy)),
    )


def _exact_score(store: ObjectStore, game: Game, last: IterationSources) -> float | None:
    """Return the score of the exact best response to the target; None where the game's tree is not known."""
    if game.tree is None:
        return None
    _, value = tree_opponents(store, game.tree, last.plan.answered).best_response()
    return float(np.clip(EVEN + value / (2.0 * game.largest_payoff), 0.0, 1.0))


def _won(last: IterationSources, policy: PolicyId) -> Iterator[WonReplay]:
    """Yield the stored battles that ``policy`` won against the target."""
    for replay in iteration_replays(last):
        others = [seat for seat in replay.policies if seat != policy]
        if replay.winner == policy and len(others) == 1 and others[0] in last.plan.answered:
            yield WonReplay(key=replay.key, opponent=others[0], turns=replay.turns)


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Publish ``report.json`` and ``report.html`` of the run after ``iteration``.

    Of a large population also ``report_cells.js``, which only the page and ``nashdex.open_run`` read.

    Raises:
        DataError: an earlier step is not done, or its objects are missing or altered.
        StoppedError: the process was asked to stop.
    """
    if done := find_done(store, iteration, StepName.REPORT, shard):
        return done
    attempt = Attempt(store, iteration, StepName.REPORT, shard)
    # Without the report's own manifest, which is there if another attempt was faster: both publish the same.
    last = read_iteration(store, replace(read_manifests(store, settings, iteration), report=None))
    rows, replays = _rows_and_replays(store, settings, last)
    verdict = _exploit_verdict(store, settings, last)
    report = assemble(
        settings.run or RunId(store.uri.rstrip("/").rpartition("/")[2]),
        settings,
        last,
        rows=rows,
        replays=replays,
        exploits=() if verdict is None else (*_smaller_budgets(store), verdict),
    )
    has_parts = report.payoffs.num_omitted > 0
    logs = read_logs(store, report, MAX_EMBEDDED_BYTES_OF_MANY if has_parts else MAX_EMBEDDED_BYTES)
    page = render_page(report, logs).encode()
    attempt.publish(keys.REPORT, report.to_json())
    if has_parts:
        attempt.publish(keys.REPORT_CELLS, PayoffCells.of(report, last.matrix).to_json())
    attempt.publish(keys.REPORT_PAGE, page)
    if verdict is not None:
        attempt.publish(keys.EXPLOIT, verdict.to_json())
    return attempt.finish({"iterations": len(rows), "replays": len(logs)})


def _exploit_verdict(store: ObjectStore, settings: RunSettings, last: IterationSources) -> ExploitVerdict | None:
    """Return what an exploiter's run scores against its target; None in other runs, and before it has a response."""
    if not (OPPONENT_RULES[last.plan.rule].is_fixed and ORACLES[last.plan.oracle].answers_opponents):
        return None
    earlier = [read_manifests(store, settings, number) for number in range(last.iteration)]
    return exploit_verdict(store, game_of_run(store, settings), earlier, last)


def _smaller_budgets(store: ObjectStore) -> tuple[ExploitVerdict, ...]:
    if not store.exists(keys.SMALLER_BUDGETS):
        return ()
    source = f"{store.uri}/{keys.SMALLER_BUDGETS}"
    return SmallerBudgets.from_json(read_root(store, keys.SMALLER_BUDGETS), source).verdicts


def _rows_and_replays(
    store: ObjectStore, settings: RunSettings, last: IterationSources
) -> tuple[list[IterationRow], list[Replay]]:
    """Return rows and replays of every iteration.

    The previous report has the rows and replays of all earlier iterations, so a long run's reports read nothing old. It
    says less of its own iteration's cost, which the report step was part of. If a shard of that iteration ran again
    since, every iteration is read again whose attempts are not the ones that the report was made from.
    """
    before = _report_before(store, last.iteration)
    known = {row.iteration: row for row in before.iterations} if before else {}
    rows, replays = [], []
    for manifests in _unsettled(store, settings, last.iteration, known):
        row = known.pop(manifests.iteration, None)
        if before is not None and row is not None and row.sources == manifests.digest:
            rows.append(row.model_copy(update={"steps": step_uses(manifests)}))
            replays += [replay for replay in before.replays if replay.iteration == row.iteration]
        else:
            sources = read_iteration(store, manifests)
            rows.append(iteration_row(sources))
            replays += iteration_replays(sources)
    settled = [] if before is None else [replay for replay in before.replays if replay.iteration in known]
    return [*known.values(), *rows, iteration_row(last)], [*settled, *replays, *iteration_replays(last)]


def _unsettled(
    store: ObjectStore, settings: RunSettings, iteration: int, known: Mapping[int, IterationRow]
) -> list[IterationManifests]:
    """Return the manifests of the iterations before ``iteration`` whose ``known`` rows may have changed."""
    if not iteration:
        return []
    newest = read_manifests(store, settings, iteration - 1)
    row = known.get(iteration - 1)
    if row is not None and row.sources == newest.digest:
        return [newest]
    return [*(read_manifests(store, settings, number) for number in range(iteration - 1)), newest]


def _report_before(store: ObjectStore, iteration: int) -> Report | None:
    """Return the previous iteration's report if this version made it. It only saves time, so a bad one is ignored."""
    try:
        manifest = find_manifest(store, iteration - 1, StepName.REPORT, 0) if iteration else None
        if manifest is None or manifest.nashdex_version != nashdex.__version__:
            return None
        return read_written(store, manifest, keys.REPORT, Report)
    except DataError:
        return None


def read_logs(store: ObjectStore, report: Report, max_bytes: int = MAX_EMBEDDED_BYTES) -> dict[str, str]:
    """Return the logs of the replays that the page of ``report`` embeds, by name: at most ``max_bytes``.

    Raises:
        DataError: a log is missing or altered.
    """
    logs = {}
    for replay in replays_to_embed(report.replays, max_bytes):
        manifest = read_manifest(store, replay.iteration, StepName.EVALUATE, replay.shard)
        logs[replay.name] = read_object(store, manifest, replay.object).decode()
    return logs


def _page_now(store: ObjectStore, manifest: Manifest, board: Board | None) -> bytes:
    """Return the page of a report with its parts, ``board``, and what `nashdex calibrate` found, if it ran."""
    key = keys.published(manifest.iteration, keys.CALIBRATION)
    calibrated = find_object(store, key)
    has_parts = keys.REPORT_CELLS in manifest.objects
    if board is None and calibrated is None and not has_parts:
        return read_object(store, manifest, keys.REPORT_PAGE)
    report = read_written(store, manifest, keys.REPORT, Report)
    calibration = None if calibrated is None else Calibration.from_json(calibrated, f"{store.uri}/{key}")
    cells = read_written(store, manifest, keys.REPORT_CELLS, PayoffCells) if has_parts else None
    return render_page(report, read_logs(store, report), calibration, board, cells).encode()


def write_page(store: ObjectStore, output: Path, board: Board | None = None) -> None:
    """Write the newest report page of the run to the file ``output``, atomically, with its calibration if it has one.

    Battles open on ``board``, if there is one.

    Raises:
        DataError: the run has no report yet, the report was altered, or ``output`` cannot be written.
    """
    newest = newest_report(store)
    write_output({output: _page_now(store, newest, board)}, "--output")
