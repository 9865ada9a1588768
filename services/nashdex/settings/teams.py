"""Settings of the teams that battles of a training draw from."""

from collections.abc import Sequence
from itertools import pairwise

from pydantic import Field, NonNegativeFloat

from nashdex.core.section import Section


class TeamStage(Section):
    """The teams of training battles from one iteration on."""

    from_iteration: int = Field(ge=0, description="The first iteration whose training battles draw from these sets.")
    sets: dict[str, NonNegativeFloat] = Field(
        description="Weight of each team set, by name, or by file as for `teams`. A set is drawn in proportion to its "
        "weight, then one of its teams uniformly."
    )


def check_schedule(stages: Sequence[TeamStage]) -> None:
    """Check that ``stages`` follow each other from iteration 0 on, and that each draws from a set.

    Raises:
        ValueError: they do not; names the stage and the expected value.
    """
    if stages and stages[0].from_iteration != 0:
        raise ValueError(
            f"the first stage begins at iteration {stages[0].from_iteration}; expected from_iteration = 0, so that "
            "every iteration has teams"
        )
    for earlier, later in pairwise(stages):
        if later.from_iteration <= earlier.from_iteration:
            raise ValueError(
                f"a stage from iteration {later.from_iteration} follows one from iteration {earlier.from_iteration}; "
                "expected from_iteration to increase from stage to stage"
            )
    for stage in stages:
        if not any(stage.sets.values()):
            raise ValueError(
                f"the stage from iteration {stage.from_iteration} has no set with a weight above 0; expected one such "
                "as { own = 1 }"
            )
