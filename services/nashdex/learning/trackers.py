"""Experiment trackers: TensorBoard and Weights & Biases, where they are installed and asked for.

They see copies of numbers that are in the training's result anyway. Nothing reads them back.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol, Self

from nashdex.core.errors import ConfigurationError
from nashdex.core.extras import required
from nashdex.core.results import Evaluation
from nashdex.settings.train import TrackerSettings


class Tracker(Protocol):
    """One place that draws curves. This is the whole surface."""

    def record(self, decisions: int, values: Mapping[str, float]) -> None:
        """Add a point to the curve of each value, at ``decisions`` learned from."""

    def close(self) -> None:
        """Write pending values."""


_PACKAGES: Final = {"tensorboard_folder": "tensorboard", "wandb_project": "wandb"}
"""Package needed by each setting; nashdex's extra has the same name."""


def check_installed(settings: TrackerSettings) -> None:
    """Check that the requested trackers are installed.

    Raises:
        ConfigurationError: one is not; names the setting and the extra.
    """
    for key, package in _PACKAGES.items():
        if getattr(settings, key) and find_spec(package) is None:
            raise ConfigurationError(
                f"train.trackers.{key} is {getattr(settings, key)!r} and the package {package} is not installed here; "
                f"install nashdex[{package}] where training runs, or leave the setting out"
            )


class Trackers:
    """The trackers of one training. Use as a context manager."""

    def __init__(self, settings: TrackerSettings, *, run: str, iteration: int, shard: int) -> None:
        check_installed(settings)
        self._name = f"iteration-{iteration:04d}-shard-{shard:05d}"
        self._settings = settings
        self._run = run
        self._opened: Sequence[Tracker] = ()
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        opened: list[Tracker] = []
        if self._settings.tensorboard_folder:
            opened.append(TensorBoard(self._settings.tensorboard_folder, self._run, self._name))
        if self._settings.wandb_project:
            opened.append(WeightsAndBiases(self._settings.wandb_project, self._run, self._name))
        for tracker in opened:
            self._closing.callback(tracker.close)
        self._opened = opened
        return self

    def __exit__(self, *exception: object) -> None:
        self._closing.close()

    def record_round(self, decisions: int, values: Mapping[str, float]) -> None:
        """Record a round's values."""
        self._record(decisions, {f"train/{name}": value for name, value in values.items()})

    def record_evaluations(self, evaluations: Iterable[Evaluation]) -> None:
        """Record each score with its interval."""
        for one in evaluations:
            curve = f"evaluation/{one.anchor}/{one.style}"
            values = {f"{curve}/score": one.score, f"{curve}/low": one.low, f"{curve}/high": one.high}
            self._record(one.decisions, values | {"evaluation/cpu_minutes": one.cpu_seconds / 60})

    def _record(self, decisions: int, values: Mapping[str, float]) -> None:
        for tracker in self._opened:
            tracker.record(decisions, values)


class TensorBoard:
    """Writes FOLDER/RUN/NAME. A resumed training adds a file; TensorBoard shows the folder's files as one."""

    def __init__(self, folder: str, run: str, name: str) -> None:
        new_writer = required("torch.utils.tensorboard:SummaryWriter", extra="tensorboard", needed_by="TensorBoard")
        self._writer = new_writer(str(Path(folder) / run / name))

    def record(self, decisions: int, values: Mapping[str, float]) -> None:
        """Add a point to the curve of each value."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, decisions)

    def close(self) -> None:
        """Write pending values."""
        self._writer.close()


class WeightsAndBiases:
    """A run at Weights & Biases, in the group of the nashdex run. A resumed training goes on with it.

    The key comes from WANDB_API_KEY or Weights & Biases' own login, and never passes through nashdex.
    """

    def __init__(self, project: str, run: str, name: str) -> None:
        wandb = required("wandb", extra="wandb", needed_by="train.trackers.wandb_project")
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
        """Send pending values."""
        self._run.finish()
