"""Optimiser steps that every algorithm shares: guarded, recorded, and resumable between any two."""

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import structlog
import torch
from torch import Tensor

from nashdex.core.errors import DataError
from nashdex.core.stopping import check_stop, stop_requested
from nashdex.learning.hardware import Precision, forward_passes
from nashdex.learning.references import Reference
from nashdex.learning.updates.checkpoint import Checkpoints, Continuation
from nashdex.learning.updates.optimiser import Optimiser, Rates
from nashdex.learning.updates.state import RunningMean, TrainingState
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.telemetry import metrics
from nashdex.telemetry.progress import Progress


@dataclass(frozen=True)
class Guard:
    """Limits of an update's measurements. Values that an algorithm does not measure are not judged."""

    max_gradient_norm: float = 1000.0
    """Largest norm of the gradient before it is scaled down. The critic's exceeds 100 at times in a long training."""
    max_clip_fraction: float = 0.6
    max_kl_nats: float = 1.0
    """Largest KL of the policy from the one that the round began with; sound updates stay below 0.2."""
    min_entropy_share: float = 0.5
    """Smallest share of the entropy when the state was last known to be good."""
    min_entropy_nats: float = 0.02
    """Below this, minibatches differ too much for a share to mean anything."""

    def is_sound(self, values: Mapping[str, float]) -> bool:
        """Say whether a state that measured ``values`` is good enough to return to: far from every limit.

        A state at the edge of a limit would only cross it again.
        """
        return (
            values.get("clip_fraction", 0.0) <= self.max_clip_fraction / 2
            and values.get("kl_round_start", 0.0) <= self.max_kl_nats / 2
        )

    def problem(self, values: Mapping[str, float], good_entropy: float | None) -> str | None:
        """Return the fault of an update with the measurements ``values``, or None.

        ``good_entropy`` is the entropy in nats of the last good state, if it is known.
        """
        return next(self._problems(values, good_entropy), None)

    def _problems(self, values: Mapping[str, float], good_entropy: float | None) -> Iterator[str]:
        for name, value in values.items():
            if not math.isfinite(value):
                yield f"{name} is {value}"
        norm, clipped, kl = (values.get(name, 0.0) for name in ("gradient_norm", "clip_fraction", "kl_round_start"))
        if norm > self.max_gradient_norm:
            yield f"the gradient's norm is {norm:.3g}, above {self.max_gradient_norm:g}"
        if clipped > self.max_clip_fraction:
            yield f"{clipped:.0%} of the ratios are clipped, above {self.max_clip_fraction:.0%}"
        if kl > self.max_kl_nats:
            yield f"the KL from the policy that the round began with is {kl:.3g} nats, above {self.max_kl_nats:g}"
        entropy = values.get("entropy")
        if entropy is None or good_entropy is None or good_entropy <= self.min_entropy_nats:
            return
        if entropy < self.min_entropy_share * good_entropy:
            yield f"entropy fell to {entropy:.3g} nats from {good_entropy:.3g} since the last good state"


_log = structlog.get_logger()

_NOW = "now"
_GOOD = "good"
_ROUND = "round"
_ACTING = "acting"
"""Names of kept states: the newest, the last good one, the one at the start of the round, the one that played the
round."""
_AVERAGED = ("entropy", "kl_round_start")
"""Values with a running mean."""
_NETWORK = "network/"
_REFERENCE = "reference/"
_OPTIMISER = "optimiser/"
"""Prefixes of tensors within a kept state."""


@dataclass(frozen=True)
class StepSettings:
    """Settings of optimiser steps, for every algorithm."""

    max_gradient_norm: float
    """The actor's and the critic's gradients are each scaled down to this global norm."""
    checkpoint_every_updates: int
    precision: Precision = "float32"
    """Precision of the forward passes of optimiser steps."""
    graphed_rows: int = 0
    """The most decisions of a minibatch, where a step is one minibatch; see ``forward_passes``."""


@dataclass
class Step:
    """One optimiser step: the sums over the parts of its loss. The parameters hold the sum of the gradients."""

    loss: float = 0.0
    measured: dict[str, float] = field(default_factory=dict)

    def backward(self, loss: Tensor, measured: Mapping[str, float]) -> None:
        """Add the gradients of a part of the loss, a scalar, free its graph, and add up what it ``measured``."""
        loss.backward()
        self.loss += float(loss.detach())
        for name, value in measured.items():
            self.measured[name] = self.measured.get(name, 0.0) + value


