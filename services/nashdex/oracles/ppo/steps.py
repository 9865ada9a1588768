"""The gradient of one optimiser step of PPO, computed by one process or shared among several.

An optimiser step has ``train.oracle.accumulate`` minibatches. Process r of n computes every n-th of them, from the r-th
on; their gradients and measurements are added up. So n processes learn what one learns, up to the order of sums, and
process 0 alone decides about guard, controllers, schedules and the ends of rounds.

Before each step, the others get the weights from process 0, so that a restored or resumed state is theirs too.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol

import torch
from torch import Tensor

from nashdex.core.errors import InternalError
from nashdex.learning.damping.interface import Coefficients
from nashdex.learning.experience.batching import Batch, Shares
from nashdex.learning.hardware.forward import Forward
from nashdex.learning.hardware.memory import is_out_of_memory
from nashdex.learning.hardware.process_group import ProcessGroup
from nashdex.learning.references import Reference
from nashdex.learning.updates.gradients import Gradients
from nashdex.oracles.ppo.loss import Targets, critic_loss, ppo_loss
from nashdex.oracles.ppo.settings import PpoSettings
from nashdex.policies.networks.actor_critic import ActorCritic

ROUND: Final = "round"
STEP: Final = "step"
Parts = Sequence[tuple[Tensor, Shares]]
"""The minibatches of an optimiser step: row numbers, and their shares of the step."""
Add = Callable[[Tensor, Mapping[str, float]], dict[str, float]]
"""Adds the gradient of a part of a step's loss; ``Gradients.add``."""
_MAX_VALUES = 32
_FAILURES = ("an error", "too little memory")
"""Why a process could not compute its part, by code. The codes are counted beside the values."""


@dataclass(frozen=True)
class StepLoss:
    """What an optimiser step minimises."""

    coefficients: Coefficients | None
    """None: the critic alone learns."""
    clip_range: float

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "StepLoss":
        """Return what ``to_document`` described."""
        coefficients = document["coefficients"]
        return cls(None if coefficients is None else Coefficients(**coefficients), document["clip_range"])


@dataclass(frozen=True)
class Learner:
    """What a process computes gradients with."""

    forward: Forward
    reference: Reference | None
    settings: PpoSettings

    def add_parts(self, add: Add, batch: Batch, targets: Targets, parts: Parts, loss: StepLoss) -> dict[str, float]:
        """Add the gradients of ``parts``; return the sums of what they measured."""
        measured: dict[str, float] = {}
        for rows, shares in parts:
            part = batch.rows(rows), targets.rows(rows, batch.device)
            if loss.coefficients is None:
                measured = add(*critic_loss(self.forward, *part, shares))
            else:
                measured = add(
                    *ppo_loss(
                        self.forward,
                        *part,
                        self.reference,
                        loss.coefficients,
                        self.settings,
                        loss.clip_range,
                        shares,
                    )
                )
        return measured


class Steps(Protocol):
    """Computes the gradients of optimiser steps. This is the whole of the surface."""

    @property
    def cpu_seconds(self) -> float:
        """CPU time of the other processes that compute, since they started."""

    def begin_round(self, batch: Batch, targets: Targets) -> None:
        """Learn from these decisions from here on."""

    def compute(
        self, learner: Learner, gradients: Gradients, batch: Batch, targets: Targets, parts: Parts, loss: StepLoss
    ) -> dict[str, float]:
        """Compute the gradients of one step; return what it measured."""


class OwnSteps:
    """Computes every minibatch in this process."""

    cpu_seconds: Final = 0.0

    def begin_round(self, batch: Batch, targets: Targets) -> None:
        """Do nothing."""

    def compute(
        self, learner: Learner, gradients: Gradients, batch: Batch, targets: Targets, parts: Parts, loss: StepLoss
    ) -> dict[str, float]:
        """Compute the gradients of one step; return what it measured."""
        return learner.add_parts(gradients.add, batch, targets, parts, loss)


OWN_STEPS: Final = OwnSteps()


