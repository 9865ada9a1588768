"""Minibatches of whole battles, for networks that remember; and a task that only they can learn."""

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import AttemptId, BarePolicyId, PolicyId, replayed_policy
from nashdex.core.steps import StepName
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.registry import showdown_game
from nashdex.learning.experience.batching import CPU, Batch, evaluate, log_probs, make_batch, parts
from nashdex.learning.experience.round import Experience, gather
from nashdex.learning.references import SnapshotReference, make_reference
from nashdex.learning.updates.checkpoint import Checkpoints
from nashdex.learning.updates.training import StepSettings, Training
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import PolicyEntry, Population
from nashdex.oracles.clone import clone, make_lessons
from nashdex.oracles.ppo.loss import make_targets
from nashdex.policies.archive import save_policy
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.settings.damping import Damping
from nashdex.settings.networks import MemorySettings, PointerSettings
from nashdex.settings.oracles import CloneSettings
from nashdex.settings.ppo import PpoSettings
from nashdex.store import open_store
from nashdex.telemetry.progress import Progress
from nashdex.trajectory.episode import Episode
from support.battle_spaces import ACTIONS, battle_space
from support.ppo import learn

SPACE = battle_space()
SIZES = {
    "embedding_size": 4,
    "move_size": 8,
    "pokemon_size": 8,
    "context_size": 16,
    "scorer_size": 16,
    "predicts_opponent": False,
}
NETWORKS = {
    "memory": MemorySettings(**SIZES, memory_size=16),
    "pointer": PointerSettings(**SIZES),
}
LEARNER, RANDOM = PolicyId("p1"), PolicyId("random")
MOVES = [ACTIONS.index("move 1"), ACTIONS.index("move 2")]


def network(kind: str, seed: int = 0) -> ActorCritic:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = make_network(SPACE, NETWORKS[kind])
        with torch.no_grad():
            net.get_parameter("scorer.score").mul_(50)  # fewer steps until what is remembered moves the scores
        return net


def recall_battles(policy: NetworkPolicy, num: int, seed: int) -> list[Episode]:
    """Return battles in which the first decision shows a turn of 1 or −1, which the last one has to name by a move.

    They have two or three decisions. All that differs between battles is that turn; moves alone are legal.
    """
    rng = np.random.default_rng(seed)
    lengths, cues = rng.integers(2, 4, num), rng.integers(0, 2, num)
    base = np.zeros((1, SPACE.observation_size), np.float32)
    for side in ("own", "opponent"):
        SPACE.view(base, side, "active")[0, 0] = 1
    for block in ("own_moves", "opponent_moves"):
        SPACE.view(base, block, "move")[0, :, 0] = [1, 2, 3, 4, 5, 6]
    mask = np.zeros(len(ACTIONS), np.bool_)
    mask[MOVES] = True
    steps: list[list[tuple[np.ndarray, int, float]]] = [[] for _ in range(num)]
    for t in range(lengths.max()):
        due = np.flatnonzero(t < lengths)
        rows = np.repeat(base, len(due), axis=0)
        SPACE.view(rows, "field", "force_switch")[:, 0, 0] = t == lengths[due] - 1
        if t == 0:
            SPACE.view(rows, "field", "turn")[:, 0, 0] = 2.0 * cues[due] - 1.0
        legal = LegalActions.of_mask(np.repeat(mask[None], len(due), axis=0))
        asked = Decisions(due, np.zeros(len(due), np.int8), np.zeros(len(due), np.bool_), rows, legal)
        answers = policy.act(asked, rng.random(len(due)))
        for place, i in enumerate(due.tolist()):
            steps[i].append((rows[place], int(answers.action[place]), float(answers.log_prob[place])))
    for i in range(num):
        policy.forget(i, 0)
    return [
        Episode(
            seed=seed * 1_000_000 + i,
            seat=0,
            policy=policy.id,
            opponent=RANDOM,
            score=float(one[-1][1] == MOVES[cues[i]]),
            observations=np.stack([row for row, _, _ in one]),
            legal=LegalActions.of_mask(np.repeat(mask[None], len(one), axis=0)),
            actions=np.array([action for _, action, _ in one]),
            log_probs=np.array([log_prob for _, _, log_prob in one], np.float32),
        )
        for i, one in enumerate(steps)
    ]


def experience(episodes: list[Episode], net: ActorCritic) -> Experience:
    game = showdown_game("gen1randombattle")
    return gather(episodes, LEARNER, game, SPACE, "win-loss", 1.0, CPU, remembers=net.remembers)


