"""The trainings that can be repeated from a run's kept data, and their settings. Imports no torch."""

from nashdex.core.evidence import Evidence
from nashdex.games.registry import FORMATS
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.registry import ORACLES
from nashdex.settings.run import RunSettings
from nashdex.settings.train import TrackerSettings

_PATIENCE_SECONDS = 0.1
"""How long a replay waits for a chunk. Nobody plays, so one that is not there is lost."""


def why_not_replayable(settings: RunSettings, plan: IterationPlan) -> str | None:
    """Return why an iteration's trainings cannot be repeated without battles; None if they can."""
    if not ORACLES[plan.oracle].plays_rounds:
        return None  # it learned from the collected battles alone
    if FORMATS[settings.format].evidence is Evidence.EXACT:
        return None  # the trainer plays; such battles take microseconds
    if settings.actors.shards == 0:
        return "the trainer played its battles itself; only actors keep them (actors.shards, actors.keep_chunks)"
    if not settings.actors.keep_chunks:
        return "its battles were not kept (actors.keep_chunks)"
    return None


def replay_settings(settings: RunSettings) -> RunSettings:
    """Return the settings that repeat a training: it waits for nobody and draws no curves."""
    actors = settings.actors.model_copy(update={"patience_seconds": _PATIENCE_SECONDS})
    train = settings.train.model_copy(update={"trackers": TrackerSettings()})
    return settings.model_copy(update={"actors": actors, "train": train})
