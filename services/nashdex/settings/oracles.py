"""Oracles other than PPO, and the list of all oracles."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from nashdex.core.section import Choice, Kinds, Needs, Section
from nashdex.settings.ppo import PpoSettings


class ReplaySettings(Section):
    """Battles of people, or of other programs, to learn from; stored with the run."""

    path: Path | None = Field(
        None,
        description="Raw Showdown replays: a folder, or one .json, .jsonl or .log file. Left out: the teacher alone.",
    )
    share: Annotated[float, Needs("path")] = Field(
        1.0,
        gt=0,
        le=1,
        description="Share of the replays' decisions in an epoch; the rest are the teacher's.",
    )
    min_rating: Annotated[int, Needs("path")] = Field(
        0, ge=0, le=9999, description="Lowest rating of a player; without one, a player has 1000."
    )
    winners_only: Annotated[bool, Needs("path")] = Field(False, description="Learn from the winners alone.")


class CloneSettings(Choice):
    """Behaviour cloning of `collect.teacher`, of the players of raw replays, or of both."""

    kind: Literal["clone"] = "clone"
    num_epochs: int = Field(6, ge=1, le=1000, description="Passes over the teacher's decisions.")
    minibatch_decisions: int = Field(256, ge=1, description="Decisions an optimiser step.")
    learning_rate: float = Field(2e-3, gt=0, le=1, description="Adam's step size.")
    critic_warmup_epochs: int = Field(2, ge=0, le=100, description="Further epochs, for the critic alone.")
    replays: ReplaySettings = Field(ReplaySettings(), description="Raw replays to learn from.")


class DistilSettings(Choice):
    """Distillation of `collect.teacher`, a stored network or an ensemble."""

    kind: Literal["distil"] = "distil"
    num_epochs: int = Field(8, ge=1, le=1000, description="Passes over the teacher's decisions.")
    minibatch_decisions: int = Field(512, ge=1, description="Decisions an optimiser step.")
    learning_rate: float = Field(1e-3, gt=0, le=1, description="Adam's step size; it falls to 0 over the training.")


class ExactSettings(Choice):
    """The exact best response, in games whose tree is known. It has no settings."""

    kind: Literal["exact"] = "exact"


class GlobalPsroSettings(Choice):
    """The best response, of several, that lowers the population's exploitability most; in games whose tree is known."""

    kind: Literal["global-psro"] = "global-psro"
    num_candidates: int = Field(
        8,
        ge=1,
        le=1000,
        description="Best responses to choose from: to the opponents, to the least exploitable mixture of the "
        "population, and to random mixtures. 1: to the opponents alone.",
    )


class QLearningSettings(Choice):
    """Tabular Q-learning from simulated battles, in games whose tree is known."""

    kind: Literal["q-learning"] = "q-learning"
    battles: int = Field(500_000, ge=1, le=10**9, description="Simulated battles.")


class FreshSettings(Choice):
    """A network with random weights. It has no settings."""

    kind: Literal["fresh"] = "fresh"


class NullSettings(Choice):
    """A network that plays uniformly. It has no settings."""

    kind: Literal["null"] = "null"


ORACLE_KINDS = Kinds(
    "nashdex.oracles",
    "oracle",
    PpoSettings,
    ExactSettings,
    GlobalPsroSettings,
    QLearningSettings,
    CloneSettings,
    DistilSettings,
    FreshSettings,
    NullSettings,
)
