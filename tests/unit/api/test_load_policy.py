"""``nashdex.load_policy``: one decision at a time, in environments of Kuhn poker (Showdown: tests/integration)."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import nashdex
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import PolicyId
from nashdex.games.tabular.game import tabular_space
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.mixture import Mixture
from nashdex.policies.networks.actor_critic import make_network
from nashdex.policies.tables import TablePolicy, save_table_policy
from nashdex.rollout.contestants import Contestant
from nashdex.settings.networks import MemorySettings
from nashdex.store import open_store
from nashdex_play.envs import BattleEnv, BattleVectorEnv
from support.battle_spaces import battle_space, random_observations

KUHN = openspiel_tree("kuhn_poker")


def table(passes: float) -> np.ndarray:
    """Return the policy that passes with this probability everywhere."""
    return np.tile([passes, 1 - passes], (KUHN.num_states, 1))


@pytest.fixture
def env() -> Iterator[BattleEnv]:
    env = BattleEnv("kuhn_poker", "first-action", strict=True)
    yield env
    env.close()


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """Return the name of a stored policy that bets three times in four."""
    store = open_store(str(tmp_path))
    policy = save_table_policy(store, KUHN, table(0.25), name="bets", parent=None, iteration=0, oracle="exact")
    return f"{store.uri}#{policy}"


def episode(env: BattleEnv, policy: nashdex.LoadedPolicy, seed: int) -> tuple[list[nashdex.Decision], float]:
    observation, info = env.reset(seed=seed)
    policy.reset(seed)
    made, done = list[nashdex.Decision](), False
    while not done:
        made.append(policy.act(observation, info["action_mask"], asked_again=info["asked_again"]))
        observation, _, done, _, info = env.step(np.int64(made[-1].action))
    return made, info["score"]


def test_a_stored_policy_plays_episodes_by_its_probabilities(env: BattleEnv, stored: str) -> None:
    policy = nashdex.load_policy(stored, format="kuhn_poker")
    made = [decision for seed in range(60) for decision in episode(env, policy, seed)[0]]
    for decision in made:
        assert decision.probabilities is not None
        np.testing.assert_allclose(decision.probabilities, [0.25, 0.75])
        assert np.exp(decision.log_prob) == pytest.approx(decision.probabilities[decision.action])
    assert np.mean([decision.action for decision in made]) == pytest.approx(0.75, abs=0.15)


def test_a_seed_repeats_an_episode(env: BattleEnv, stored: str) -> None:
    policy = nashdex.load_policy(stored, format="kuhn_poker")

    def played(seed: int) -> tuple[list[int], float]:
        made, score = episode(env, policy, seed)
        return [decision.action for decision in made], score

    assert [played(seed) for seed in range(20)] == [played(seed) for seed in range(20)]


def test_greedy_is_certain(env: BattleEnv, stored: str) -> None:
    policy = nashdex.load_policy(f"{stored}@greedy", format="kuhn_poker")
    assert policy.id.endswith("@greedy")
    (decision, *_), _ = episode(env, policy, 0)
    assert (decision.action, decision.log_prob) == (1, 0.0)
    np.testing.assert_array_equal(decision.probabilities, [0.0, 1.0])


def test_a_mixture_draws_one_policy_for_each_battle() -> None:
    space = tabular_space(KUHN)
    policies = {PolicyId(name): TablePolicy(PolicyId(name), table(p), space) for name, p in (("pass", 1.0), ("bet", 0))}
    policy = nashdex.LoadedPolicy(Contestant(Mixture({PolicyId("pass"): 0.5, PolicyId("bet"): 0.5}), policies), space)
    drawn = []
    for seed in range(40):
        policy.reset(seed)
        actions = {policy.act(np.eye(space.observation_size)[0], [1, 1]).action for _ in range(3)}
        drawn.append(policy.id)
        assert actions == {0 if policy.id == "pass" else 1}
    assert {*drawn} == {*policies}


def test_a_batch_plays_the_battles_of_a_vector_environment(stored: str) -> None:
    def played() -> tuple[list[list[int]], list[float]]:
        batch = nashdex.load_policy(stored, format="kuhn_poker").batch(32, seed=1)
        env = BattleVectorEnv(32, "kuhn_poker", "first-action", strict=True)
        observations, infos = env.reset(seed=0)
        actions, log_probs = [], []
        for _ in range(20):
            made = batch.act(observations, env.action_masks(), asked_again=infos["asked_again"])
            actions.append(made.action.tolist())
            log_probs += np.exp(made.log_prob)[made.action == 1].tolist()
            observations, _, terminated, truncated, infos = env.step(made.action)
            batch.begin(terminated | truncated)
        env.close()
        return actions, log_probs

    actions, bets = played()
    assert np.mean(actions) == pytest.approx(0.75, abs=0.08)
    np.testing.assert_allclose(bets, 0.75)
    assert played()[0] == actions, "draws follow from the seed"


def test_a_batch_of_a_mixture_draws_a_policy_for_each_battle() -> None:
    space = tabular_space(KUHN)
    policies = {PolicyId(name): TablePolicy(PolicyId(name), table(p), space) for name, p in (("pass", 1.0), ("bet", 0))}
    mixture = Mixture({PolicyId("pass"): 0.5, PolicyId("bet"): 0.5})
    batch = nashdex.LoadedPolicy(Contestant(mixture, policies), space).batch(64)
    observations, legal = np.tile(np.eye(space.observation_size)[0], (64, 1)), np.ones((64, 2))
    first = batch.act(observations, legal).action
    assert 0.3 < first.mean() < 0.7
    assert batch.act(observations, legal).action.tolist() == first.tolist(), "a battle keeps its policy"
    batch.begin(np.arange(64) < 32)
    second = batch.act(observations, legal).action
    assert second[32:].tolist() == first[32:].tolist()
    assert second[:32].tolist() != first[:32].tolist()


def test_batches_of_a_policy_that_remembers_keep_their_battles_apart() -> None:
    space = battle_space()
    network = make_network(space, MemorySettings(move_size=5, pokemon_size=6, context_size=8, memory_size=9))
    policy = NetworkPolicy(PolicyId("remembers"), network)
    loaded = nashdex.LoadedPolicy(Contestant(Mixture({policy.id: 1.0}), {policy.id: policy}), space)
    observations = random_observations(space, 4, np.random.default_rng(0))
    legal = np.ones(space.num_actions)
    alone = loaded.batch(1)
    expected = [alone.act(row[None], legal[None]).log_prob.tolist() for row in observations]
    first, second = loaded.batch(1), loaded.batch(1)
    for row, log_prob in zip(observations, expected, strict=True):
        assert first.act(row[None], legal[None]).log_prob.tolist() == log_prob
        assert second.act(row[None], legal[None]).log_prob.tolist() == log_prob
        loaded.act(row, legal)
    assert policy.num_remembered == 4
    del alone, first, second
    assert policy.num_remembered == 1, "a batch that is gone is forgotten"


def test_a_batch_refuses_wrong_shapes() -> None:
    policy = nashdex.load_policy("random", format="kuhn_poker")
    with pytest.raises(ConfigurationError, match="expected a whole number, at least 1"):
        policy.batch(0)
    batch = policy.batch(2)
    observations = np.zeros((2, policy.space.observation_size))
    with pytest.raises(ConfigurationError, match=r"legal is of shape \(2,\)"):
        batch.act(observations, [1, 1])
    with pytest.raises(ConfigurationError, match="allows no action"):
        batch.act(observations, [[1, 1], [0, 0]])
    with pytest.raises(ConfigurationError, match=r"asked_again is of shape \(1,\)"):
        batch.act(observations, np.ones((2, 2)), asked_again=[False])
    with pytest.raises(ConfigurationError, match=r"ended is of shape \(3,\)"):
        batch.begin([True, False, True])


def test_wrong_shapes_and_an_empty_mask_are_refused() -> None:
    policy = nashdex.load_policy("random", format="kuhn_poker")
    observation = np.zeros(policy.space.observation_size)
    with pytest.raises(ConfigurationError, match=r"observation is of shape \(3,\)"):
        policy.act([0, 0, 0], [1, 1])
    with pytest.raises(ConfigurationError, match=r"legal is of shape \(3,\)"):
        policy.act(observation, [1, 1, 1])
    with pytest.raises(ConfigurationError, match="allows no action"):
        policy.act(observation, [0, 0])


@pytest.mark.parametrize(
    ("name", "format_id", "problem"),
    [
        ("randm", "kuhn_poker", "unknown scripted policy"),
        ("random", None, "name the format"),
        ("random", "gen1uo", "gen1ou"),
        ("max-power", "kuhn_poker", "does not play"),
        ("nowhere#newest", "kuhn_poker", "holds no run"),
    ],
)
def test_a_name_that_means_nothing_is_refused(name: str, format_id: str | None, problem: str) -> None:
    with pytest.raises((ConfigurationError, DataError), match=problem):
        nashdex.load_policy(name, format=format_id)
