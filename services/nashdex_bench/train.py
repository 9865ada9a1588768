"""How fast training is, beside the same steps of the same network in bare torch."""

import copy
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from statistics import median

import torch
from pydantic import Field, PositiveFloat, PositiveInt
from torch import Tensor

from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError
from nashdex.games.registry import showdown_game
from nashdex.games.showdown.game import ShowdownGame
from nashdex.learning.devices import check_cuda
from nashdex.learning.experience.batching import make_batch
from nashdex.learning.experience.data import fresh_network, prepare_torch
from nashdex.learning.rounds.planned import NEWEST
from nashdex.oracles.ppo.loss import PREDICTION_COEFFICIENT
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.masked import entropy, masked_log_softmax
from nashdex.policies.networks.actor_critic import ActorCritic, Outputs
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import BATTLES_PER_GATEWAY
from nashdex.settings.networks import NetworkSettings
from nashdex.settings.ppo import PpoSettings
from nashdex.trajectory.episode import Episode
from nashdex_bench.training import Device, open_training, seconds, self_play


class TrainBenchResult(Model):
    """Medians over the repetitions. A sample is one decision in one epoch.

    Times are CPU time, user and system; on a GPU, wall time until it has computed everything.
    """

    format: str
    device: Device
    network: str = Field(description="Kind of network.")
    num_parameters: PositiveInt
    num_decisions: PositiveInt = Field(description="Decisions of one round.")
    num_epochs: PositiveInt
    minibatch_decisions: PositiveInt
    repetitions: PositiveInt
    samples_per_second: PositiveFloat = Field(
        description="A whole PPO round: batch, targets, epochs, and the measurements at its end."
    )
    bare_samples_per_second: PositiveFloat = Field(
        description="Forward pass, loss, backward pass and Adam, on the same minibatches, in plain torch: of the same "
        "outputs, with the same auxiliary loss."
    )
    efficiency: PositiveFloat = Field(description="Median over the repetitions of the first over the second.")
    efficiencies: tuple[PositiveFloat, ...]
    parts: dict[str, float] = Field(
        description="Share of each part in the time of all rounds: the batch, the values and advantages, the epochs, "
        "the measurements at their end."
    )
    compiled_samples_per_second: PositiveFloat | None = Field(
        None, description="The steps in bare torch with `torch.compile`, once it has compiled."
    )
    compiled_speedup: PositiveFloat | None = Field(
        None, description="Median over the repetitions of that over bare torch without."
    )


def lines(result: TrainBenchResult) -> Iterator[str]:
    """Yield the result as text."""
    second = "CPU-second" if result.device == "cpu" else "second on the GPU"
    yield (
        f"{result.network}, {result.num_parameters:,} parameters: {result.samples_per_second:,.0f} samples a "
        f"{second} in training, {result.bare_samples_per_second:,.0f} in bare torch; "
        f"efficiency {result.efficiency:.2f}"
    )
    yield "of a round: " + ", ".join(f"{part} {share:.1%}" for part, share in result.parts.items())
    if result.compiled_speedup is not None:
        yield (
            f"with torch.compile: {result.compiled_samples_per_second:,.0f} samples a {second} in bare torch, "
            f"{result.compiled_speedup:.2f} times as fast"
        )


