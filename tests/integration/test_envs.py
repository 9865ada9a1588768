"""Environments over real battles: the libraries' own checkers, clones, states as text, and the examples."""

import asyncio
import gzip
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from poke_env.concurrency import POKE_LOOP

import nashdex
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.learning.rewards import REWARDS
from nashdex.policies.archive import save_policy
from nashdex.policies.networks.actor_critic import make_network
from nashdex.settings.networks import SlotsSettings
from nashdex.store import open_store
from nashdex_cli.cli import run_command_line
from nashdex_play.envs import BattleAECEnv, BattleEnv, BattleParallelEnv, BattleVectorEnv

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore:.*infinity.*"),  # observations have no bounds
    pytest.mark.filterwarnings("ignore:.*render.*"),
    pytest.mark.filterwarnings("ignore:.*all zeros.*"),  # once the battle is over
]
ROOT = Path(__file__).parents[2]


def _play(env: BattleEnv, info: dict[str, Any], generator: np.random.Generator, most: int) -> dict[str, Any]:
    for _ in range(most):
        action = generator.choice(np.flatnonzero(info["action_mask"]))
        _, _, terminated, _, info = env.step(action)
        if terminated:
            break
    return info


@pytest.fixture
def env() -> Iterator[BattleEnv]:
    env = BattleEnv("gen1randombattle", "max-power", states=True, log=True, reward="shaped", render_mode="ansi")
    yield env
    env.close()


@pytest.mark.slow
def test_the_checkers_accept_real_battles(env: BattleEnv) -> None:
    from pettingzoo.test import api_test, parallel_api_test  # noqa: PLC0415
    from stable_baselines3.common.env_checker import check_env as check_for_stable_baselines  # noqa: PLC0415

    check_env(env)
    check_for_stable_baselines(env)
    for make, check in ((BattleAECEnv, api_test), (BattleParallelEnv, parallel_api_test)):
        match = make()
        check(match, num_cycles=100)
        match.close()


def test_a_clone_replays_to_the_same_log(env: BattleEnv) -> None:
    _, info = env.reset(seed=4)
    info = _play(env, info, np.random.default_rng(0), 9)
    clone = env.clone()
    first = _play(env, info, np.random.default_rng(1), 1000)
    _, info = env.restore(clone)
    again = _play(env, info, np.random.default_rng(1), 1000)
    _, info = env.restore(clone)
    other = _play(env, info, np.random.default_rng(2), 1000)
    assert first["log"] == again["log"]
    assert first["log"] != other["log"]


LOGS = sorted((ROOT / "tests" / "data" / "metamon" / "logs").glob("*.json"))
SAMPLE = ROOT / "configs" / "replays" / "gen1ou-sample.jsonl.gz"


@pytest.fixture(scope="module")
def logged() -> Iterator[BattleEnv]:
    env = BattleEnv("gen1ou", "max-power", states=True, log=True)
    yield env
    env.close()


@pytest.mark.parametrize("seat", [0, 1])
def test_an_episode_begins_within_a_persons_battle(logged: BattleEnv, seat: int) -> None:
    (text,) = (log.read_text("utf-8") for log in LOGS if "2333334844" in log.name)
    _, info = logged.from_log(text, seat, 10, seed=3)
    # After nine turns of an exchange of two Exeggutors, as the log says.
    hp = ([0.14, 1.0, 1.0], [0.25, 1.0, 1.0])
    own, opponent = info["state"]["own"], info["state"]["opponent"]
    assert (info["seat"], info["state"]["turn"]) == (seat, 10)
    active = [side["pokemon"][side["active"]] for side in (own, opponent)]
    assert [each["species"] for each in active] == ["exeggutor"] * 2
    assert [round(each["hp"] / each["max_hp"], 2) for each in active] == [hp[seat][0], hp[1 - seat][0]]
    assert len(own["pokemon"]) == 6
    assert all(len(each["moves"]) == 4 for each in own["pokemon"]), "what the log never shows is drawn"
    assert len(opponent["pokemon"]) == (2, 3)[seat], "what the seat had not seen is not shown"
    clone = logged.clone()
    first = _play(logged, info, np.random.default_rng(1), 1000)
    _, info = logged.restore(type(clone).model_validate_json(clone.model_dump_json()))
    assert _play(logged, info, np.random.default_rng(1), 1000)["log"] == first["log"]
    assert "|turn|11" in first["log"]
    assert "|turn|10\n" not in first["log"]


