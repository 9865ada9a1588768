"""Exported policies: onnxruntime and the page compute what torch does, on real decisions, for every kind of network."""

import json
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from nashdex.core.ids import PolicyId
from nashdex.games.registry import showdown_game
from nashdex.games.showdown.gateway import find_node, load_gateway_settings
from nashdex.games.space import Space
from nashdex.policies.archive import save_policy
from nashdex.policies.masked import masked_log_softmax, padded
from nashdex.policies.networks.actor_critic import ActorCritic, Outputs, make_network
from nashdex.policies.networks.kinds import NETWORKS
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.session import Session
from nashdex.store import open_store
from nashdex.trajectory.episode import Episode
from nashdex_cli.cli import run_command_line
from nashdex_play.page.bundle import page_directory
from nashdex_play.page.onnx import ExportedNetwork, export_network

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SINGLES, DOUBLES = "gen1randombattle", "gen9vgc2024regg"
RANDOM = PolicyId("random")
TOLERANCE = 1e-4
NUM_DECISIONS = 250
TIMEOUT_SECONDS = 1200
NUM_BATTLES = {SINGLES: 4, DOUBLES: 15}


@cache
def play(format_id: str) -> tuple[Space, list[Episode]]:
    """Return both seats of random battles."""
    num_battles = NUM_BATTLES[format_id]
    game = showdown_game(format_id)
    paired = PairedBattles(1, game.teams(), 300.0)
    battles = (
        paired.assignment(number, (RANDOM, RANDOM), record=True, record_opponent=True) for number in range(num_battles)
    )
    with Session(game.open_arena(num_gateways=1), num_battles) as session:
        session.load(open_store("."), [RANDOM])
        episodes = [episode for finished in session.play(battles) for episode in finished.episodes]
        return session.space, episodes


def first_decisions(episodes: list[Episode]) -> list[Episode]:
    """Return the first whole battles of a seat that have enough decisions."""
    total, chosen = 0, []
    for episode in episodes:
        if total < NUM_DECISIONS:
            chosen.append(episode)
            total += len(episode)
    assert total >= NUM_DECISIONS
    return chosen


def network_of(space: Space, kind: str, **sizes: int) -> ActorCritic:
    """Return a network whose choices are far from uniform."""
    torch.manual_seed(3)
    network = make_network(space, NETWORKS[kind].settings(kind=kind, **sizes))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.05)
    return network


