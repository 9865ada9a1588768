"""Opponent rules: the mixture of policies that a learner plays against."""

from typing import Annotated, Final, Literal

from pydantic import Field, PositiveFloat

from nashdex.core.ids import PolicyIdField
from nashdex.core.section import Choice, Kinds, OneOf, Section, Share

Role = Literal["main", "main-exploiter", "league-exploiter"]
MAIN: Final[Role] = "main"


class MetaStrategySettings(Choice):
    """Opponents drawn from the meta-strategy (PSRO)."""

    kind: Literal["meta-strategy"] = "meta-strategy"


class SelfPlaySettings(Choice):
    """The learner meets only its newest self."""

    kind: Literal["self-play"] = "self-play"


class ExploiterSettings(Section):
    """Conditions for exploiters to start again from the run's first network, and to meet weaker opponents."""

    reset_win_rate: float = Field(
        0.7,
        gt=0.5,
        lt=1,
        description="Win rate above which an exploiter is done: a main exploiter against its main agent, a league "
        "exploiter against every member older than itself.",
    )
    max_trainings: int = Field(
        2, ge=1, le=9999, description="Trainings in a row after which an exploiter is done, whatever its win rate."
    )
    league_reset_probability: Share = Field(
        0.25,
        description="Probability that a league exploiter starts again once it is done; a main exploiter always does.",
    )
    learnable_win_rate: float = Field(
        0.2,
        ge=0,
        lt=0.5,
        description="Win rate against the newest main agent below which a main exploiter meets all main agents "
        "and the run's first networks, by PFSP with weighting `variance`.",
    )


class LeagueSettings(Choice):
    """Prioritised fictitious self-play over classes of opponents, and exploiters. Shares need not sum to 1."""

    kind: Literal["league"] = "league"
    baseline: Share = Field(0.05, description="Share of the scripted policies.")
    itself: Share = Field(0.30, description="Share of the learner's newest self.")
    peer: Share = Field(0.30, description="Share of policies at most 100 Elo weaker, or stronger.")
    exploitable: Share = Field(0.35, description="Share of policies more than 50 Elo weaker.")
    roles: tuple[Role, ...] = Field(
        (MAIN,),
        min_length=1,
        description="Roles that train, one an iteration, in turn from iteration 1 on. Each role goes on from its "
        "own newest network. The shares above are for `main`.",
    )
    exploiters: ExploiterSettings = Field(ExploiterSettings(), description="Conditions for exploiters to start again.")


class InitialSettings(Choice):
    """The scripted policies of `population.initial`, uniformly, in every iteration."""

    kind: Literal["initial"] = "initial"


class TargetSettings(Choice):
    """A fixed policy or mixture. `nashdex exploit` writes this section and stores the policies with the run."""

    kind: Literal["target"] = "target"
    mixture: dict[PolicyIdField, PositiveFloat] = Field(
        default_factory=dict,
        description="Weight of each policy among the opponents: scripted policies, and policies stored with the run.",
    )
    itself: Share = Field(
        0.0,
        description="Share of the battles against the learner's newest self instead. A network with random "
        "weights never wins against a strong target, and learns from itself at first.",
    )
    plays: Literal["sampled", "greedy"] = Field(
        "sampled", description="Way of the trained best responses to play as members, and so in their scores."
    )


OPPONENT_KINDS = Kinds(
    "nashdex.opponent_rules",
    "opponent rule",
    MetaStrategySettings,
    SelfPlaySettings,
    LeagueSettings,
    InitialSettings,
    TargetSettings,
)

OpponentsChoice = Annotated[Choice, OneOf(OPPONENT_KINDS, "meta-strategy")]
"""The section of one rule, chosen by its key ``kind``."""
