"""Settings of the train step that do not depend on the oracle."""

from typing import Annotated, Literal

from pydantic import Field

from nashdex.core.errors import DataError
from nashdex.core.plugins import Names
from nashdex.core.section import Choice, NameOf, OneOf, Section
from nashdex.settings.oracles import ORACLE_KINDS, CloneSettings
from nashdex.settings.ppo import PpoSettings

REWARD_NAMES = Names("nashdex.rewards", "reward", ("win-loss", "shaped"))
"""Names of rewards. `nashdex.learning.rewards` has the rewards themselves."""


class TrackerSettings(Section):
    """Experiment trackers that draw a training's curves while it goes on. Each needs nashdex's extra of its name."""

    tensorboard_folder: str = Field("", description="Folder for TensorBoard's event files; empty for none.")
    wandb_project: str = Field(
        "", description="Project at Weights & Biases, which reads its key from WANDB_API_KEY; empty for none."
    )


class TrainSettings(Section):
    """Training of an iteration's policies."""

    oracle: Annotated[Choice, OneOf(ORACLE_KINDS, "ppo")] = Field(
        default_factory=PpoSettings,
        description="The oracle that trains best responses, and its own settings below it.",
    )
    first: Annotated[Choice, OneOf(ORACLE_KINDS, "clone")] = Field(
        default_factory=CloneSettings,
        description="The oracle of the first iteration's network, if `train.oracle` improves networks.",
    )
    seeds: int = Field(1, ge=1, le=64, description="Policies trained an iteration, each from its own seed.")
    reward: Annotated[str, NameOf(REWARD_NAMES)] = Field(
        "win-loss",
        description="Reward that the learner maximises: the result, the result with a potential (which does not "
        "change the best policy), or one of an installed package.",
    )
    discount: float = Field(1.0, gt=0, le=1, description="γ a decision; 1 suits the win/loss reward.")
    checkpoint_every_updates: int = Field(50, ge=1, description="Optimiser steps between checkpoints.")
    device: Literal["cpu", "cuda"] = Field("cpu", description="Where to train; there is no fallback.")
    precision: Literal["float32", "bfloat16"] = Field(
        "float32", description="Precision of the layers in optimiser steps; weights and losses stay float32."
    )
    num_threads: int = Field(1, ge=1, le=256, description="CPU threads of each process that trains.")
    num_processes: int = Field(
        1,
        ge=1,
        le=64,
        description="Processes on one machine that train a policy by PPO together, each on a GPU of its own or on "
        "`num_threads` of the CPU. They share the `train.oracle.accumulate` minibatches of an optimiser step.",
    )
    trackers: TrackerSettings = Field(TrackerSettings(), description="TensorBoard and Weights & Biases.")

    def section_of(self, oracle: str) -> Choice:
        """Return the settings of the oracle that a plan names.

        Raises:
            DataError: the settings name other oracles.
        """
        for section in (self.oracle, self.first):
            if section.kind == oracle:
                return section
        raise DataError(
            f"the plan's oracle is {oracle!r}; the run's settings have {self.oracle.kind!r}, after {self.first.kind!r}"
        )
