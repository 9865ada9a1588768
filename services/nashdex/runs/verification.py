"""Whether everything in a run follows from what is below it: hashes are compared, and what can be computed is again.

Plans, populations, matrices, mixtures, analyses and reports are computed from the objects that their steps read; in
tabular games payoffs, gates and exact responses too. Learning curves are computed from the results of their battles.
Battles are not repeated: their objects are compared with their hashes, and their counts with the plan. Trainings are
repeated only on demand, and only those that need no battles.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from nashdex.core import keys
from nashdex.core.errors import ExitCode, NashdexError, StoppedError
from nashdex.core.evidence import Evidence
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.journal import JOURNAL, Journal
from nashdex.core.manifest import Manifest, RunManifest
from nashdex.core.results import TRAINING_METRICS, TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.games.registry import FORMATS
from nashdex.learning.actors.protocol import NoActorError
from nashdex.learning.evaluation.ledger import EVALUATION_LEDGER
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.registry import ORACLES, battles_to_collect
from nashdex.planning.dag import iteration_steps, num_shards, step_function
from nashdex.policies.document import PolicyDocument, read_document
from nashdex.runs.creation import Run
from nashdex.runs.differences import curve_problems, difference, plans_evaluations
from nashdex.runs.overlay import OverlayStore
from nashdex.settings.run import ActorSettings, RunSettings
from nashdex.settings.train import TrackerSettings
from nashdex.store.attempt import find_manifest, read_object
from nashdex.store.checked import MAX_MANIFEST_BYTES, read_hashed, read_root
from nashdex.store.documents import read_from_shards, read_published, read_written
from nashdex.store.verdict import Verdict
from nashdex.trajectory.shard import read_shards

_PATIENCE_SECONDS = 0.1
"""How long a replay waits for a chunk. Nobody plays, so one that is not there is lost."""


def why_not_replayable(actors: ActorSettings, format_id: str, plan: IterationPlan) -> str | None:
    """Return why an iteration's trainings cannot be repeated without battles; None if they can."""
    if not ORACLES[plan.oracle].plays_rounds:
        return None  # it learned from the collected battles alone
    if FORMATS[format_id].evidence is Evidence.EXACT:
        return None  # the trainer plays; such battles take microseconds
    if actors.shards == 0:
        return "the trainer played its battles itself; only actors keep them (actors.shards, actors.keep_chunks)"
    if not actors.keep_chunks:
        return "its battles were not kept (actors.keep_chunks)"
    return None


def replay_settings(settings: RunSettings) -> RunSettings:
    """Return the settings that repeat a training: it waits for nobody and draws no curves."""
    actors = settings.actors.model_copy(update={"patience_seconds": _PATIENCE_SECONDS})
    train = settings.train.model_copy(update={"trackers": TrackerSettings()})
    return settings.model_copy(update={"actors": actors, "train": train})


@dataclass
class Verification:
    """What was found."""

    objects: int = 0
    """Objects whose hash was compared."""
    recomputed: list[str] = field(default_factory=list)
    """Documents that were computed again."""
    replayed: list[str] = field(default_factory=list)
    """Train shards that were trained again, by their prefix."""
    not_replayed: dict[str, str] = field(default_factory=dict)
    """Reasons, by shard prefix, that prevent training a train shard again without battles."""
    not_recomputed: dict[str, str] = field(default_factory=dict)
    """Reasons, by shard prefix, that prevent computing a train shard's learning curve again."""
    problems: list[str] = field(default_factory=list)
    """Problems found, in the order of the run."""
    root: str = ""
    """Hash of the hashes of everything that was read, byte for byte, the verdict included."""


