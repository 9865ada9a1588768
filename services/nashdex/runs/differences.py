"""Where two objects differ that should follow from the same data; whether a curve follows from its ledger."""

import json
import math
from collections.abc import Collection, Iterator
from itertools import accumulate, pairwise

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.journal import JOURNAL, Journal
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.section import Choice
from nashdex.core.seeds import derive_seed
from nashdex.learning.evaluation.ledger import EVALUATION_LEDGER, EvaluationLedger, best
from nashdex.metagame.evidence.ledger import LEDGER, decode
from nashdex.metagame.plan import IterationPlan
from nashdex.report.cells import json_of_script
from nashdex.runs.creation import Run
from nashdex.settings.anchors import EvaluationSettings
from nashdex.store.documents import read_published, read_written

TOLERANCE = 1e-9
"""Difference of floating-point numbers, absolute and relative, that another machine may cause."""
_MEASURED = {"seconds", "cpu_seconds", "waited_seconds", "read_seconds", "staleness_seconds", "round_seconds"}
"""Keys of times, which nothing computes again."""
_SEAL = "content_sha256"
"""Key of a journal's own hash, which covers its times."""
_REPORTERS_VERSIONS = "versions"
"""Key of a report for the packages of the writing machine. This machine need not have them."""


def difference(stored: bytes, fresh: bytes, name: str) -> str | None:
    """Return where two objects of one name differ, or None."""
    if stored == fresh:
        return None
    if not name.endswith((".json", ".jsonl", keys.REPORT_CELLS, LEDGER)):
        # A page follows from its report, whose numbers are compared.
        return None if name == keys.REPORT_PAGE else "its bytes differ"
    try:
        before, now = (_comparable(data, name) for data in (stored, fresh))
        return next(differences(before, now, ""), None)
    except (ValueError, TypeError, RecursionError, DataError):
        return "it is not what the step writes"


def _comparable(data: bytes, name: str) -> object:
    """Return an object's JSON without what another machine may write differently."""
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in data.splitlines()]
    if name == keys.REPORT_CELLS:
        return json.loads(json_of_script(data, name))
    if name == LEDGER:
        ledger = decode(data, name)
        return ledger.model_dump(mode="json", exclude={"battles"}) | {"battles": [*ledger.battles]}
    document = json.loads(data)
    if name == keys.REPORT:
        return document | {_REPORTERS_VERSIONS: {}}
    if name == JOURNAL:
        return document | {_SEAL: None}
    return document


def differences(stored: object, fresh: object, path: str, unread: Collection[str] = _MEASURED) -> Iterator[str]:
    """Yield where two values of JSON differ, but for what is under the keys ``unread``."""
    match stored, fresh:
        case dict(), dict():
            for key in sorted(stored.keys() | fresh.keys()):
                if key not in unread:
                    yield from differences(stored.get(key), fresh.get(key), f"{path}.{key}" if path else key, unread)
        case list(), list() if len(stored) == len(fresh):
            for index, (one, other) in enumerate(zip(stored, fresh, strict=True)):
                yield from differences(one, other, f"{path}[{index}]", unread)
        case float() | int(), float() | int() if _is_close(stored, fresh):
            return
        case _:
            if stored != fresh:
                yield f"{path} is {str(stored)[:80]}, expected {str(fresh)[:80]}"


def _is_close(stored: float, fresh: float) -> bool:
    try:
        return math.isclose(stored, fresh, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    except OverflowError:  # an integer beyond every float
        return stored == fresh


def plans_evaluations(run: Run, iteration: int) -> bool:
    """Say whether the settings plan evaluations during an iteration's trainings, which then have a ledger.

    Raises:
        DataError: the iteration's plan is missing or altered, or names an oracle that the settings lack.
    """
    settings = _evaluation_settings(_oracle_settings(run, iteration))
    return settings is not None and settings.every_decisions > 0


def _oracle_settings(run: Run, iteration: int) -> Choice:
    plan = read_published(run.store, iteration, keys.PLAN, IterationPlan)
    return run.settings.train.section_of(plan.oracle)


def _evaluation_settings(section: Choice) -> EvaluationSettings | None:
    settings = getattr(section, "evaluation", None)
    return settings if isinstance(settings, EvaluationSettings) else None


def curve_problems(run: Run, manifest: Manifest, result: TrainingResult) -> Iterator[str]:
    """Yield what of a training's learning curve does not follow from its ledger and the run's settings.

    Raises:
        DataError: an object is missing, altered or not what it should be.
    """
    ledger = read_written(run.store, manifest, EVALUATION_LEDGER, EvaluationLedger)
    section = _oracle_settings(run, manifest.iteration)
    settings = _evaluation_settings(section)
    if settings is not None and (problem := _unplanned(ledger, settings, run.settings.seed, result.num_decisions)):
        yield f"{run.store.uri}/{manifest.objects[EVALUATION_LEDGER].key} {problem}"
        return
    if JOURNAL in manifest.objects:
        entries = read_written(run.store, manifest, JOURNAL, Journal).entries
        if ledger.round_decisions != tuple(accumulate(entry.learned_decisions for entry in entries)):
            where = manifest.objects[EVALUATION_LEDGER].key
            yield f"{run.store.uri}/{where} has other decisions by round than {JOURNAL}"
    curve = ledger.summarised()
    kept = best(curve) if getattr(section, "keep", "last") == "best" else None
    told, follows = (
        {"evaluations": [one.model_dump() for one in evaluations], "kept": of and of.model_dump()}
        for evaluations, of in ((result.evaluations, result.kept), (curve, kept))
    )
    for difference in differences(told, follows, "", unread=()):
        where = manifest.objects[TRAINING_RESULT].key
        yield f"{run.store.uri}/{where} does not follow from {EVALUATION_LEDGER}: {difference}"
        return


def _unplanned(ledger: EvaluationLedger, settings: EvaluationSettings, seed: int, num_decisions: int) -> str | None:
    """Return which evaluation is missing, or has other battles than the settings plan; None if all are as planned."""
    planned_seed = derive_seed(seed, "evaluation")
    before = -1
    for number, played in enumerate(ledger.evaluations):
        battles = played.battles
        for name, value, expected in (
            ("battles_each", battles.battles_each, settings.battles),
            ("seed", battles.seed, planned_seed),
        ):
            if value != expected:
                return f"says {name} {value} in evaluation {number}; the settings plan {expected}"
        if played.decisions <= before:
            return f"has evaluation {number} after {played.decisions} decisions, not after the one before"
        before = played.decisions
    for which, found, expected in (
        ("first", ledger.evaluations[:1], 0),
        ("last", ledger.evaluations[-1:], num_decisions),
    ):
        if [played.decisions for played in found] != [expected]:
            return f"lacks the {which} evaluation, after {expected} decisions"
    return _left_out(ledger, settings)


def _left_out(ledger: EvaluationLedger, settings: EvaluationSettings) -> str | None:
    """Return which evaluation between the first and the last is missing or was not due; None if none is."""
    rounds = ledger.round_decisions
    due = [
        (number, now)
        for number, (before, now) in enumerate(pairwise((0, *rounds)), start=1)
        if settings.is_due(before, now, is_last=number == len(rounds))
    ]
    played = [(each.battles.round, each.decisions) for each in ledger.evaluations[1:]]
    for number, decisions in due:
        if (number, decisions) not in played:
            return f"lacks the evaluation after round {number}, at {decisions} decisions"
    for number, decisions in played:
        if (number, decisions) not in due:
            return f"has an evaluation after round {number}, at {decisions} decisions, where none was due"
    return None
