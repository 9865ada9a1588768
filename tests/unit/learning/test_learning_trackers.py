"""Trackers: what TensorBoard and Weights & Biases are given, and one clear error where they are not installed."""

import sys
from types import SimpleNamespace

import pytest

from nashdex.core.errors import ConfigurationError
from nashdex.core.results import Evaluation
from nashdex.learning.trackers import Trackers, check_installed
from nashdex.settings.train import TrackerSettings

EVALUATION = Evaluation(
    decisions=2000,
    cpu_seconds=90.0,
    anchor="heuristic",
    style="greedy",
    score=0.6,
    low=0.5,
    high=0.7,
    battles=100,
    draws=0,
)


class Recorder:
    """Stands for the client of either service: it records what it is given."""

    def __init__(self) -> None:
        self.opened: dict[str, object] = {}
        self.points: list[tuple[object, ...]] = []
        self.is_closed = False

    # TensorBoard's SummaryWriter
    def __call__(self, folder: str) -> "Recorder":
        self.opened["folder"] = folder
        return self

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.points.append((name, value, step))

    def close(self) -> None:
        self.is_closed = True

    # Weights & Biases
    def init(self, **arguments: object) -> "Recorder":
        self.opened |= arguments
        return self

    def define_metric(self, name: str, step_metric: str | None = None) -> None:
        self.opened[f"axis of {name}"] = step_metric

    def log(self, values: dict[str, float]) -> None:
        self.points.append(tuple(sorted(values.items())))

    finish = close


def track(settings: TrackerSettings) -> None:
    with Trackers(settings, run="run-1", iteration=1, shard=0) as trackers:
        trackers.record_round(1000, {"entropy": 0.3})
        trackers.record_evaluations([EVALUATION])


def is_there(monkeypatch: pytest.MonkeyPatch, package: str, module: str, **content: object) -> None:
    """Have ``package`` be installed, as ``module`` with ``content``."""
    spec = SimpleNamespace(**content, __spec__=object())
    monkeypatch.setitem(sys.modules, package, spec)
    monkeypatch.setitem(sys.modules, module, spec)


def test_without_trackers_nothing_is_opened() -> None:
    track(TrackerSettings())


def test_tensorboard_gets_every_value_by_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Recorder()
    is_there(monkeypatch, "tensorboard", "torch.utils.tensorboard", SummaryWriter=writer)
    monkeypatch.delitem(sys.modules, "nashdex.learning.trackers", raising=False)
    track(TrackerSettings(tensorboard_folder="boards"))
    assert writer.opened == {"folder": "boards/run-1/iteration-0001-shard-00000"}
    assert writer.points == [
        ("train/entropy", 0.3, 1000),
        ("evaluation/heuristic/greedy/score", 0.6, 2000),
        ("evaluation/heuristic/greedy/low", 0.5, 2000),
        ("evaluation/heuristic/greedy/high", 0.7, 2000),
        ("evaluation/cpu_minutes", 1.5, 2000),
    ]
    assert writer.is_closed


def test_weights_and_biases_gets_one_run_that_resumes(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Recorder()
    is_there(monkeypatch, "wandb", "wandb", init=service.init, Settings=dict)
    monkeypatch.delitem(sys.modules, "nashdex.learning.trackers", raising=False)
    track(TrackerSettings(wandb_project="pokemon"))
    opened = service.opened
    assert (opened["project"], opened["group"], opened["resume"]) == ("pokemon", "run-1", "allow")
    assert opened["id"] == "run-1-iteration-0001-shard-00000"
    assert opened["axis of *"] == "decisions"
    assert (("decisions", 1000), ("train/entropy", 0.3)) in service.points
    assert service.is_closed


@pytest.mark.parametrize(("key", "package"), [("tensorboard_folder", "tensorboard"), ("wandb_project", "wandb")])
def test_a_tracker_that_is_not_installed_is_one_error_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, key: str, package: str
) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, package, raising=False)
    settings = TrackerSettings.model_validate({key: "somewhere"})
    with pytest.raises(ConfigurationError, match=rf"train\.trackers\.{key} is 'somewhere' .* nashdex\[{package}\]"):
        check_installed(settings)
