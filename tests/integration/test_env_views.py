"""Views of the environments: what each shows, that the libraries' checkers accept it, and what has none."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from nashdex.core.errors import ConfigurationError
from nashdex_metamon.environments import metamon_view
from nashdex_play.envs import BattleEnv, BattleParallelEnv, BattleVectorEnv
from nashdex_play.envs.views import VIEWS

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore:.*infinity.*"),  # observations have no bounds
    pytest.mark.filterwarnings("ignore:.*render.*"),
]
VOCABULARY: dict[str, int] = json.loads(
    resources.files("nashdex_metamon.checkpoints").joinpath("mini_rnn_data/vocabulary.json").read_bytes()
)


@pytest.mark.parametrize("view", ["text", "json", "metamon"])
def test_gymnasiums_checker_accepts_a_view(view: str) -> None:
    env = BattleEnv("gen1randombattle", "max-power", view=view, reward="metamon-default")
    check_env(env, skip_render_check=True)
    env.close()


@pytest.mark.parametrize("view", VIEWS.names)
def test_views_show_the_same_battle_and_take_the_same_actions(view: str) -> None:
    seen, scores = {}, {}
    for name in ("observation", view):
        env = BattleEnv("gen1randombattle", "max-power", view=name, log=True, seat=0)
        generator = np.random.default_rng(1)
        observation, info = env.reset(seed=7)
        terminated = False
        seen[name] = observation
        while not terminated:
            assert env.observation_space.contains(observation)
            observation, _, terminated, _, info = env.step(generator.choice(np.flatnonzero(info["action_mask"])))
        assert env.observation_space.contains(observation)
        scores[name] = info["log"]
        env.close()
    assert scores[view] == scores["observation"]


def test_texts_are_those_of_the_state() -> None:
    shown = {}
    for view in ("text", "json"):
        env = BattleEnv("gen1randombattle", "random", view=view, states=True)
        shown[view], info = env.reset(seed=3)
        env.close()
    assert shown["text"] == info["text"]
    choices = {str(action): name for action, name in info["choices"].items()}
    assert json.loads(shown["json"]) == {"state": info["state"], "choices": choices}


def test_metamons_tokens_and_actions_are_the_positions() -> None:
    words = {number: word for word, number in VOCABULARY.items()}
    env = BattleEnv("gen1randombattle", "random", view="metamon", states=True, reward="metamon-default")
    observation, info = env.reset(seed=3)
    generator = np.random.default_rng(2)
    terminated, rewards, total = False, [], 0.0
    while not terminated:
        own = info["state"]["own"]
        active = own["pokemon"][own["active"]]
        assert words[int(observation["tokens"][3])] == active["species"]
        assert observation["numbers"][1] == pytest.approx(active["hp"] / active["max_hp"], abs=1e-6)
        meant = [action for action in info["view_actions"].tolist() if action >= 0]
        assert sorted(set(meant)) == np.flatnonzero(info["action_mask"]).tolist()
        choice = generator.choice(np.flatnonzero(info["view_actions"] >= 0))
        rewards.append(float(observation["reward"]))
        observation, reward, terminated, _, info = env.step(info["view_actions"][choice])
        total += reward
    env.close()
    assert any(rewards), "damage is rewarded"
    assert total != 2 * info["score"] - 1


@pytest.mark.parametrize("view", VIEWS.names)
def test_many_battles_and_two_agents_have_views(view: str) -> None:
    many = BattleVectorEnv(3, "gen1randombattle", view=view)
    observations, _ = many.reset(seed=0)
    generator = np.random.default_rng(0)
    for _ in range(60):
        assert many.observation_space.contains(observations)
        masks = many.action_masks()
        observations, *_ = many.step((generator.random(masks.shape) * masks).argmax(axis=1))
    many.close()
    match = BattleParallelEnv("gen1randombattle", view=view)
    both, infos = match.reset(seed=0)
    while match.agents:
        for agent in match.agents:
            assert match.observation_space(agent).contains(both[agent])
        actions = {agent: int(np.flatnonzero(infos[agent]["action_mask"])[0]) for agent in match.agents}
        both, _, _, _, infos = match.step(actions)
    match.close()


def test_team_preview_is_text_and_no_decision_of_metamons(tmp_path: Path) -> None:
    (tmp_path / "words.json").write_text(json.dumps(VOCABULARY))
    view: Any = metamon_view(tmp_path / "words.json", observations="TeamPreviewObservationSpace")
    env = BattleEnv("gen9ou", "random", view=view)
    observation, info = env.reset(seed=0)
    assert not info["is_shown"]
    assert not observation["tokens"].any()
    observation, _, _, _, info = env.step(np.int64(np.flatnonzero(info["action_mask"])[0]))
    assert info["is_shown"]
    assert observation["tokens"].any()
    env.close()
    env = BattleEnv("gen9ou", "random", view="text")
    assert "lead with" in env.reset(seed=0)[0]
    env.close()


@pytest.mark.parametrize(
    ("format_id", "view", "message"),
    [
        ("gen1randombattle", "metamom", r"unknown view 'metamom': did you mean metamon\?"),
        ("gen9randombattle", "metamon", "the view's vocabulary has the words of generations 1 to 4"),
        ("gen9randomdoublesbattle", "metamon", "metamon's spaces are of single battles"),
        ("kuhn_poker", "text", "kuhn_poker has no states to show"),
    ],
)
def test_a_view_that_does_not_fit_is_one_message(format_id: str, view: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        BattleEnv(format_id, view=view)
