"""Exported policies: onnxruntime computes what torch does, on decisions of real battles, for every kind of network."""

import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from nashdex.cli import run_command_line
from nashdex.core.ids import PolicyId
from nashdex.games.registry import showdown_game
from nashdex.games.space import Space
from nashdex.page.onnx import ExportedNetwork, export_network
from nashdex.policies.archive import save_policy
from nashdex.policies.joint import padded
from nashdex.policies.masked import masked_log_softmax
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.policies.networks.kinds import NETWORKS
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.session import Session
from nashdex.store import open_store
from nashdex.trajectory.episode import Episode

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SINGLES, DOUBLES = "gen1randombattle", "gen9vgc2024regg"
RANDOM = PolicyId("random")
TOLERANCE = 1e-4
Played = dict[str, tuple[Space, list[Episode]]]


@pytest.fixture(scope="module")
def played() -> Played:
    """Both seats of random battles, by format."""
    return {format_id: play(format_id) for format_id in (SINGLES, DOUBLES)}


def play(format_id: str, num_battles: int = 4) -> tuple[Space, list[Episode]]:
    game = showdown_game(format_id)
    paired = PairedBattles(1, game.teams(), 300.0)
    battles = (
        paired.assignment(number, (RANDOM, RANDOM), record=True, record_opponent=True) for number in range(num_battles)
    )
    with Session(game.open_arena(num_gateways=1), num_battles) as session:
        session.load(open_store("."), [RANDOM])
        episodes = [episode for finished in session.play(battles) for episode in finished.episodes]
        return session.space, episodes


def network_of(space: Space, kind: str, **sizes: int) -> ActorCritic:
    """Return a network whose choices are far from uniform."""
    torch.manual_seed(3)
    network = make_network(space, NETWORKS[kind].settings(kind=kind, **sizes))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.05)
    return network


def run_file(
    exported: ExportedNetwork, observations: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return logits and values of one battle's decisions in order."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(exported.onnx, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    memory = [np.zeros((1, size), np.float32) for size in exported.memory_sizes]
    logits, values = [], []
    for observation in observations:
        feeds = {"observations": observation[None], **{f"memory.{i}": state for i, state in enumerate(memory)}}
        found = dict(zip(names, session.run(None, feeds), strict=True))
        memory = [found[f"next_memory.{i}"] for i in range(len(memory))]
        logits.append(found["logits"][0])
        values.append(found["values"][0])
    return np.stack(logits), np.array(values)


def whole_battle(network: ActorCritic, observations: NDArray[np.float32]) -> tuple[Tensor, Tensor]:
    """Return what training computes of one battle's decisions."""
    inputs = torch.from_numpy(observations)
    if network.remembers:
        inputs = torch.cat((inputs, torch.arange(len(inputs), dtype=torch.float32).unsqueeze(1)), dim=1)
    with torch.no_grad():
        return network(inputs)


@pytest.mark.parametrize(
    ("format_id", "kind", "sizes"),
    [
        (SINGLES, "pointer", {}),
        (SINGLES, "slots", {}),
        (SINGLES, "memory", {}),
        (SINGLES, "transformer", {}),
        (SINGLES, "transformer", {"memory_size": 16}),
        (DOUBLES, "pointer-pairs", {}),
    ],
)
def test_a_file_computes_what_the_network_does(
    played: Played, format_id: str, kind: str, sizes: dict[str, int]
) -> None:
    space, episodes = played[format_id]
    network = network_of(space, kind, **sizes)
    exported = export_network(network)
    assert bool(exported.memory_sizes) == network.remembers
    for episode in episodes:
        observations = np.ascontiguousarray(episode.observations)
        logits, values = run_file(exported, observations)
        expected_logits, expected_values = whole_battle(network, observations)
        legal = torch.from_numpy(padded(episode.legal) if space.num_slots > 1 else episode.legal.mask)
        found = masked_log_softmax(torch.from_numpy(logits), legal)
        expected = masked_log_softmax(expected_logits, legal)
        # Equal where both are −∞, which has no difference.
        assert torch.allclose(found, expected, rtol=0.0, atol=TOLERANCE)
        assert np.abs(values - expected_values.numpy()).max() < TOLERANCE


def test_the_command_writes_the_file_and_the_layout(played: Played, tmp_path: Path) -> None:
    space, _ = played[SINGLES]
    network = network_of(space, "slots")
    policy = save_policy(
        open_store(str(tmp_path / "store")),
        network,
        name="made",
        parent=None,
        iteration=0,
        oracle="clone",
        reward="win-loss",
        reward_version="1",
    )
    file = tmp_path / "policy.onnx"
    assert run_command_line(["policy", "export", f"{tmp_path / 'store'}#{policy}", "--onnx", str(file)]) == 0
    layout = json.loads(file.with_suffix(".onnx.json").read_text("utf-8"))
    assert layout["policy"] == policy
    assert Space.model_validate(layout["space"]) == space
    assert onnxruntime.InferenceSession(file.read_bytes()).get_inputs()[0].shape == [1, space.observation_size]
