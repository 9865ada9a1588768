"""How a policy was trained, from the documents of its run."""

import json
from collections.abc import Iterator

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.policies.document import PolicyDocument
from nashdex.runs.creation import Run
from nashdex.store.attempt import read_object
from nashdex.store.checked import read_root
from nashdex.zoo.card import Training


def training_of(run: Run, document: PolicyDocument, hardware: str | None, commit: str | None) -> Training:
    """Return how the policy of ``document`` was trained in ``run``.

    Raises:
        DataError: no finished training of the run made it.
    """
    manifests = list(_manifests(run, document.iteration))
    trained = [
        (m, _result(run, m)) for m in manifests if m.step == StepName.TRAIN and m.iteration == document.iteration
    ]
    found = next(((manifest, result) for manifest, result in trained if result.policy == document.id), None)
    if found is None:
        raise DataError(
            f"no finished training of {run.store.uri} made {document.id}: expected a policy that one of its iterations "
            "trained"
        )
    manifest, result = found
    return Training(
        run=run.id,
        policy=document.id,
        oracle=document.oracle,
        iteration=document.iteration,
        seed=run.settings.seed,
        run_decisions=result.num_run_decisions,
        cpu_minutes=round(sum(one.cpu_seconds for one in manifests) / 60, 1),
        gpu_minutes=round(sum(one.gpu_seconds for one in manifests) / 60, 1),
        hardware=hardware,
        nashdex_version=manifest.nashdex_version,
        commit=commit,
        curve=result.evaluations,
        settings=json.loads(read_root(run.store, keys.CONFIG)),
    )


def _manifests(run: Run, last_iteration: int) -> Iterator[Manifest]:
    """Yield the manifests of the steps that led to a policy of ``last_iteration``, without what came after it."""
    after = {StepName.GATE, StepName.EVALUATE, StepName.SOLVE, StepName.REPORT}
    for key in run.store.list(f"{keys.ITERATIONS}/"):
        if not key.endswith("/manifest.json"):
            continue
        manifest = Manifest.from_json(run.store.get(key), f"{run.store.uri}/{key}")
        if (manifest.iteration, manifest.step in after) <= (last_iteration, False):
            yield manifest


def _result(run: Run, manifest: Manifest) -> TrainingResult:
    return TrainingResult.from_json(read_object(run.store, manifest, TRAINING_RESULT), f"{run.store.uri} (training)")
