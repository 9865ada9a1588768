"""Whether a training's learning curve follows from the ledger of its evaluations."""

from collections.abc import Iterator

from nashdex.core import keys
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.seeds import derive_seed
from nashdex.learning.evaluation.ledger import EVALUATION_LEDGER, EvaluationLedger, best
from nashdex.metagame.plan import IterationPlan
from nashdex.runs.creation import Run
from nashdex.runs.differences import differences
from nashdex.settings.anchors import EvaluationSettings
from nashdex.store.documents import read_published, read_written


def curve_problems(run: Run, manifest: Manifest, result: TrainingResult) -> Iterator[str]:
    """Yield what of a training's learning curve does not follow from its ledger and the run's settings.

    Raises:
        DataError: an object is missing, altered or not what it should be.
    """
    ledger = read_written(run.store, manifest, EVALUATION_LEDGER, EvaluationLedger)
    plan = read_published(run.store, manifest.iteration, keys.PLAN, IterationPlan)
    section = run.settings.train.section_of(plan.oracle)
    settings = getattr(section, "evaluation", None)
    if isinstance(settings, EvaluationSettings) and (problem := _unplanned(ledger, settings, run.settings.seed)):
        yield f"{run.store.uri}/{manifest.objects[EVALUATION_LEDGER].key} {problem}"
        return
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


def _unplanned(ledger: EvaluationLedger, settings: EvaluationSettings, seed: int) -> str | None:
    """Return which evaluation has other battles than the settings plan, or None."""
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
    return None