class Training:
    """A network in training. If the shard has a checkpoint, a new object resumes from it.

    Nothing random is kept here: orders follow from seeds and ``state``.
    """

    def __init__(
        self,
        network: ActorCritic,
        settings: StepSettings,
        checkpoints: Checkpoints,
        *,
        reference: Reference | None = None,
        guard: Guard | None = None,
        continuation: Continuation | None = None,
    ) -> None:
        self.network = network
        self.forward = forward_passes(network, settings.precision, settings.graphed_rows)
        """The network's forward passes, for losses."""
        self.reference = reference
        self.state = TrainingState()
        self.saved_round = 0
        """The round of the newest checkpoint."""
        self.cpu_seconds_of_attempt: Callable[[], float] = lambda: 0.0
        """Measures the CPU time of this attempt, of all processes that train and play, without evaluations."""
        self._cpu_seconds_before = 0.0
        self._settings = settings
        self.checkpoints = checkpoints
        self._guard = guard or Guard()
        self._optimiser = Optimiser(network)
        self._kept: dict[str, dict[str, Tensor]] = {}
        # Created at 0, so that the first one is an increase.
        metrics.NONFINITE_UPDATES.add(0)
        self._measure_memory()
        if continuation is not None:
            self._optimiser.set_tensors(continuation.optimiser, "the state that the iteration before left")
            self.state.controllers = dict(continuation.controllers)
        self._resume()
        if _GOOD not in self._kept:
            self.keep(_GOOD)
            self.keep_network(_ROUND)

    def begin_step(self) -> Step:
        """Begin an optimiser step: add the parts of its loss to it, then ``take`` it."""
        self.network.zero_grad(set_to_none=True)
        return Step()

    def take(self, step: Step, rates: Rates, progress: Progress) -> None:
        """Take one optimiser step, unless the guard objects: then restore the last good state and halve the step size.

        Raises:
            StoppedError: the process was asked to stop; a checkpoint was saved.
        """
        state, settings = self.state, self._settings
        norm = self._optimiser.clip_gradients(settings.max_gradient_norm)
        measured = {**state.latest, **step.measured, "gradient_norm": norm, "learning_rate": rates.actor}
        means = state.means | {
            name: state.means.get(name, RunningMean()).with_value(step.measured[name])
            for name in _AVERAGED
            if name in step.measured
        }
        # A single minibatch's entropy says little, so the guard judges the running mean.
        judged = {"loss": step.loss, **measured} | ({"entropy": means["entropy"].mean} if "entropy" in means else {})
        if problem := self._guard.problem(judged, state.good_entropy):
            if not all(map(math.isfinite, (step.loss, *measured.values()))):
                metrics.NONFINITE_UPDATES.add()
            self.roll_back(problem)
            measured = {}
        else:
            state.means = means
            if state.update % settings.checkpoint_every_updates == 0 and self._guard.is_sound(measured):
                # The step before this one did no harm.
                self.keep(_GOOD)
                if "entropy" in step.measured:
                    state.good_entropy = state.mean("entropy")
            self._optimiser.step(rates)
            if self.reference is not None:
                self.reference.follow(self.network)
            state.curve.add(state.update, measured)
        state.update += 1
        progress.advance(1, rollbacks=state.rollbacks, **measured)
        if state.update % settings.checkpoint_every_updates == 0 or stop_requested():
            self._save()
        check_stop()

    def check_round(self, values: Mapping[str, float]) -> bool:
        """Judge the state after a round's last step; return whether the last good one was restored."""
        problem = self._guard.problem(values, self.state.good_entropy)
        if problem:
            self.roll_back(problem)
        return problem is not None

    def roll_back(self, problem: str) -> None:
        """Restore the last good state and halve the step size from here on."""
        state = self.state
        self.restore(_GOOD)
        state.means = {}
        state.rollbacks += 1
        state.halve_guard_factor()
        _log.warning(
            f"update {state.update} was unstable: {problem}; restored the last good state and halved the step size",
            rollbacks=state.rollbacks,
            guard_factor=state.guard_factor,
        )

    def begin_round(self, entropy: float, num_decisions: int, *, played_ahead: bool = False) -> None:
        """Begin the next round with the current weights: the guard's good state from here on.

        See ``TrainingState.begin_round``.
        """
        self.state.begin_round(entropy, num_decisions, played_ahead=played_ahead)
        if played_ahead:
            self._kept[_ACTING] = self._kept[_ROUND]
        if self.reference is not None:
            self.reference.begin_round(self.network, self.state.round)
        self.keep(_GOOD)
        self.keep_network(_ROUND)

    def network_of_round(self) -> ActorCritic:
        """Return a copy of the network as it was at the start of the current round."""
        return self.kept_network(_ROUND)

    def network_that_acted(self) -> ActorCritic:
        """Return a copy of the network that played the current round, where rounds are played ahead."""
        return self.kept_network(_ACTING if self.has_kept(_ACTING) else _ROUND)

    def keep_network(self, name: str) -> None:
        """Keep a copy of the network's weights alone under ``name``; checkpoints keep it too."""
        self._kept[name] = {k: v.clone() for k, v in self._tensors().items() if k.startswith(_NETWORK)}

    def has_kept(self, name: str) -> bool:
        """Say whether a copy was kept under ``name``."""
        return name in self._kept

    def kept_network(self, name: str) -> ActorCritic:
        """Return a copy of the network as it was kept under ``name``."""
        network = copy.deepcopy(self.network)
        network.load_state_dict({k.removeprefix(_NETWORK): v for k, v in self._kept[name].items()})
        return network

    def keep(self, name: str) -> None:
        """Keep a copy of weights, optimiser, reference and controllers under ``name``; checkpoints keep it too."""
        self._kept[name] = {key: tensor.clone() for key, tensor in self._tensors().items()}
        self.state.kept_controllers[name] = dict(self.state.controllers)

    def restore(self, name: str) -> None:
        """Return to the copy that was kept under ``name``."""
        self._set_tensors(self._kept[name], name)
        self.state.controllers = dict(self.state.kept_controllers[name])

    def go_on_from(self, name: str) -> None:
        """Return to the copy that was kept under ``name``: the guard's good state from here on."""
        self.restore(name)
        self.keep(_GOOD)

    def continuation(self) -> Continuation:
        """Return what the next iteration goes on with, as it is, not copied."""
        return Continuation(self._optimiser.tensors(), self.state.controllers)

    @property
    def device(self) -> torch.device:
        """Where the network computes."""
        return next(self.network.parameters()).device

    @property
    def cpu_seconds(self) -> float:
        """CPU time of this attempt, and of earlier ones up to their last checkpoint."""
        return self._cpu_seconds_before + self.cpu_seconds_of_attempt()

    def _tensors(self) -> dict[str, Tensor]:
        """Return the state of weights, reference and Adam by name, as it is, not copied."""
        tensors: dict[str, Tensor] = {f"{_NETWORK}{k}": v.detach() for k, v in self.network.state_dict().items()}
        if self.reference is not None:
            tensors |= {f"{_REFERENCE}{k}": v for k, v in self.reference.weights().items()}
        return tensors | {f"{_OPTIMISER}{k}": v for k, v in self._optimiser.tensors().items()}

    def _set_tensors(self, tensors: Mapping[str, Tensor], source: str) -> None:
        def part(prefix: str) -> dict[str, Tensor]:
            return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}

        try:
            self.network.load_state_dict(part(_NETWORK))
        except RuntimeError as error:
            raise DataError(f"{source} does not fit the network: {error}") from error
        if self.reference is not None:
            self.reference.set_weights(part(_REFERENCE))
        self._optimiser.set_tensors(part(_OPTIMISER), source)

    def _measure_memory(self) -> None:
        device = self.device
        metrics.GPU_MEMORY.set(torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0)

    def _save(self) -> None:
        self._measure_memory()
        self.state.cpu_seconds = self.cpu_seconds
        kept = {_NOW: self._tensors(), **self._kept}
        tensors = {f"{name}/{k}": tensor for name, state in kept.items() for k, tensor in state.items()}
        self.checkpoints.save(self.state, tensors)
        self.saved_round = self.state.round

    def _resume(self) -> None:
        found = self.checkpoints.load()
        if found is None:
            return
        self.state, tensors = found
        device = self.device
        for key, tensor in tensors.items():
            name, _, rest = key.partition("/")
            self._kept.setdefault(name, {})[rest] = tensor if rest.endswith("/step") else tensor.to(device)
        self._set_tensors(self._kept.pop(_NOW, {}), "the checkpoint")
        self._cpu_seconds_before, self.saved_round = self.state.cpu_seconds, self.state.round
        _log.info("resumed from a checkpoint", update=self.state.update)