class _Hashes:
    """Collects the hash of every object once."""

    def __init__(self) -> None:
        self._by_key: dict[str, str] = {}

    def add(self, key: str, data: bytes) -> None:
        self._by_key[key] = hashlib.sha256(data).hexdigest()

    def __len__(self) -> int:
        return len(self._by_key)

    @property
    def root(self) -> str:
        lines = "".join(f"{digest} {key}\n" for key, digest in sorted(self._by_key.items()))
        return hashlib.sha256(lines.encode()).hexdigest()


def verify_run(run: Run, *, first: int = 0, replays: bool = False) -> Verification:
    """Read the whole run and return the verified parts and the problems. Goes on after a problem.

    Args:
        run: an open run.
        first: the iteration to begin with; earlier ones are read only where a later one's steps read them.
        replays: also repeat the trainings that need no battles. This takes as long as their optimiser steps.

    Raises:
        TryAgainError: the store cannot be reached.
        StoppedError: the process was asked to stop.
    """
    found, hashes = Verification(), _Hashes()
    for problem in _problems(run, found, hashes, first=first, replays=replays):
        found.problems.append(problem)
    found.objects, found.root = len(hashes), hashes.root
    return found


def _problems(run: Run, found: Verification, hashes: _Hashes, *, first: int, replays: bool) -> Iterator[str]:
    yield from _guarded(partial(_root, run, hashes))
    policies: set[str] = set()
    for iteration in range(first, run.settings.iterations):
        for step in iteration_steps(run.settings):
            for shard in range(num_shards(run.settings, step.name)):
                yield from _guarded(partial(_shard, run, iteration, step.name, shard, found, hashes, policies))
                if replays and step.name is StepName.TRAIN:
                    yield from _guarded(partial(_replayed, run, iteration, shard, found))


def _guarded(check: Callable[[], Iterator[str]]) -> Iterator[str]:
    """Yield the problems of one check; what it raises is one."""
    try:
        yield from check()
    except StoppedError:
        raise
    except NashdexError as error:
        if error.exit_code not in {ExitCode.CONFIGURATION, ExitCode.DATA}:
            raise
        yield str(error)


def _root(run: Run, hashes: _Hashes) -> Iterator[str]:
    data = run.store.get(keys.RUN_MANIFEST, MAX_MANIFEST_BYTES)
    hashes.add(keys.RUN_MANIFEST, data)
    for name in RunManifest.from_json(data, keys.RUN_MANIFEST).objects:
        hashes.add(name, read_root(run.store, name))
    if run.store.exists(keys.VERDICT):
        verdict = run.store.get(keys.VERDICT, MAX_MANIFEST_BYTES)
        hashes.add(keys.VERDICT, verdict)
        Verdict.from_json(verdict, f"{run.store.uri}/{keys.VERDICT}")
    yield from ()


def _shard(
    run: Run, iteration: int, step: StepName, shard: int, found: Verification, hashes: _Hashes, policies: set[str]
) -> Iterator[str]:
    manifest = find_manifest(run.store, iteration, step, shard)
    if manifest is None:
        return  # not done yet; a later step that is done fails, because it reads this one
    where = keys.manifest(iteration, step, shard)
    hashes.add(where, run.store.get(where, MAX_MANIFEST_BYTES))
    for name, described in manifest.objects.items():
        data = read_object(run.store, manifest, name)
        hashes.add(described.key, data)
        if keys.PUBLISHED_BY.get(name) == step:
            copy = keys.published(iteration, name)
            if not run.store.exists(copy) or run.store.get(copy) != data:
                yield f"{run.store.uri}/{copy} differs from what {step} wrote, {described.key}"
    if step is StepName.COLLECT:
        yield from _collected(run, manifest)
    if step is StepName.TRAIN:
        yield from _trained(run, manifest, found, hashes, policies)
    if _can_be_done_again(run, iteration, step):
        yield from _done_again(run, manifest, found)


