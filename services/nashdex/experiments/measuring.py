"""What a finished run gave: its last policy, its budget and its learning curve, read from the run's store."""

from collections.abc import Iterator

from nashdex.core.results import COLLECT_RESULT, TRAINING_RESULT, CollectResult, Evaluation, TrainingResult
from nashdex.core.steps import StepName
from nashdex.experiments.records import RunRecord
from nashdex.runs.creation import Run, open_run
from nashdex.store.attempt import read_manifest
from nashdex.store.documents import read_written

_SECONDS_PER_MINUTE = 60.0


def measured(record: RunRecord, run_uri: str) -> RunRecord:
    """Return ``record`` with what a finished run's store holds, without matches.

    Raises:
        DataError: a result is missing or altered.
    """
    run = open_run(run_uri)
    collected = sum(one.cpu_seconds for one in _collected(run))
    trainings = list(_trainings(run))
    decisions, cpu_seconds, curve = 0, 0.0, list[Evaluation]()
    for result in trainings:
        for evaluation in result.evaluations:
            before = {
                "decisions": decisions + evaluation.decisions,
                "cpu_seconds": cpu_seconds + evaluation.cpu_seconds,
            }
            curve.append(evaluation.model_copy(update=before))
        decisions += result.num_decisions
        cpu_seconds += result.cpu_seconds
    last = trainings[-1]
    return record.model_copy(
        update={
            "policy": last.policy,
            "decisions": decisions,
            "cpu_minutes": (collected + cpu_seconds) / _SECONDS_PER_MINUTE,
            "rollbacks": sum(result.rollbacks for result in trainings),
            "summary": last.summary,
            "curve": tuple(curve),
        }
    )


def _collected(run: Run) -> Iterator[CollectResult]:
    for iteration in range(run.settings.iterations):
        for shard in range(run.settings.collect.shards):
            manifest = read_manifest(run.store, iteration, StepName.COLLECT, shard)
            yield read_written(run.store, manifest, COLLECT_RESULT, CollectResult)


def _trainings(run: Run) -> Iterator[TrainingResult]:
    """Yield the result of each iteration's first training shard."""
    for iteration in range(run.settings.iterations):
        manifest = read_manifest(run.store, iteration, StepName.TRAIN, 0)
        yield read_written(run.store, manifest, TRAINING_RESULT, TrainingResult)
