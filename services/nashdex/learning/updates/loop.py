"""The optimiser steps that every algorithm shares: guarded, recorded, and resumable between any two."""

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import structlog
import torch
from torch import Tensor

from nashdex.core.errors import DataError
from nashdex.core.results import Evaluation
from nashdex.core.stopping import check_stop, stop_requested
from nashdex.learning.damping.controller import ControllerState
from nashdex.learning.hardware.forward import Precision, forward_passes
from nashdex.learning.references import Reference
from nashdex.learning.updates.checkpoint import Checkpoints, Snapshot, TrainingState
from nashdex.learning.updates.continuation import Continuation
from nashdex.learning.updates.curve import Curve
from nashdex.learning.updates.gradients import Gradients
from nashdex.learning.updates.guard import Guard
from nashdex.learning.updates.optimiser import Optimiser, Rates
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.telemetry import metrics
from nashdex.telemetry.progress import Progress

_log = structlog.get_logger()

_NOW = "now"
_GOOD = "good"
_GOOD_ENTROPY = "good_entropy"
_ROUND = "round"
_ROUND_UPDATE = "round_update"
_ACTING = "acting"
ACTING_UPDATE = "acting_update"
"""The mark that holds the optimiser steps before the weights that played the current round."""
_ROUND_DECISIONS = "round_decisions"
_CPU_SECONDS = "cpu_seconds"
_MEAN = "mean/"
_COUNT = "count/"
_MIN_RATE_MULTIPLIER = 1 / 64
"""The guard never makes a step smaller than this share of it, so that training goes on within a few rounds."""
_WINDOW_UPDATES = 10
"""Optimiser steps that a running mean looks back: one minibatch alone is too noisy to judge."""
_AVERAGED = ("entropy", "kl_behaviour")
_NETWORK = "network/"
_REFERENCE = "reference/"
_OPTIMISER = "optimiser/"


@dataclass(frozen=True)
class LoopSettings:
    """Settings of the loop, whatever the algorithm."""

    max_gradient_norm: float
    """The actor's and the critic's gradients are each scaled down to this global norm."""
    checkpoint_every_updates: int
    precision: Precision = "float32"
    """Of the forward passes of optimiser steps."""


