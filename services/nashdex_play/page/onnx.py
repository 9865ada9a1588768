"""A network as ONNX, by torch's own exporter, for other stacks than torch.

Shapes: F observation values, A actions, C choices of the opponent, H sizes of a memory.

The file takes one decision at a time. A network that remembers also takes its memory, as inputs ``memory.0``, …, zero
at a battle's start; it returns the memory after the decision as ``next_memory.0``, …
"""

import copy
import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from nashdex.core.errors import ConfigurationError
from nashdex.core.extras import required
from nashdex.core.ids import PlayedPolicy
from nashdex.core.output_files import check_output, write_output
from nashdex.core.references import PolicyReference
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.networks.memory import Recurrence
from nashdex.policies.networks.pointer.entity_network import EntityNetwork, Read
from nashdex.policies.networks.values import expected
from nashdex.policies.references import resolve
from nashdex.policies.scripted.registry import is_scripted

OPSET_VERSION = 18


@dataclass(frozen=True, slots=True)
class ExportedNetwork:
    """The bytes of an ONNX file, and the sizes of its memory tensors."""

    onnx: bytes
    memory_sizes: tuple[int, ...]
    """H of each, (1, H); empty for a network that remembers nothing."""
    predicts_opponent: bool
    """Whether it has the output ``prediction``, (1, C)."""


class _OneStep(nn.Module):
    """A recurrence over one decision: ``before`` is put in, ``after`` is taken out."""

    def __init__(self, recurrence: Recurrence) -> None:
        super().__init__()
        self.gru = recurrence.gru
        self.before: Tensor | None = None
        self.after: Tensor | None = None

    def forward(self, context: Tensor, lengths: list[int]) -> Tensor:
        """Return the context and the state after it, (1, C + H)."""
        del lengths
        assert self.before is not None, "forward is called between putting in and taking out"
        self.after = torch.gru_cell(context, self.before, *self.gru.all_weights[0])
        return torch.cat((context, self.after), dim=1)


class _Exported(nn.Module):
    """Actor, critic and prediction of one decision, under fixed weights."""

    def __init__(self, network: ActorCritic) -> None:
        super().__init__()
        self.network = copy.deepcopy(network).eval().requires_grad_(requires_grad=False)
        self.steps = list(_replace_recurrences(self.network))

    def forward(self, observations: Tensor, *memory: Tensor) -> tuple[Tensor, ...]:
        for step, before in zip(self.steps, memory, strict=True):
            step.before = before
        outputs = self._outputs(observations)
        after = [step.after for step in self.steps if step.after is not None]
        for step in self.steps:  # traced tensors must not outlive the trace
            step.before = step.after = None
        return (*outputs, *after)

    def _outputs(self, observations: Tensor) -> tuple[Tensor, ...]:
        network = self.network
        if not isinstance(network, EntityNetwork):
            return network.logits(observations, network.fuse()), network.values(observations)
        read: Read[Any] = Read(network.actor_encoder.read(observations), [])
        logits, context = network.scores(read, network.fuse())
        outputs = (logits, expected(network.critic(read)))
        return outputs if network.opponent is None else (*outputs, network.opponent(context))


def export_network(network: ActorCritic) -> ExportedNetwork:
    """Return ``network`` as ONNX: float32, |Δ log π| and |Δ value| below 1e-4.

    Its input is ``observations`` (1, F); its outputs are ``logits`` before masking, (1, A), in a joint space as
    ``ActorCritic.logits``, ``values`` (1,), and where the network has the head ``prediction`` (1, C).

    Raises:
        ConfigurationError: torch cannot export this kind of network, or the packages that export are missing.
    """
    _check_packages()
    exported = _Exported(network)
    sizes = tuple(step.gru.hidden_size for step in exported.steps)
    predicts = isinstance(network, EntityNetwork) and network.opponent is not None
    example = (torch.zeros(1, network.space.observation_size), *(torch.zeros(1, h) for h in sizes))
    numbers = range(len(sizes))
    outputs = ["logits", "values", *(["prediction"] if predicts else []), *(f"next_memory.{i}" for i in numbers)]
    with torch.no_grad(), _quietly():
        try:
            program = torch.onnx.export(
                exported,
                example,
                input_names=["observations", *(f"memory.{i}" for i in numbers)],
                output_names=outputs,
                opset_version=OPSET_VERSION,
                dynamo=True,
                optimize=False,  # a runtime folds constants when it loads the file, which stays small
                verify=False,
                verbose=False,
            )
        except (torch.onnx.errors.OnnxExporterError, RuntimeError) as error:
            raise ConfigurationError(
                f"torch cannot export a network of kind {network.settings.kind!r} ({str(error).splitlines()[0]}); "
                "expected one of nashdex's own kinds"
            ) from error
        assert program is not None, "torch's exporter returns a program"
    return ExportedNetwork(program.model_proto.SerializeToString(), sizes, predicts)


def _check_packages() -> None:
    """Torch's exporter imports these, which torch does not bring."""
    for name in ("onnx", "onnxscript"):
        required(name, extra="export", needed_by="the export of a network")


def _replace_recurrences(module: nn.Module) -> Iterator[_OneStep]:
    """Let each recurrence below ``module`` take one step, and yield what takes it."""
    for name, child in module.named_children():
        if isinstance(child, Recurrence):
            step = _OneStep(child)
            setattr(module, name, step)
            yield step
        else:
            yield from _replace_recurrences(child)


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep the exporter's progress and its remarks on torch's own internals from the terminal."""
    names = ("torch.onnx", "onnxscript", "onnx_ir")
    levels = {name: logging.getLogger(name).level for name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            logging.getLogger(name).setLevel(logging.ERROR)
        try:
            yield
        finally:
            for name, level in levels.items():
                logging.getLogger(name).setLevel(level)


def export_files(text: str, onnx: Path) -> Path:
    """Write the policy that ``text`` names to ``onnx``, and its layout beside it; return the layout's file.

    Raises:
        ConfigurationError: it names no single stored network, or torch cannot export it.
        DataError: it is missing or altered, or a file cannot be written.
    """
    check_output(onnx, "--onnx")
    referred = resolve(PolicyReference.parse(text))
    (policy, *others) = referred.mixture
    if others or referred.store is None or is_scripted(policy):
        raise ConfigurationError(f"{text!r} is no stored network; expected one policy of a run, such as RUN#newest")
    document = read_document(referred.store, PlayedPolicy.of(policy).policy)
    exported = export_network(load_network(referred.store, document.id, document.space))
    layout = onnx.with_suffix(f"{onnx.suffix}.json")
    facts = {
        "policy": document.id,
        "name": document.name,
        "reward": document.reward,
        "memory_sizes": exported.memory_sizes,
        "space": document.space.model_dump(mode="json"),
    }
    files = {layout: json.dumps(facts, indent=1).encode() + b"\n", onnx: exported.onnx}
    write_output(files, "--onnx")
    return layout