class SharedSteps:
    """Process 0's side: computes its part, and has the other processes of ``group`` compute theirs."""

    def __init__(self, group: ProcessGroup, network: ActorCritic, reference: Reference | None) -> None:
        self._group = group
        self._network = network
        self._reference = reference
        self.cpu_seconds = 0.0

    def begin_round(self, batch: Batch, targets: Targets) -> None:
        """Send the round's decisions to the other processes."""
        named = {**_tensors_of(batch), **_tensors_of(targets)}
        self._group.send({"kind": ROUND, "names": list(named), "remembers": batch.remembers}, list(named.values()))

    def compute(
        self, learner: Learner, gradients: Gradients, batch: Batch, targets: Targets, parts: Parts, loss: StepLoss
    ) -> dict[str, float]:
        """Compute the gradients of one step together; return what all parts of it measured."""
        header = {"kind": STEP, "loss": loss.to_document(), "shares": [asdict(shares) for _, shares in parts]}
        self._group.send(header, [rows for rows, _ in parts])
        share_weights(self._group, self._network, self._reference)
        measured = learner.add_parts(gradients.add, batch, targets, parts[:: self._group.size], loss)
        names = sorted(measured)
        values = (gradients.total_loss, 0.0, *(measured[name] for name in names))
        (loss_sum, others_cpu_seconds, *sums), failures = add_up(self._group, self._network, values)
        for reason, count in zip(_FAILURES, failures, strict=True):
            if count and reason == _FAILURES[1]:
                raise torch.OutOfMemoryError(f"{reason} in {count:.0f} of the other processes")
            if count:
                raise InternalError(
                    f"{reason} in {count:.0f} of the other processes of this training, whose messages are above"
                )
        self.cpu_seconds = others_cpu_seconds
        summed = dict(zip(names, sums, strict=False))
        gradients.replace(loss_sum, summed)
        return summed


class WorkerSteps:
    """The side of a process other than 0: does what it is asked to, until it is ended."""

    def __init__(self, group: ProcessGroup, network: ActorCritic, learner: Learner, device: torch.device) -> None:
        self._group = group
        self._network = network
        self._learner = learner
        self._device = device
        self._batch: Batch | None = None
        self._targets: Targets | None = None

    def serve(self) -> None:
        """Compute parts of steps until one fails."""
        while True:
            header, tensors = self._group.receive()
            if header["kind"] == ROUND:
                self._begin_round(header, dict(zip(header["names"], tensors, strict=True)))
            else:
                self._compute(StepLoss.from_document(header["loss"]), header["shares"], tensors)

    def _begin_round(self, header: Mapping[str, Any], named: Mapping[str, Tensor]) -> None:
        self._batch = Batch(
            **{name: named.get(name) for name in _BATCH},  # type: ignore[arg-type]
            device=self._device,
            remembers=header["remembers"],
        )
        self._targets = Targets(**{name: named.get(name) for name in _TARGETS})  # type: ignore[arg-type]

    def _compute(self, loss: StepLoss, shares: Iterable[Mapping[str, float]], rows: Sequence[Tensor]) -> None:
        assert self._batch is not None, "a round comes before its steps"
        assert self._targets is not None, "a round comes before its steps"
        share_weights(self._group, self._network, self._learner.reference)
        parts = [(part, Shares(**share)) for part, share in zip(rows, shares, strict=True)]
        gradients = Gradients(self._network)
        gradients.clear()
        try:
            own = parts[self._group.rank :: self._group.size]
            measured = self._learner.add_parts(gradients.add, self._batch, self._targets, own, loss)
        except Exception as error:
            gradients.clear()
            add_up(self._group, self._network, [], failure=_FAILURES[int(is_out_of_memory(error))])
            raise
        values = (gradients.total_loss, time.process_time(), *(measured[name] for name in sorted(measured)))
        add_up(self._group, self._network, values)


def share_weights(group: ProcessGroup, network: ActorCritic, reference: Reference | None) -> None:
    """Give all processes the weights of process 0, those of a reference that moves included."""
    group.share(list(network.parameters()))
    moving = {} if reference is None else reference.weights()
    if reference is not None and moving:
        group.share(list(moving.values()))
        if group.rank:
            reference.set_weights({name: tensor.clone() for name, tensor in moving.items()})


def add_up(
    group: ProcessGroup, network: ActorCritic, values: Sequence[float], failure: str | None = None
) -> tuple[list[float], list[float]]:
    """Add up gradients and ``values`` over all processes; return the sums, and how many failed by reason.

    A parameter without a gradient in this process keeps none.
    """
    assert len(values) <= _MAX_VALUES, "more values than a step measures"
    numbers = torch.zeros(len(_FAILURES) + _MAX_VALUES, dtype=torch.float64)
    numbers[len(_FAILURES) : len(_FAILURES) + len(values)] = torch.tensor(values, dtype=torch.float64)
    if failure is not None:
        numbers[_FAILURES.index(failure)] = 1
    group.add_up(numbers)
    parameters = list(network.parameters())
    joined = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters])
    group.add_up(joined)
    for parameter, part in zip(parameters, torch.split(joined, [p.numel() for p in parameters]), strict=True):
        if parameter.grad is not None:
            parameter.grad.copy_(part.view_as(parameter))
    sums = numbers.tolist()
    return sums[len(_FAILURES) :], sums[: len(_FAILURES)]


_BATCH: Final = ("observations", "masks", "actions", "log_probs", "opponent_choices")
_TARGETS: Final = ("advantages", "returns", "behaviour")


def _tensors_of(part: Batch | Targets) -> dict[str, Tensor]:
    names = _BATCH if isinstance(part, Batch) else _TARGETS
    found = {name: getattr(part, name) for name in names}
    return {name: tensor for name, tensor in found.items() if tensor is not None}
