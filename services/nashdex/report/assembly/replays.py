"""The stored battles of an iteration."""

from collections.abc import Iterable

from nashdex.report.document import Replay
from nashdex.report.sources import IterationSources


def replays(sources: IterationSources) -> Iterable[Replay]:
    """Yield the battles that the iteration's tournament stored."""
    for evaluated in sources.evaluated:
        records = {(record.policies, record.pair): record for record in evaluated.ledger.battles}
        for saved in evaluated.ledger.replays:
            record = records[saved.policies, saved.pair]
            described = evaluated.manifest.objects[saved.object]
            yield Replay(
                policies=saved.policies,
                winner=None if record.winner is None else record.policies[record.winner],
                turns=record.turns,
                iteration=sources.iteration,
                name=saved.object.removeprefix("replays/").removesuffix(".log"),
                key=described.key,
                shard=evaluated.manifest.shard,
                object=saved.object,
                size_bytes=described.size_bytes,
            )