def run_train_bench(
    format_id: str,
    network: NetworkSettings,
    settings: PpoSettings,
    *,
    battles: int = 200,
    repetitions: int = 3,
    device: Device = "cpu",
    compiles: bool = False,
) -> TrainBenchResult:
    """Play a round of ``battles`` by a fresh network with itself on the CPU, and learn from it both ways in turn.

    Args:
        format_id: Showdown format.
        network: kind and sizes.
        settings: of PPO.
        battles: of the round.
        repetitions: of all measurements.
        device: where to learn.
        compiles: also learn from it in bare torch with ``torch.compile``.

    Raises:
        ConfigurationError: it is not a Showdown format, the network does not fit it, or Node, the gateway's package, a
            compiler or the GPU is missing.
    """
    check_cuda(device, "--device", "leave the option out")
    if compiles:
        _require_compiler()
    game = showdown_game(format_id)
    prepare_torch(device, 1)
    with Session(game.open_arena(num_gateways=1), BATTLES_PER_GATEWAY) as session:
        start = fresh_network(session.space, network, seed=0)
        session.policies[NEWEST] = NetworkPolicy(NEWEST, start)
        episodes = [
            episode
            for finished in session.play(islice(self_play(game), battles))
            for episode in finished.episodes
            if len(episode)
        ]
    start = start.to(device)
    num_samples = settings.num_epochs * sum(len(episode) for episode in episodes)
    ours, bare, compiled = [], [], []
    by_part: dict[str, float] = {}
    if compiles:
        to_compile = copy.deepcopy(start)
        outputs = torch.compile(to_compile.outputs)
        _seconds_of_bare(to_compile, outputs, episodes, settings)  # compiles
    for _ in range(repetitions):
        of_round = _seconds_of_round(game, copy.deepcopy(start), episodes, settings)
        by_part = {part: by_part.get(part, 0.0) + spent for part, spent in of_round.items()}
        ours.append(num_samples / sum(of_round.values()))
        plain = copy.deepcopy(start)
        bare.append(num_samples / _seconds_of_bare(plain, plain.outputs, episodes, settings))
        if compiles:
            compiled.append(num_samples / _seconds_of_bare(to_compile, outputs, episodes, settings))
    efficiencies = tuple(one / other for one, other in zip(ours, bare, strict=True))
    return TrainBenchResult(
        format=game.format,
        device=device,
        network=network.kind,
        num_parameters=start.num_parameters,
        num_decisions=num_samples // settings.num_epochs,
        num_epochs=settings.num_epochs,
        minibatch_decisions=settings.minibatch_decisions,
        repetitions=repetitions,
        samples_per_second=median(ours),
        bare_samples_per_second=median(bare),
        efficiency=median(efficiencies),
        efficiencies=efficiencies,
        parts={part: spent / sum(by_part.values()) for part, spent in by_part.items()},
        compiled_samples_per_second=median(compiled) if compiled else None,
        compiled_speedup=median(one / other for one, other in zip(compiled, bare, strict=True)) if compiled else None,
    )


def _require_compiler() -> None:
    """Check that torch finds a C++ compiler.

    Raises:
        ConfigurationError: there is none.
    """
    if not any(shutil.which(name) for name in (os.environ.get("CXX", "g++"), "clang++")):
        raise ConfigurationError("torch.compile needs a C++ compiler, and there is no g++ or clang++ here; install one")


def _seconds_of_round(
    game: ShowdownGame, network: ActorCritic, episodes: Sequence[Episode], settings: PpoSettings
) -> Mapping[str, float]:
    """Return the seconds of a PPO round as training has it, by part."""
    with open_training(game, network, settings) as training:
        training.learn(episodes)
        return training.seconds_by_part


def _seconds_of_bare(
    network: ActorCritic,
    outputs: Callable[[Tensor], Outputs],
    episodes: Sequence[Episode],
    settings: PpoSettings,
) -> float:
    """Return the seconds of as many PPO steps with nothing around them. ``outputs`` is the network's, or compiled."""
    device = next(network.parameters()).device
    batch = make_batch(episodes, device, num_slots=network.space.num_slots, remembers=network.remembers)
    advantages, returns = (torch.randn(len(batch), device=device) for _ in range(2))
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
    began = seconds(device.type)
    for epoch in range(settings.num_epochs):
        for rows in batch.minibatches(settings.minibatch_decisions, epoch):
            part = batch.rows(rows)
            logits, values, prediction = outputs(part.observations)
            log_probs = masked_log_softmax(logits, part.masks)
            ratio = (log_probs.gather(1, part.actions[:, None]).squeeze(1) - part.log_probs).exp()
            clipped = ratio.clamp(1 - settings.clip_range, 1 + settings.clip_range)
            surrogate = torch.minimum(ratio * advantages[rows], clipped * advantages[rows]).mean()
            value_loss = (values - returns[rows]).square().mean()
            loss = value_loss - surrogate - 0.01 * entropy(log_probs, part.masks).mean()
            if prediction is not None:
                labels = part.actions % prediction.shape[1]  # their meaning does not matter to the time
                loss = loss + PREDICTION_COEFFICIENT * torch.nn.functional.cross_entropy(prediction, labels)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
    return seconds(device.type) - began
