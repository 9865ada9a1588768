"""The resources that the steps of an iteration used, from their manifests."""

from collections.abc import Iterable, Sequence

from nashdex.core.steps import StepName
from nashdex.report.document import StepUse
from nashdex.report.sources import IterationManifests
from nashdex.store.usage import WRITING


def step_uses(manifests: IterationManifests) -> tuple[StepUse, ...]:
    """Return what each step used, in the order of the steps."""
    found = []
    reported = () if manifests.report is None else (manifests.report,)
    for step, shards in (*manifests.by_step.items(), (StepName.REPORT, reported)):
        if not shards:
            continue
        requests = [(name in WRITING, number) for shard in shards for name, number in shard.store_requests.items()]
        found.append(
            StepUse(
                step=step,
                seconds=max(shard.seconds for shard in shards),
                cpu_seconds=sum(shard.cpu_seconds for shard in shards),
                gpu_seconds=sum(shard.gpu_seconds for shard in shards),
                reads=sum(number for is_write, number in requests if not is_write),
                writes=sum(number for is_write, number in requests if is_write),
                bytes_read=sum(shard.store_bytes_read for shard in shards),
                bytes_written=sum(shard.store_bytes_written for shard in shards),
            )
        )
    return tuple(found)


def in_sequence(steps: Iterable[StepUse]) -> tuple[StepUse, ...]:
    """Return the steps that run one after another: all but actors, which run beside the train step."""
    return tuple(used for used in steps if used.step is not StepName.ACT)


def bottleneck(steps: Sequence[StepUse]) -> tuple[StepName, float]:
    """Return the step with the longest wall time of an iteration's ``steps``, and its share of the whole."""
    sequence = in_sequence(steps)
    slowest = max(sequence, key=lambda used: used.seconds)
    total = sum(used.seconds for used in sequence)
    return slowest.step, slowest.seconds / total if total else 0.0