def loop_of(folder: Path, net: ActorCritic, every: int = 1000) -> Training:
    return Training(
        net, StepSettings(1.0, every), Checkpoints(open_store(str(folder)), 0, 0, AttemptId("a1"), "inputs")
    )


def score_after_ppo(folder: Path, kind: str, estimator: str, rounds: int) -> float:
    """Return the share of battles that are won after some rounds of PPO."""
    net = network(kind)
    settings = PpoSettings.model_validate(
        {
            "minibatch_decisions": 128,
            "learning_rate": 3e-3,
            "max_gradient_norm": 10.0,
            "advantages": estimator,
            "damping": {"preset": "none"},
        }
    )
    loop = loop_of(folder, net)
    with Progress(StepName.TRAIN, 0, 0, "updates") as progress:
        for number in range(rounds):
            acting = copy.deepcopy(net)
            seen = experience(recall_battles(NetworkPolicy(LEARNER, acting), 200, number), net)
            targets = make_targets(acting, seen, settings, 1.0, acting)
            learn(loop, seen.batch, targets, settings, progress, length=10**6)
            loop.begin_round(0.0, 0)
    return float(np.mean([one.score for one in recall_battles(NetworkPolicy(LEARNER, net), 500, 99)]))


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["gae", "v-trace"])
def test_ppo_learns_to_remember(tmp_path: Path, estimator: str) -> None:
    """A learning run. Without memory the last decision shows nothing of the first one."""
    assert score_after_ppo(tmp_path, "memory", estimator, 14) > 0.9


def test_a_network_without_memory_cannot_learn_it(tmp_path: Path) -> None:
    assert 0.4 < score_after_ppo(tmp_path, "pointer", "gae", 6) < 0.6


@pytest.mark.parametrize(("kind", "least", "most"), [("memory", 0.9, 1.0), ("pointer", 0.2, 0.8)])
def test_cloning_learns_to_remember(tmp_path: Path, kind: str, least: float, most: float) -> None:
    """The teacher repeats the move that the first decision names. That one can be learned without memory."""
    played = recall_battles(NetworkPolicy(LEARNER, network("memory")), 600, 1)
    taught = [
        replace(one, actions=np.full(len(one), MOVES[int(one.observations[0, find("turn")] > 0)])) for one in played
    ]
    net = network(kind)
    settings = CloneSettings(num_epochs=4, minibatch_decisions=64, critic_warmup_epochs=0, learning_rate=1e-2)
    rewards = [np.zeros(len(one), np.float32) for one in taught]
    lesson, validation = make_lessons(taught, rewards, 1.0, 0, CPU, remembers=net.remembers)
    with Progress(StepName.TRAIN, 0, 0, "updates") as progress:
        clone(loop_of(tmp_path, net), lesson, validation, settings, 0, progress)
    found, _ = evaluate(net, validation.batch)
    is_last = validation.batch.observations[:, find("force_switch")] == 1
    hit = (found.argmax(1) == validation.batch.actions)[is_last].float().mean().item()
    assert least <= hit <= most


def test_a_mix_of_replays_and_teacher_is_refused_where_minibatches_are_battles() -> None:
    taught = recall_battles(NetworkPolicy(LEARNER, network("memory")), 8, 1)
    replays = [replace(one, seed=one.seed + 100, policy=replayed_policy("unrated")) for one in taught]
    rewards = [np.zeros(len(one), np.float32) for one in (*taught, *replays)]
    with pytest.raises(ConfigurationError, match=r"train\.first\.replays mixes .* whole battles"):
        make_lessons([*taught, *replays], rewards, 1.0, 0, CPU, remembers=True)
    lesson, _ = make_lessons(replays, rewards[:8], 1.0, 0, CPU, remembers=True)
    assert lesson.batch.remembers


def find(field: str) -> int:
    """Return the column of a field of the block ``field``."""
    block = next(one for one in SPACE.blocks if one.name == "field")
    return block.offset + next(one for one in block.fields if one.name == field).offset


@pytest.fixture
def batch() -> Batch:
    episodes = recall_battles(NetworkPolicy(LEARNER, network("memory")), 60, 1)
    return make_batch(episodes, CPU, remembers=True)


def test_recorded_log_probabilities_are_the_trainers(batch: Batch) -> None:
    found, _ = evaluate(network("memory"), batch)
    torch.testing.assert_close(found.gather(1, batch.actions[:, None])[:, 0], batch.log_probs, atol=1e-5, rtol=0)
    reference = SnapshotReference(network("memory"), LEARNER)
    torch.testing.assert_close(log_probs(reference, batch), found)


