"""The end of a train step, whatever its oracle."""

from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.store.attempt import Attempt


def finish(attempt: Attempt, result: TrainingResult) -> Manifest:
    """Write the result of an attempt whose policy is stored, and finish it."""
    attempt.write(TRAINING_RESULT, result.to_json())
    return attempt.finish(
        {"decisions": result.num_decisions, "updates": result.num_updates, "rollbacks": result.rollbacks}
    )