def _collected(run: Run, manifest: Manifest) -> Iterator[str]:
    """Compare the counts of a collect shard with the plan and with what it recorded."""
    battles = manifest.counts.get("battles", 0)
    plan = read_published(run.store, manifest.iteration, keys.PLAN, IterationPlan)
    planned = len(battles_to_collect(run.settings.collect, run.settings.train, plan, manifest.shard))
    where = f"{run.store.uri}/{keys.manifest(manifest.iteration, manifest.step, manifest.shard)}"
    if battles != planned:
        yield f"{where} counts {battles} battles; the settings plan {planned}"
    if not battles:
        return
    recorded = sum(len(episode) for episode in read_shards(run.store, [manifest])[1])
    if recorded != manifest.counts.get("recorded_decisions"):
        yield f"{where} counts {manifest.counts.get('recorded_decisions')} decisions; its parts hold {recorded}"


def _journal(run: Run, manifest: Manifest, result: TrainingResult) -> Iterator[str]:
    """Compare a training's decisions with its journal's, if actors played."""
    if JOURNAL not in manifest.objects:
        return
    journal = read_written(run.store, manifest, JOURNAL, Journal)
    where = manifest.objects[JOURNAL].key
    if [entry.round for entry in journal.entries] != list(range(len(journal.entries))):
        yield f"{where} does not hold the rounds 0 to {len(journal.entries) - 1}, each once"
    yield from (f"{where}: {problem}" for problem in journal.problems())
    if journal.learned_decisions != result.num_decisions:
        yield (
            f"{where} counts {journal.learned_decisions} decisions; the training says that it learned from "
            f"{result.num_decisions}"
        )


def _trained(run: Run, manifest: Manifest, found: Verification, hashes: _Hashes, policies: set[str]) -> Iterator[str]:
    """Compare a policy's objects with its id, its description with what trained it, and its curve with its battles."""
    result = read_written(run.store, manifest, TRAINING_RESULT, TrainingResult)
    document = _stored_policy(run, result.policy, hashes)
    if result.magnet is not None:
        _stored_policy(run, result.magnet, hashes)
    yield from _journal(run, manifest, result)
    yield from _guarded(partial(_curve, run, manifest, result, found))
    if document.id in policies or _was_trained_before(run, manifest.iteration, document):
        return  # training gave a member again; its description is from the first time
    policies.add(document.id)
    for name in ("kind", "name", "parent", "oracle", "num_parameters"):
        described, trained = getattr(document, name), getattr(result, name)
        if described != trained:
            where = f"{run.store.uri}/{keys.policy_document(document.id)}"
            yield f"{where} says {name} {described!r}; the training that made it says {trained!r}"


def _stored_policy(run: Run, policy: PolicyId, hashes: _Hashes) -> PolicyDocument:
    """Return a policy's description after its objects were compared with its id.

    Raises:
        DataError: one of them is missing or altered.
    """
    document = read_document(run.store, BarePolicyId(policy))
    hashes.add(keys.policy_document(document.id), run.store.get(keys.policy_document(document.id)))
    if document.weights_sha256 is not None:
        key = keys.policy_weights(document.id)
        hashes.add(key, read_hashed(run.store, key, document.weights_sha256, document.weights_bytes))
    if document.table_sha256 is not None:
        key = keys.policy_table(document.id)
        hashes.add(key, read_hashed(run.store, key, document.table_sha256))
    return document


def _was_trained_before(run: Run, iteration: int, document: PolicyDocument) -> bool:
    """Say whether an iteration before ``iteration`` trained the policy, the one that its description names."""
    if document.iteration >= iteration:
        return False
    seeds = run.settings.train.seeds
    trained = read_from_shards(run.store, document.iteration, StepName.TRAIN, seeds, TRAINING_RESULT, TrainingResult)
    return any(result.policy == document.id for result in trained)


