"""Who plays the rounds of a run's trainings: actors, or the trainer itself."""

from nashdex.core.evidence import Evidence
from nashdex.games.registry import FORMATS
from nashdex.oracles.registry import ORACLES
from nashdex.settings.run import RunSettings


def needs_actors(settings: RunSettings) -> bool:
    """Say whether actors play the rounds of the run's trainings. If not, the trainer does, if there are any.

    The trainer plays tabular games itself: their battles take microseconds.
    """
    oracle = settings.train.oracle
    if settings.actors.shards == 0 or not ORACLES[oracle.kind].plays_rounds:
        return False
    return FORMATS[settings.format].evidence is not Evidence.EXACT