def test_minibatches_are_whole_battles_of_about_equal_size(batch: Batch) -> None:
    size = 20
    for seed in range(3):
        found = batch.minibatches(size, seed)
        assert len(found) == batch.num_minibatches(size)
        assert sorted(torch.cat(found).tolist()) == list(range(len(batch)))
        for rows in found:
            part = batch.rows(rows)
            numbers = part.observations[:, -1].tolist()
            whole = [batch.starts.tolist().index(int(row)) for row in rows[part.starts]]
            lengths = torch.diff(batch.starts, append=torch.tensor([len(batch)]))[whole]
            assert numbers == [float(n) for length in lengths for n in range(length)]
            assert abs(len(rows) - len(batch) / len(found)) <= 4
    assert batch.minibatches(size, 0)[0].tolist() != batch.minibatches(size, 1)[0].tolist()
    assert [len(rows) for rows in batch.minibatches(1, 0)] == [
        int(length) for length in torch.diff(batch.starts, append=torch.tensor([len(batch)]))[order(batch)]
    ]


def order(batch: Batch) -> list[int]:
    """Return the episodes of minibatches of one episode each."""
    starts = batch.starts.tolist()
    return [starts.index(int(rows[0])) for rows in batch.minibatches(1, 0)]


def test_parts_of_a_step_are_whole_battles_and_add_up(batch: Batch) -> None:
    rows = batch.minibatches(50, 0)[0]
    split = parts(batch, rows, 3)
    assert torch.cat([part for part, _ in split]).tolist() == rows.tolist()
    assert all(batch.observations[part[0], -1] == 0 for part, _ in split)
    assert sum(shares.decisions for _, shares in split) == pytest.approx(1)
    assert len(parts(batch, torch.arange(int(batch.starts[1])), 9)) == 1


def test_a_training_that_resumes_ends_with_the_same_bits(tmp_path: Path) -> None:
    """Interrupted between two checkpoints: the second process repeats what was lost."""
    settings = PpoSettings.model_validate(
        {"minibatch_decisions": 40, "annealing": {"learning_rate": 1.0}, "damping": {"preset": "none"}}
    )
    episodes = recall_battles(NetworkPolicy(LEARNER, network("memory")), 60, 1)

    def trained(folder: Path, *stops: int) -> dict[str, torch.Tensor]:
        for stop in (*stops, 10**6):
            net = network("memory")
            seen = experience(episodes, net)
            targets = make_targets(net, seen, settings, 1.0)
            loop = loop_of(folder, net, every=5)
            with Progress(StepName.TRAIN, 0, 0, "updates") as progress:
                if stop < 10**6:
                    cut = settings.model_copy(update={"num_epochs": stop})
                    learn(loop, seen.batch, targets, cut, progress)
                else:
                    learn(loop, seen.batch, targets, settings, progress)
        return net.state_dict()

    whole, resumed = trained(tmp_path / "whole"), trained(tmp_path / "resumed", 1, 3)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


@pytest.mark.parametrize(("learner", "opponent"), [("memory", "pointer"), ("pointer", "memory")])
def test_a_reference_that_reads_other_minibatches_is_refused(tmp_path: Path, learner: str, opponent: str) -> None:
    store = open_store(str(tmp_path))
    stored = save_policy(
        store,
        network(opponent),
        name="other",
        parent=None,
        iteration=0,
        oracle="ppo",
        reward="win-loss",
        reward_version="1",
    )
    entries = (
        PolicyEntry(id=RANDOM, kind="scripted", name="random", iteration=None, parent=None),
        PolicyEntry(id=stored, kind="network", name="other", iteration=0, parent=None),
    )
    plan = IterationPlan(
        iteration=1,
        oracle="ppo",
        population=Population(policies=entries),
        rule="meta-strategy",
        opponents={RANDOM: 0.5, stored: 0.5},
        learner=BarePolicyId(LEARNER),
    )
    net = network(learner)
    start = SnapshotReference(net, LEARNER)
    league, snapshot = Damping(reference="league"), Damping(reference="snapshot")
    with pytest.raises(ConfigurationError, match=f"{stored}, a '{opponent}' network.*a '{learner}' network"):
        make_reference(store, plan, league, net, start)
    assert make_reference(store, plan, snapshot, net, start) is start