def run_file(exported: ExportedNetwork, observations: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    """Return the outputs of one battle's decisions in order, without memories."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(exported.onnx, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    memory = [np.zeros((1, size), np.float32) for size in exported.memory_sizes]
    rows = []
    for observation in observations:
        feeds = {"observations": observation[None], **{f"memory.{i}": state for i, state in enumerate(memory)}}
        found = dict(zip(names, session.run(None, feeds), strict=True))
        memory = [found[f"next_memory.{i}"] for i in range(len(memory))]
        rows.append(found)
    return {name: np.stack([found[name][0] for found in rows]) for name in names if not name.startswith("next_memory")}


def mask_of(space: Space, episode: Episode) -> Tensor:
    """Return the legal actions of a battle's decisions, as ``masked_log_softmax`` takes them."""
    return torch.from_numpy(padded(episode.legal) if space.num_slots > 1 else episode.legal.mask)


def whole_battle(network: ActorCritic, observations: NDArray[np.float32]) -> Outputs:
    """Return what training computes of one battle's decisions."""
    inputs = torch.from_numpy(observations)
    if network.remembers:
        inputs = torch.cat((inputs, torch.arange(len(inputs), dtype=torch.float32).unsqueeze(1)), dim=1)
    with torch.no_grad():
        return network.outputs(inputs)


def predicted(outputs: Outputs) -> NDArray[np.float64] | None:
    """Return log-probabilities of the opponent's choices, (T, C); None without a head."""
    return None if outputs.prediction is None else outputs.prediction.double().log_softmax(dim=1).numpy()


each_kind = pytest.mark.parametrize(
    ("format_id", "kind", "sizes"),
    [
        (SINGLES, "pointer", {"predicts_opponent": True}),
        (SINGLES, "slots", {}),
        (SINGLES, "memory", {"predicts_opponent": True, "value_bins": 51}),
        (SINGLES, "memory", {"predicts_opponent": True, "estimates_damage": True}),
        (SINGLES, "transformer", {}),
        (SINGLES, "transformer", {"memory_size": 16, "predicts_opponent": True}),
        (DOUBLES, "pointer-pairs", {}),
        (DOUBLES, "pointer-pairs", {"estimates_damage": True}),
    ],
)


@each_kind
def test_a_file_computes_what_the_network_does(format_id: str, kind: str, sizes: dict[str, int]) -> None:
    space, episodes = play(format_id)
    episodes = first_decisions(episodes)
    network = network_of(space, kind, **sizes)
    exported = export_network(network)
    assert bool(exported.memory_sizes) == network.remembers
    for episode in episodes:
        observations = np.ascontiguousarray(episode.observations)
        outputs = run_file(exported, observations)
        expected_outputs = whole_battle(network, observations)
        legal = mask_of(space, episode)
        found = masked_log_softmax(torch.from_numpy(outputs["logits"]), legal)
        expected = masked_log_softmax(expected_outputs.logits, legal)
        # Equal where both are −∞, which has no difference.
        assert torch.allclose(found, expected, rtol=0.0, atol=TOLERANCE)
        assert np.abs(outputs["values"] - expected_outputs.values.numpy()).max() < TOLERANCE
        prediction = predicted(expected_outputs)
        assert (prediction is not None) == ("prediction" in outputs) == network.predicts_opponent
        if prediction is not None:
            of_file = torch.from_numpy(outputs["prediction"]).double().log_softmax(dim=1).numpy()
            assert np.abs(of_file - prediction).max() < TOLERANCE


@each_kind
def test_the_page_computes_what_the_network_does(
    tmp_path: Path, format_id: str, kind: str, sizes: dict[str, int]
) -> None:
    """The page's own engine: WebAssembly, its memory of a battle, and its choice among legal actions."""
    if not (page_directory() / "node_modules").is_dir():
        pytest.skip("the page's packages are not installed: run `make node-test` once")
    space, episodes = play(format_id)
    chosen = first_decisions(episodes)
    network = network_of(space, kind, **sizes)
    exported = export_network(network)
    (tmp_path / "network.onnx").write_bytes(exported.onnx)
    (tmp_path / "observations.f32").write_bytes(np.concatenate([e.observations for e in chosen]).tobytes())
    legal = [[episode.legal[row].tolist() for row in range(len(episode))] for episode in chosen]
    asked = {"space": space.model_dump(mode="json"), "memory_sizes": exported.memory_sizes, "battles": legal}
    (tmp_path / "asked.json").write_text(json.dumps(asked))
    script = page_directory() / "test" / "parity.js"
    subprocess.run([find_node(load_gateway_settings()), script, tmp_path], check=True, timeout=TIMEOUT_SECONDS)
    answers = iter(json.loads((tmp_path / "answers.json").read_text()))
    for episode in chosen:
        outputs = whole_battle(network, episode.observations)
        expected = masked_log_softmax(outputs.logits, mask_of(space, episode)).numpy()
        prediction = predicted(outputs)
        for row, (log_probs, value) in enumerate(zip(expected, outputs.values.tolist(), strict=True)):
            answer, actions = next(answers), episode.legal[row]
            of_legal = log_probs[: len(actions)] if space.num_slots > 1 else log_probs[actions]
            assert np.abs(np.array(answer["log_probs"]) - of_legal).max() < TOLERANCE
            assert abs(answer["value"] - value) < TOLERANCE
            assert (answer["prediction"] is None) == (prediction is None)
            if prediction is not None:
                assert np.abs(np.log(answer["prediction"]) - prediction[row]).max() < TOLERANCE


def test_the_command_writes_the_file_and_the_layout(tmp_path: Path) -> None:
    space, _ = play(SINGLES)
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
