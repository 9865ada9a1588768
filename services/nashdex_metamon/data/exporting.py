"""The battles that a run's tournaments stored, as trajectories of both players in metamon's layout."""

import re
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.steps import StepName
from nashdex.games.registry import FORMATS
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.games.showdown.replays import rename_players
from nashdex.runs.creation import open_run
from nashdex.store.attempt import find_manifest, read_object
from nashdex_metamon.data.generation import player_names
from nashdex_metamon.data.importing import Imported, Importer
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import parse_log

_NAME = re.compile(r"replays/(.+)-vs-(.+)-([0-9]+)-([01])\.log")


def export_run(run_uri: str, destination: Path, report: Callable[[int], None] = lambda _read: None) -> Imported:
    """Write both players' trajectories of every battle that the run's tournaments stored (`evaluate.replays_per_pair`).

    Files that exist already are kept. ``report`` is called with the number of battles read so far.

    Raises:
        ConfigurationError: the run's format has no metamon trajectories, or the destination is not a folder.
        DataError: there is no run, it stored no battle, or a stored one is missing or altered.
        TryAgainError: the store or the gateway is gone.
        StoppedError: the process was asked to stop. What was written is complete.
    """
    run = open_run(run_uri)
    settings = run.settings
    if FORMATS[settings.format].game != SHOWDOWN:
        raise ConfigurationError(f"{settings.format} has no metamon trajectories; expected a run of a Showdown format")
    if destination.exists() and not destination.is_dir():
        raise ConfigurationError(f"{destination} is not a folder; name one, which need not exist")
    now = int(datetime.now(UTC).timestamp())
    with ExitStack() as stack:
        importer = Importer(destination, (), stack, keep_names=True)
        counts = importer.counts
        for iteration in range(settings.iterations):
            for shard in range(settings.evaluate.shards):
                manifest = find_manifest(run.store, iteration, StepName.EVALUATE, shard)
                for name in sorted(manifest.objects) if manifest is not None else ():
                    found = _NAME.fullmatch(name)
                    if manifest is None or found is None:
                        continue
                    counts.read += 1
                    report(counts.read)
                    players = player_names((found[1], found[2]))  # type: ignore[arg-type]
                    log = rename_players(read_object(run.store, manifest, name).decode(errors="replace"), players)
                    battle = f"{run.id}-{settings.format}-{iteration:04d}{shard:02d}{counts.read:06d}"
                    try:
                        importer.add(parse_log(log, battle, settings.format, now, name))
                    except RefusedReplayError as refusal:
                        counts.refused[refusal.cause] += 1
        importer.finish()
    if not counts.read:
        raise DataError(f"{run_uri} stored no battle: no tournament has run yet, or evaluate.replays_per_pair is 0")
    return counts