def test_every_turn_of_a_log_can_be_played_on(logged: BattleEnv) -> None:
    texts = [log.read_text("utf-8") for log in LOGS]
    texts += gzip.decompress(SAMPLE.read_bytes()).decode().splitlines()[:4]
    for number, text in enumerate(texts):
        for turn in (1, 2, 5, 8):
            _, info = logged.from_log(text, (number + turn) % 2, turn, seed=turn)
            assert info["state"]["turn"] == turn
            assert 0.0 <= _play(logged, info, np.random.default_rng(turn), 1000)["score"] <= 1.0


@pytest.mark.parametrize(
    ("text", "seat", "turn", "message"),
    [
        ("nothing", 0, 1, "nothing shows its format"),
        ("{}", 0, 1, "expected an object with a text `log`"),
        (None, 2, 1, "seat is 2: expected 0 or 1"),
        (None, 0, 1000, "decides nothing in turn 1000; expected one of the turns 1 to"),
    ],
)
def test_what_no_episode_can_begin_in(logged: BattleEnv, text: str | None, seat: int, turn: int, message: str) -> None:
    with pytest.raises((ConfigurationError, DataError), match=message):
        logged.from_log(LOGS[0].read_text("utf-8") if text is None else text, seat, turn)


def test_an_input_that_is_no_text_is_refused(logged: BattleEnv) -> None:
    replay = json.loads(LOGS[0].read_text("utf-8"))
    with pytest.raises(DataError, match=r"inputlog 3\.5; expected text, or a list of texts"):
        logged.from_log(json.dumps(replay | {"inputlog": 3.5}), 0, 3)


def test_a_log_of_another_format_or_of_doubles_is_refused() -> None:
    text = LOGS[0].read_text("utf-8")
    for format_id, message in (("gen1randombattle", "is of gen1ou"), ("gen9randomdoublesbattle", "is doubles")):
        other = BattleEnv(format_id)
        with pytest.raises((ConfigurationError, DataError), match=message):
            other.from_log(text, 0, 1)
        other.close()


def test_states_are_json_and_text_that_name_the_choices(env: BattleEnv) -> None:
    _, info = env.reset(seed=4)
    assert json.loads(json.dumps(info["state"]))["turn"] == 1
    legal = np.flatnonzero(info["action_mask"]).tolist()
    assert list(info["choices"]) == legal
    own = info["state"]["own"]
    for action, name in info["choices"].items():
        assert f"{action}: {name}" in info["text"]
        if action < 6:
            assert name == f"switch to {own['pokemon'][action]['name']}"
        else:
            known = own["pokemon"][own["active"]]["moves"][action - 6]["id"]
            assert name.removeprefix("use ").lower().replace(" ", "").replace("-", "") == known
    assert env.render() == info["text"]


def test_the_opponents_hidden_cards_are_in_no_view(env: BattleEnv) -> None:
    _, info = env.reset(seed=4)
    assert len(info["state"]["opponent"]["pokemon"]) == 1
    assert not info["state"]["opponent"]["pokemon"][0]["moves"]


def test_the_shaped_rewards_add_up_to_the_score(env: BattleEnv) -> None:
    _, info = env.reset(seed=8)
    total, terminated = 0.0, False
    while not terminated:
        _, reward, terminated, _, info = env.step(np.int64(np.flatnonzero(info["action_mask"])[-1]))
        total += reward
    # A difference of potentials that begins at an even position adds nothing.
    assert total == pytest.approx(2 * info["score"] - 1, abs=1e-4)


def test_an_agent_in_turns_gets_the_rewards_of_its_own_decisions() -> None:
    turns, discount = BattleAECEnv("gen1randombattle", reward="shaped", discount=0.9), 0.9
    turns.reset(seed=3)
    space = turns._match._battles.space
    seen: dict[str, list[np.ndarray]] = {agent: [] for agent in turns.possible_agents}
    rewards: dict[str, list[float]] = {agent: [] for agent in turns.possible_agents}
    generator = np.random.default_rng(0)
    for agent in turns.agent_iter():
        observation, reward, terminated, truncated, info = turns.last()
        rewards[agent].append(reward)
        if terminated or truncated:
            expected = REWARDS["shaped"].compute(space, np.stack(seen[agent]), info["score"], discount)
            assert rewards[agent][1:] == pytest.approx(expected.tolist(), abs=1e-6)
            turns.step(None)
            continue
        seen[agent].append(observation)
        turns.step(generator.choice(np.flatnonzero(info["action_mask"])))
    turns.close()
    assert len(seen["player_0"]) != len(seen["player_1"]), "one of them waited"


