"""Environments over a game without a simulator: Kuhn poker. The same code plays Showdown (tests/integration)."""

import hashlib
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from nashdex.core.errors import ConfigurationError
from nashdex_play.envs import BattleAECEnv, BattleEnv, BattleParallelEnv, BattleVectorEnv, Clone

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*infinity.*"),  # observations have no bounds
    pytest.mark.filterwarnings("ignore:.*render.*"),
    pytest.mark.filterwarnings("ignore:.*all zeros.*"),  # once the battle is over
]


@pytest.fixture
def env() -> Iterator[BattleEnv]:
    env = BattleEnv("kuhn_poker")
    yield env
    env.close()


def _play(env: BattleEnv, picks: Iterator[int]) -> tuple[list[float], dict[str, Any]]:
    """Return all rewards of an episode that has begun, and its last info."""
    rewards: list[float] = []
    info: dict[str, Any] = {}
    over = False
    while not over:
        legal = np.flatnonzero(env.action_masks())
        _, reward, terminated, truncated, info = env.step(np.int64(legal[next(picks) % len(legal)]))
        rewards.append(reward)
        over = terminated or truncated
    return rewards, info


def test_gymnasiums_checker_accepts_the_environment(env: BattleEnv) -> None:
    check_env(env)


def test_rewards_of_an_episode_add_up_to_its_score(env: BattleEnv) -> None:
    for seed in range(20):
        env.reset(seed=seed)
        rewards, info = _play(env, iter(range(seed, 100)))
        assert sum(rewards) == pytest.approx(2 * info["score"] - 1)


def test_a_seed_fixes_every_later_episode() -> None:
    def scores() -> list[object]:
        env = BattleEnv("kuhn_poker")
        env.reset(seed=7)
        found = []
        for _ in range(10):
            found.append(_play(env, iter(range(100)))[1]["score"])
            env.reset()
        return found

    assert scores() == scores()


def test_a_clone_restores_the_episode_in_another_environment(env: BattleEnv) -> None:
    env.reset(seed=3)
    first_observation = env.reset()[0]
    clone = Clone.model_validate_json(env.clone().model_dump_json())
    rewards, info = _play(env, iter(range(100)))
    other = BattleEnv("kuhn_poker")
    np.testing.assert_array_equal(other.restore(clone)[0], first_observation)
    again, info_again = _play(other, iter(range(100)))
    assert (again, info_again["score"]) == (rewards, info["score"])


def test_a_clone_of_another_opponent_is_refused(env: BattleEnv) -> None:
    env.reset(seed=0)
    with pytest.raises(ConfigurationError, match="against first-action"):
        BattleEnv("kuhn_poker", "first-action").restore(env.clone())


def test_a_reset_in_the_middle_begins_another_episode(env: BattleEnv) -> None:
    for seed in range(10):
        env.reset(seed=seed)
    assert len(_play(env, iter(range(100)))[0]) >= 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reward": "win-los"}, "did you mean win-loss"),
        ({"seat": 2}, "seat is 2: expected 0, 1"),
        ({"opponent": "randon"}, "random"),
        ({"states": True}, "no states to show"),
        ({"render_mode": "human"}, "render_mode is 'human'"),
        ({"format": "kuhn"}, "unknown format"),
        ({"discount": 2.0}, "discount is 2.0: expected more than 0, at most 1"),
        ({"discount": float("nan")}, "discount is nan"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        BattleEnv(**{"format": "kuhn_poker", **settings})  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [{"num_envs": 0}, {"num_envs": "3"}, {"num_gateways": 0}])
def test_numbers_of_battles_and_gateways_are_refused_before_anything_starts(settings: dict[str, Any]) -> None:
    (value,) = settings.values()
    with pytest.raises(ConfigurationError, match=f"is {value!r}: expected a whole number, at least 1"):
        BattleVectorEnv(**{"num_envs": 2, "format": "kuhn_poker", **settings})


@pytest.mark.parametrize("action", [None, "1", 0.5, True, [0], np.nan])
def test_what_is_no_action_is_refused(env: BattleEnv, action: object) -> None:
    env.reset(seed=0)
    with pytest.raises(ConfigurationError, match=r"action is .*: expected a whole number"):
        env.step(action)  # type: ignore[arg-type]


@pytest.mark.parametrize("actions", [[0], [0, 0, 0], [[0], [0]], [0.0, 0.0], None])
def test_actions_of_another_shape_are_refused(actions: object) -> None:
    vector = BattleVectorEnv(2, "kuhn_poker")
    vector.reset(seed=0)
    with pytest.raises(ConfigurationError, match="expected whole numbers, 2 in all"):
        vector.step(actions)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="seed is a list of 3: expected 2"):
        vector.reset(seed=[1, 2, 3])


def test_a_closed_environment_says_so(env: BattleEnv) -> None:
    env.reset(seed=0)
    env.close()
    env.close()
    with pytest.raises(ConfigurationError, match="is closed: make another"):
        env.step(np.int64(0))
    with pytest.raises(ConfigurationError, match="is closed: make another"):
        env.reset()