def _curve(run: Run, manifest: Manifest, result: TrainingResult, found: Verification) -> Iterator[str]:
    """Compute a training's learning curve again from its ledger, and compare the copy for tools with the result."""
    if EVALUATION_LEDGER in manifest.objects:
        yield from curve_problems(run, manifest, result)
        found.recomputed.append(f"{manifest.objects[TRAINING_RESULT].key}#evaluations")
    elif plans_evaluations(run, manifest.iteration):
        where = keys.manifest(manifest.iteration, manifest.step, manifest.shard)
        yield (
            f"{run.store.uri}/{where} names no {EVALUATION_LEDGER}, from which its learning curve must follow; the "
            "run's settings evaluate (evaluation.every_decisions)"
        )
    elif result.evaluations:
        where = keys.shard_prefix(manifest.iteration, manifest.step, manifest.shard)
        found.not_recomputed[where] = (
            f"its oracle, {result.oracle}, stores no {EVALUATION_LEDGER} of its {len(result.evaluations)} evaluations"
        )
    if TRAINING_METRICS in manifest.objects:
        stored = read_object(run.store, manifest, TRAINING_METRICS)
        if differs := difference(stored, result.metrics(), TRAINING_METRICS):
            where = manifest.objects[TRAINING_METRICS].key
            yield f"{run.store.uri}/{where} does not follow from {TRAINING_RESULT}: {differs}"


def _can_be_done_again(run: Run, iteration: int, step: StepName) -> bool:
    """Say whether a step follows from what it reads without battles or chance, in seconds."""
    if step in {StepName.PLAN, StepName.SOLVE, StepName.REPORT}:
        return True
    if FORMATS[run.settings.format].evidence.is_played:
        return False
    if step is StepName.TRAIN:
        train = run.settings.train
        oracle = ORACLES[train.oracle.kind]
        if iteration == 0 and oracle.improves:
            oracle = ORACLES[train.first.kind]
        return oracle.needs_tree and not oracle.is_random
    return step in {StepName.EVALUATE, StepName.GATE}


def _replayed(run: Run, iteration: int, shard: int, found: Verification) -> Iterator[str]:
    """Train a shard again from the run's kept battles, and compare all its output."""
    stored = find_manifest(run.store, iteration, StepName.TRAIN, shard)
    if stored is None or _can_be_done_again(run, iteration, StepName.TRAIN):
        return
    where = keys.shard_prefix(iteration, StepName.TRAIN, shard)
    plan = read_published(run.store, iteration, keys.PLAN, IterationPlan)
    if reason := why_not_replayable(run.settings.actors, run.settings.format, plan):
        found.not_replayed[where] = reason
        return
    try:
        yield from _done_again(run, stored, found, replay_settings(run.settings))
    except NoActorError as error:
        yield f"{run.store.uri}/{where} cannot be trained again: {error.missing}"
    else:
        found.replayed.append(where)


def _done_again(run: Run, stored: Manifest, found: Verification, settings: RunSettings | None = None) -> Iterator[str]:
    """Do a shard again over the store, and compare everything that it writes. ``settings`` replace the run's."""
    iteration, step, shard = stored.iteration, stored.step, stored.shard
    hidden = frozenset({keys.manifest(iteration, step, shard), keys.checkpoint(iteration, step, shard)})
    overlay = OverlayStore(run.store, hidden)
    fresh = step_function(step)(overlay, settings or run.settings, iteration, shard)
    if fresh.counts != stored.counts:
        where = keys.manifest(iteration, step, shard)
        yield f"{run.store.uri}/{where} counts {stored.counts}; what it follows from gives {fresh.counts}"
    for name in sorted(stored.objects.keys() | fresh.objects.keys()):
        if name not in fresh.objects or name not in stored.objects:
            yield f"{step} of iteration {iteration}, shard {shard}: {name} is only stored, or only recomputed"
            continue
        key = stored.objects[name].key
        found_difference = difference(read_object(run.store, stored, name), read_object(overlay, fresh, name), name)
        if found_difference:
            yield f"{run.store.uri}/{key} does not follow from what {step} reads: {found_difference}"
        found.recomputed.append(key)