class TrainingLoop:
    """A network in training: call ``step`` with a loss as long as ``update`` is below what the algorithm wants.

    Nothing random is kept here: orders follow from seeds and ``update``. If the shard has a checkpoint, a new loop
    resumes from it.
    """

    def __init__(
        self,
        network: ActorCritic,
        settings: LoopSettings,
        checkpoints: Checkpoints,
        *,
        reference: Reference | None = None,
        guard: Guard | None = None,
        continuation: Continuation | None = None,
    ) -> None:
        self.network = network
        self.forward = forward_passes(network, settings.precision)
        """The network's forward passes, for losses."""
        self.reference = reference or Reference()
        self.update = 0
        self.rollbacks = 0
        self.saved_round = 0
        """The round of the newest checkpoint."""
        self.cpu_seconds_of_attempt: Callable[[], float] = lambda: 0.0
        """Measures the CPU time of this attempt, of all processes that train and play, without evaluations."""
        self._cpu_seconds_before = 0.0
        self.controllers: dict[str, ControllerState] = {}
        self._kept_controllers: dict[str, dict[str, ControllerState]] = {}
        self.marks: dict[str, float] = {}
        self.latest: dict[str, float] = {}
        self.snapshots: tuple[Snapshot, ...] = ()
        self.met: tuple[Snapshot, ...] = ()
        """Snapshots that the current round meets, where it was played ahead."""
        self.evaluations: tuple[Evaluation, ...] = ()
        self.curve = Curve()
        self._settings = settings
        self._checkpoints = checkpoints
        self._guard = guard or Guard()
        self._rate_multiplier = 1.0
        self.gradients = Gradients(network)
        """Of the next optimiser step."""
        self._optimiser = Optimiser(network)
        self._snapshots: dict[str, dict[str, Tensor]] = {}
        # Created at 0, so that the first one is an increase.
        metrics.NONFINITE_UPDATES.add(0)
        self._measure_memory()
        if continuation is not None:
            self._optimiser.set_tensors(continuation.optimiser, "the state that the iteration before left")
            self.controllers = dict(continuation.controllers)
        self._resume()
        if _GOOD not in self._snapshots:
            self.keep(_GOOD)

    def step(self, loss: Tensor, values: Mapping[str, float], progress: Progress, rates: Rates) -> None:
        """Take one optimiser step with the whole of its loss: ``gradients.add``, then ``apply``."""
        self.apply(self.gradients.add(loss, values), progress, rates)

    def apply(self, values: Mapping[str, float], progress: Progress, rates: Rates) -> None:
        """Take one optimiser step, unless the guard objects: then restore the last good state and halve the step size.

        Args:
            values: what the whole step measured, for the guard, the curve and the metrics.
            progress: counts the step.
            rates: step sizes, before the guard's factor.

        Raises:
            StoppedError: the process was asked to stop; a checkpoint was saved.
        """
        total_loss = self.gradients.take()
        rates = rates.scaled(self._rate_multiplier)
        norm = self._optimiser.clip_gradients(self._settings.max_gradient_norm)
        measured = {**self.latest, **values, "gradient_norm": norm, "learning_rate": rates.actor}
        means = self._means_with(values)
        problem = self._problem({"loss": total_loss, **measured}, means)
        if problem:
            if not all(map(math.isfinite, (total_loss, *measured.values()))):
                metrics.NONFINITE_UPDATES.add()
            self.roll_back(problem)
            measured = {}
        else:
            self.marks |= means
            if self.update % self._settings.checkpoint_every_updates == 0 and self._guard.is_sound(measured):
                # The step before this one did no harm.
                self.keep(_GOOD)
                if "entropy" in values:
                    self.marks[_GOOD_ENTROPY] = self.mean("entropy")
            self._optimiser.step(rates)
            self.reference.follow(self.network)
            self.curve.add(self.update, measured)
        self.update += 1
        progress.advance(1, rollbacks=self.rollbacks, **measured)
        if self.update % self._settings.checkpoint_every_updates == 0 or stop_requested():
            self._save()
        check_stop()

    def mean(self, name: str) -> float:
        """Return the running mean of a value in this round, 0 before its first."""
        return self.marks.get(f"{_MEAN}{name}", 0.0)

    def _means_with(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the marks of the running means after ``values``."""
        marks = {}
        for name in _AVERAGED:
            if name in values:
                count = min(self.marks.get(f"{_COUNT}{name}", 0.0) + 1, _WINDOW_UPDATES)
                marks[f"{_COUNT}{name}"] = count
                marks[f"{_MEAN}{name}"] = self.mean(name) + (values[name] - self.mean(name)) / count
        return marks

    def _forget_means(self) -> None:
        self.marks = {name: value for name, value in self.marks.items() if not name.startswith((_MEAN, _COUNT))}

    def _problem(self, values: Mapping[str, float], means: Mapping[str, float]) -> str | None:
        """Ask the guard, which judges the entropy by its running mean."""
        entropy = means.get(f"{_MEAN}entropy")
        judged = values if entropy is None else {**values, "entropy": entropy}
        return self._guard.problem(judged, self.marks.get(_GOOD_ENTROPY))

    def check_round(self, values: Mapping[str, float]) -> bool:
        """Judge the state after a round's last step; return whether the last good one was restored."""
        problem = self._guard.problem(values, self.marks.get(_GOOD_ENTROPY))
        if problem:
            self.roll_back(problem)
        return problem is not None

    def roll_back(self, problem: str) -> None:
        """Restore the last good state and halve the step size from here on."""
        self.restore(_GOOD)
        self._forget_means()
        self.rollbacks += 1
        self._rate_multiplier = max(self._rate_multiplier / 2, _MIN_RATE_MULTIPLIER)
        _log.warning(
            f"update {self.update} was unstable: {problem}; restored the last good state and halved the step size",
            rollbacks=self.rollbacks,
            rate_multiplier=self._rate_multiplier,
        )

    @property
    def round(self) -> int:
        """The current round, counted from 0."""
        return int(self.marks.get(_ROUND, 0))

    @property
    def round_update(self) -> int:
        """Optimiser steps of the round so far."""
        return self.update - int(self.marks.get(_ROUND_UPDATE, 0))

    @property
    def staleness_updates(self) -> int:
        """Optimiser steps since the weights that played the current round."""
        return self.update - int(self.marks.get(ACTING_UPDATE, self.marks.get(_ROUND_UPDATE, 0)))

    @property
    def num_decisions(self) -> int:
        """Decisions that the rounds before this one learned from."""
        return int(self.marks.get(_ROUND_DECISIONS, 0))

    @property
    def cpu_seconds(self) -> float:
        """CPU time of this attempt, and of earlier ones up to their last checkpoint."""
        return self._cpu_seconds_before + self.cpu_seconds_of_attempt()

    def begin_round(self, number: int, entropy: float, num_decisions: int, *, played_ahead: bool = False) -> None:
        """Begin a further round with the current weights, of ``entropy`` nats: the guard's good state from here on.

        Fresh battles are a fresh start: the guard gives back half of its reduction of the step size. With
        ``played_ahead``, the weights with which the round before began are the ones that played this one.
        """
        self._forget_means()
        if played_ahead:
            self.marks[ACTING_UPDATE] = self.marks.get(_ROUND_UPDATE, 0)
            if _ROUND in self._snapshots:
                self._snapshots[_ACTING] = self._snapshots[_ROUND]
        self.marks |= {
            _ROUND: number,
            _ROUND_UPDATE: self.update,
            _ROUND_DECISIONS: num_decisions,
            _GOOD_ENTROPY: entropy,
        }
        self.reference.begin_round(self.network)
        self.keep(_GOOD)
        self.keep_network(_ROUND)
        self._rate_multiplier = min(1.0, 2 * self._rate_multiplier)

    def network_of_round(self) -> ActorCritic:
        """Return a copy of the network as it was at the start of the current round, which is not the first."""
        return self.kept_network(_ROUND)

    def network_that_acted(self) -> ActorCritic | None:
        """Return a copy of the network that played the current round ahead; None if training began from that one."""
        return self.kept_network(_ACTING) if self.has_kept(_ACTING) else None

    def keep_network(self, name: str) -> None:
        """Keep a copy of the network's weights alone under ``name``; checkpoints keep it too."""
        self._snapshots[name] = {k: v.clone() for k, v in self._tensors().items() if k.startswith(_NETWORK)}

    def has_kept(self, name: str) -> bool:
        """Say whether a copy was kept under ``name``."""
        return name in self._snapshots

    def kept_network(self, name: str) -> ActorCritic:
        """Return a copy of the network as it was kept under ``name``."""
        network = copy.deepcopy(self.network)
        network.load_state_dict({k.removeprefix(_NETWORK): v for k, v in self._snapshots[name].items()})
        return network

    def keep(self, name: str) -> None:
        """Keep a copy of weights, optimiser, reference and controllers under ``name``; checkpoints keep it too."""
        self._snapshots[name] = {key: tensor.clone() for key, tensor in self._tensors().items()}
        self._kept_controllers[name] = dict(self.controllers)

    def restore(self, name: str) -> None:
        """Return to the copy that was kept under ``name``."""
        self._set_tensors(self._snapshots[name], name)
        self.controllers = dict(self._kept_controllers[name])

    def _tensors(self) -> dict[str, Tensor]:
        """Return the state of weights, reference and Adam by name, as it is, not copied."""
        tensors: dict[str, Tensor] = {f"{_NETWORK}{k}": v.detach() for k, v in self.network.state_dict().items()}
        tensors |= {f"{_REFERENCE}{k}": v for k, v in self.reference.weights().items()}
        return tensors | {f"{_OPTIMISER}{k}": v for k, v in self._optimiser.tensors().items()}

    def continuation(self) -> Continuation:
        """Return what the next iteration goes on with, as it is, not copied."""
        return Continuation(self._optimiser.tensors(), self.controllers)

    def _set_tensors(self, tensors: Mapping[str, Tensor], source: str) -> None:
        weights = {k.removeprefix(_NETWORK): v for k, v in tensors.items() if k.startswith(_NETWORK)}
        try:
            self.network.load_state_dict(weights)
        except RuntimeError as error:
            raise DataError(f"{source} does not fit the network: {error}") from error
        self.reference.set_weights(
            {k.removeprefix(_REFERENCE): v for k, v in tensors.items() if k.startswith(_REFERENCE)}
        )
        self._optimiser.set_tensors(
            {k.removeprefix(_OPTIMISER): v for k, v in tensors.items() if k.startswith(_OPTIMISER)}, source
        )

    @property
    def _device(self) -> torch.device:
        return next(self.network.parameters()).device

    def _measure_memory(self) -> None:
        device = self._device
        metrics.GPU_MEMORY.set(torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0)

    def _save(self) -> None:
        self._measure_memory()
        state = TrainingState(
            update=self.update,
            rate_multiplier=self._rate_multiplier,
            rollbacks=self.rollbacks,
            controllers=self.controllers,
            kept_controllers=self._kept_controllers,
            marks={**self.marks, _CPU_SECONDS: self.cpu_seconds},
            latest=self.latest,
            curve=self.curve.kept,
            curve_stride=self.curve.stride,
            snapshots=self.snapshots,
            met=self.met,
            evaluations=self.evaluations,
        )
        kept = {_NOW: self._tensors(), **self._snapshots}
        self._checkpoints.save(state, {f"{name}/{k}": v for name, tensors in kept.items() for k, v in tensors.items()})
        self.saved_round = self.round

    def _resume(self) -> None:
        found = self._checkpoints.load()
        if found is None:
            return
        state, tensors = found
        device = self._device
        for key, tensor in tensors.items():
            name, _, rest = key.partition("/")
            self._snapshots.setdefault(name, {})[rest] = tensor if rest.endswith("/step") else tensor.to(device)
        self._set_tensors(self._snapshots.pop(_NOW, {}), "the checkpoint")
        self.update, self.rollbacks = state.update, state.rollbacks
        self.controllers = dict(state.controllers)
        self._kept_controllers = {name: dict(kept) for name, kept in state.kept_controllers.items()}
        self.marks, self.latest = dict(state.marks), dict(state.latest)
        self._cpu_seconds_before = self.marks.get(_CPU_SECONDS, 0.0)
        self.curve = Curve(state.curve, state.curve_stride)
        self.snapshots, self.met, self.evaluations = state.snapshots, state.met, state.evaluations
        self._rate_multiplier, self.saved_round = state.rate_multiplier, self.round
        _log.info("resumed from a checkpoint", update=self.update)