@pytest.mark.parametrize("action", [-1, 99])
def test_a_clone_with_an_action_that_does_not_exist_is_refused(env: BattleEnv, action: int) -> None:
    env.reset(seed=0)
    with pytest.raises(ConfigurationError, match="action 1 of the clone does not fit"):
        env.restore(env.clone().model_copy(update={"actions": (action,)}))


def test_two_agents_both_act_in_a_battle_that_has_begun() -> None:
    parallel = BattleParallelEnv("kuhn_poker")
    with pytest.raises(ConfigurationError, match="call reset"):
        parallel.step({})
    parallel.reset(seed=0)
    with pytest.raises(ConfigurationError, match="actions have none of player_"):
        parallel.step({})
    parallel.close()


def test_a_step_without_an_episode_is_refused(env: BattleEnv) -> None:
    with pytest.raises(ConfigurationError, match="call reset"):
        env.step(np.int64(0))
    env.reset(seed=0)
    _play(env, iter(range(100)))
    with pytest.raises(ConfigurationError, match="call reset"):
        env.step(np.int64(0))


def test_a_strict_environment_refuses_what_another_replaces_and_reports() -> None:
    env = BattleEnv("leduc_poker", seat=0)
    env.reset(seed=0)
    illegal = int(np.flatnonzero(~env.action_masks())[0])
    assert env.step(np.int64(illegal))[4]["illegal_action"] == illegal
    strict = BattleEnv("leduc_poker", seat=0, strict=True)
    strict.reset(seed=0)
    with pytest.raises(ConfigurationError, match=f"action {illegal} is not legal now"):
        strict.step(np.int64(illegal))


def test_the_vector_environment_plays_what_single_ones_play() -> None:
    vector = BattleVectorEnv(4, "leduc_poker")
    observations, _ = vector.reset(seed=5)
    singles = [BattleEnv("leduc_poker") for _ in range(4)]
    for number, env in enumerate(singles):
        np.testing.assert_array_equal(env.reset(seed=5 + number)[0], observations[number])
    for _ in range(40):
        actions = vector.action_masks().argmax(axis=1)
        observations, rewards, terminated, _, infos = vector.step(actions)
        for number, env in enumerate(singles):
            observation, reward, over, _, info = env.step(actions[number])
            assert (reward, over) == (rewards[number], terminated[number])
            if over:
                assert infos["final_info"]["score"][number] == info["score"]
                observation, info = env.reset()
            np.testing.assert_array_equal(observation, observations[number])


@pytest.mark.parametrize(("dtype", "action", "reported"), [("uint8", 200, 200), ("uint64", 2**64 - 1, 2**63 - 1)])
def test_illegal_unsigned_actions_are_replaced_and_reported(dtype: str, action: int, reported: int) -> None:
    vector = BattleVectorEnv(2, "leduc_poker", seat=0)
    vector.reset(seed=0)
    infos = vector.step(np.full(2, action, dtype=dtype))[4]
    assert reported in infos["illegal_action"]


def test_gymnasium_makes_both_by_name() -> None:
    env = gymnasium.make("nashdex/Battle-v0", format="kuhn_poker")
    assert env.reset(seed=0)[1]["action_mask"].dtype == np.int8
    env.close()
    many = gymnasium.make_vec("nashdex/Battle-v0", 3, format="kuhn_poker")
    assert many.reset(seed=0)[0].shape[0] == 3
    many.close()


def test_pettingzoos_checkers_accept_both_environments() -> None:
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test  # noqa: PLC0415

    api_test(BattleAECEnv("leduc_poker"), num_cycles=200)
    parallel_api_test(BattleParallelEnv("leduc_poker"), num_cycles=200)
    seed_test(lambda: BattleAECEnv("leduc_poker"), num_cycles=50)
    parallel_seed_test(lambda: BattleParallelEnv("leduc_poker"), num_cycles=50)


def test_both_agents_rewards_cancel() -> None:
    env = BattleParallelEnv("kuhn_poker")
    for seed in range(10):
        env.reset(seed=seed)
        total = dict.fromkeys(env.possible_agents, 0.0)
        while env.agents:
            masks = {agent: env._match.mask(seat) for seat, agent in enumerate(env.possible_agents)}
            _, rewards, _, _, infos = env.step({agent: int(mask.argmax()) for agent, mask in masks.items()})
            total = {agent: total[agent] + rewards[agent] for agent in total}
        assert sum(total.values()) == pytest.approx(0.0)
        assert total["player_0"] == pytest.approx(2 * infos["player_0"]["score"] - 1)


def test_a_seed_gives_the_same_bytes_in_every_version() -> None:
    """Results of people's trainings are repeated by their seeds: what is made faster may not change them."""
    vector = BattleVectorEnv(3, "leduc_poker")
    observations, infos = vector.reset(seed=5)
    digest = hashlib.sha256()
    rewards = np.zeros(3, dtype=np.float32)
    for step in range(60):
        for part in (observations, infos["action_mask"], infos["seat"], infos["asked_again"], rewards):
            digest.update(np.ascontiguousarray(part).tobytes())
        # An illegal action now and then: what is drawn instead follows from the seed too.
        actions = vector.action_masks().argmax(axis=1) if step % 5 else np.full(3, 2)
        observations, rewards, _, _, infos = vector.step(actions)
    assert digest.hexdigest()[:16] == "907e2b085d0b53d1"
