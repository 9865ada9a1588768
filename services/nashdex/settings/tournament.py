"""The evaluate and gate steps: the tournament, and the test of a new policy."""

from typing import Annotated, Literal

from pydantic import Field

from nashdex.core.requirements import Needs
from nashdex.core.section import Section


class EvaluateSettings(Section):
    """The tournament that fills the payoff ledger."""

    battles_per_pair: int = Field(200, ge=2, le=1_000_000, description="Battles of each pair of policies, in all.")
    shards: int = Field(2, ge=1, le=200, description="Processes or pods that share the battles.")
    adaptive_battles: int = Field(
        0,
        ge=0,
        multiple_of=2,
        description="Adaptive schedule: further battles an iteration, at most, for the pairs with the largest effect "
        "on the meta-strategy. 0: the uniform schedule, all battles of each pair.",
    )
    first_battles: Annotated[int, Needs("adaptive_battles")] = Field(
        50, ge=2, multiple_of=2, description="Battles of a new pair under the adaptive schedule."
    )
    replays_per_pair: int = Field(1, ge=0, le=100, description="Battles of each pair kept as replays.")


class GateSettings(Section):
    """A test between train and evaluate that a new policy must pass to join the population."""

    test: Literal["none", "sprt"] = Field(
        "none",
        description="sprt: sequential test against the policy's parent, of no gain against `elo` points, with an error "
        "rate of 0.05 on either side. In a tabular game the exact payoff against the parent decides at once.",
    )
    elo: Annotated[float, Needs("test", "sprt")] = Field(
        50.0, gt=0, le=1000, description="Elo gap of the hypothesis that the policy is better."
    )
    max_battles: Annotated[int, Needs("test", "sprt")] = Field(
        2000, ge=2, le=1_000_000, multiple_of=2, description="Battles after which an undecided test accepts the policy."
    )
