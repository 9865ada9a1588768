"""Weights & Biases. Its key comes from WANDB_API_KEY or its own login, and never passes through nashdex."""

from collections.abc import Mapping

import wandb


class WeightsAndBiases:
    """A run at Weights & Biases, in the group of the nashdex run. A resumed training goes on with it."""

    def __init__(self, project: str, run: str, name: str) -> None:
        self._run = wandb.init(
            project=project,
            group=run,
            name=f"{run} {name}",
            id=f"{run}-{name}",
            resume="allow",
            settings=wandb.Settings(console="off", silent=True, disable_code=True, disable_git=True),
        )
        # A resumed training repeats a few decisions, which the tracker's own steps may not.
        self._run.define_metric("decisions")
        self._run.define_metric("*", step_metric="decisions")

    def record(self, decisions: int, values: Mapping[str, float]) -> None:
        """Add a point to the curve of each value."""
        self._run.log({"decisions": decisions, **values})

    def close(self) -> None:
        """Send what is not yet sent."""
        self._run.finish()