def test_an_agent_in_turns_may_answer_again_after_an_illegal_action() -> None:
    turns = BattleAECEnv("gen1randombattle", strict=True)
    turns.reset(seed=1)
    for agent in turns.possible_agents:
        assert turns.agent_selection == agent
        with pytest.raises(ConfigurationError, match="is not legal; expected one of"):
            turns.step(999)
        turns.step(int(turns.infos[agent]["action_mask"].argmax()))
    assert turns.agent_selection == "player_0"
    turns.close()


def test_a_team_set_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no team set 'nothing' for gen1ou"):
        BattleEnv("gen1ou", team_set="nothing")


@pytest.mark.slow
def test_a_reset_after_an_interrupted_step_begins_another_battle(monkeypatch: pytest.MonkeyPatch) -> None:
    env, other = BattleEnv("gen1randombattle"), BattleEnv("gen1randombattle")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for seed in range(5):
        env.reset(seed=seed)
        action = env.action_masks().argmax()
        with monkeypatch.context() as patch:
            patch.setattr(env._episodes._battles._arena, "_ready_workers", interrupt)
            with pytest.raises(KeyboardInterrupt):
                env.step(action)
        np.testing.assert_array_equal(env.reset(seed=seed + 100)[0], other.reset(seed=seed + 100)[0])
    env.close()
    other.close()


@pytest.mark.slow
def test_the_number_of_simulators_changes_no_battle() -> None:
    played = []
    for num_gateways in (1, 2):
        many = BattleVectorEnv(6, "gen1randombattle", num_gateways=num_gateways)
        observations, _ = many.reset(seed=4)
        digest = hashlib.sha256()
        for _ in range(80):
            masks = many.action_masks()
            observations, rewards, *_ = many.step(masks.argmax(axis=1))
            for array in (observations, masks, rewards):
                digest.update(np.ascontiguousarray(array).tobytes())
        many.close()
        played.append(digest.hexdigest())
    assert played[0] == played[1]


def test_bench_envs_measures_every_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["bench", "envs", "--seconds", "3", "--repetitions", "1", "--num-envs", "8", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [side["side"] for side in result["sides"]] == ["single", "vector", "poke-env"]
    assert all(side["steps"] > 0 for side in result["sides"])
    assert not asyncio.all_tasks(POKE_LOOP)  # Python would print a traceback for each as it collects them


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "arguments", "expected"),
    [
        (
            "maskable_ppo.py",
            ["--steps", "256", "--envs", "4", "--rollout", "16", "--battles", "4"],
            "score against random",
        ),
        ("one_file_ppo.py", ["--steps", "128", "--envs", "4", "--rollout", "16"], "mean score"),
        ("language_model.py", ["--battles", "1"], "battles won"),
    ],
)
def test_an_example_runs(example: str, arguments: list[str], expected: str) -> None:
    command = [sys.executable, "-W", "ignore", str(ROOT / "examples" / example), *arguments]
    found = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert found.returncode == 0, found.stderr
    assert expected in found.stdout


@pytest.mark.slow
def test_a_loaded_network_plays_an_episode(tmp_path: Path) -> None:
    env = BattleEnv("gen1randombattle", "random", strict=True)
    store = open_store(str(tmp_path))
    observation, info = env.reset(seed=3)
    with env:
        network = make_network(env._episodes.space, SlotsSettings(embedding_size=4, entity_size=8, hidden_size=16))
        made: dict[str, Any] = {"name": "fresh", "parent": None, "iteration": 0, "oracle": "ppo", "reward": "win-loss"}
        policy = nashdex.load_policy(f"{store.uri}#{save_policy(store, network, **made, reward_version='1')}")
        assert policy.act(observation, info["action_mask"]).log_prob < 0.0
        policy.reset(3)
        terminated, actions = False, 0
        while not terminated:
            decision = policy.act(observation, info["action_mask"], asked_again=info["asked_again"])
            assert decision.probabilities is not None
            assert decision.probabilities[info["action_mask"] == 0].sum() == 0.0
            assert decision.probabilities.sum() == pytest.approx(1.0)
            observation, _, terminated, _, info = env.step(np.int64(decision.action))
            actions += 1
    assert actions > 5
    assert info["score"] in (0.0, 0.5, 1.0)
