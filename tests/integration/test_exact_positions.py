"""``from_log`` where a replay has the simulator's input: the battle is played again, and nothing hidden is drawn."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nashdex.core.errors import DataError
from nashdex.games.showdown.gateway import find_node, load_gateway_settings
from nashdex_play.envs import BattleEnv

pytestmark = pytest.mark.integration
FORMAT = "gen1randombattle"
SCRIPT = Path(__file__).parents[1] / "support" / "programs" / "battle_with_inputs.cjs"


@pytest.fixture(scope="module")
def replay() -> dict[str, Any]:
    settings = load_gateway_settings()
    command = [find_node(settings), str(SCRIPT), str(settings.directory), FORMAT]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found


@pytest.fixture(scope="module")
def env() -> Iterator[BattleEnv]:
    env = BattleEnv(FORMAT, "random", states=True, log=True)
    yield env
    env.close()


def _names(info: dict[str, Any]) -> list[str]:
    return [pokemon["name"] for pokemon in info["state"]["own"]["pokemon"]]


def _play(env: BattleEnv, info: dict[str, Any], seed: int) -> dict[str, Any]:
    generator, terminated = np.random.default_rng(seed), False
    while not terminated:
        action = generator.choice(np.flatnonzero(info["action_mask"]))
        _, _, terminated, truncated, info = env.step(action)
        assert not truncated
    return info


def test_both_teams_are_the_battles_own(env: BattleEnv, replay: dict[str, Any]) -> None:
    text = json.dumps(replay)
    teams = [_names(env.from_log(text, seat, 1)[1]) for seat in (0, 1)]
    for seed in range(4):
        _, info = env.from_log(text, 0, 5, seed=seed)
        assert info["state"]["turn"] == 5
        assert _names(info) == teams[0]
        clone = env.clone()
        last = _play(env, info, seed)
        switched = {
            line.split("|")[3].split(",")[0] for line in last["log"].splitlines() if line.startswith("|switch|p2")
        }
        assert switched <= set(teams[1]), "the opponent has the team that it had"
        _, info = env.restore(type(clone).model_validate_json(clone.model_dump_json()))
        assert _play(env, info, seed)["log"] == last["log"]


def test_every_decision_of_the_battle_is_reached(env: BattleEnv, replay: dict[str, Any]) -> None:
    turns = [int(line.split("|")[2]) for line in replay["log"].splitlines() if line.startswith("|turn|")]
    for turn in turns[::4]:
        _, info = env.from_log(json.dumps(replay), turn % 2, turn)
        assert info["state"]["turn"] == turn


@pytest.mark.parametrize("missing", [">start", ">player p2"])
def test_without_start_or_a_team_the_rest_is_drawn(env: BattleEnv, replay: dict[str, Any], missing: str) -> None:
    inputs = [line for line in replay["inputLog"] if not line.startswith(missing)]
    _, info = env.from_log(json.dumps(replay | {"inputLog": inputs}), 0, 5)
    assert info["state"]["turn"] == 5


@pytest.mark.parametrize(
    ("found", "by", "message"),
    [
        ("0123456789abcdef", "0123456789abcdee", "plays another battle than the log|which cannot be chosen there"),
        ('"formatid":"gen1randombattle"', '"formatid":"gen1ou"', "begins no battle of gen1randombattle"),
        (">p1 move ", ">p1 move no", "which cannot be chosen there"),
    ],
)
def test_an_input_that_does_not_lead_there_is_refused(
    env: BattleEnv, replay: dict[str, Any], found: str, by: str, message: str
) -> None:
    inputs = [line.replace(found, by) for line in replay["inputLog"]]
    with pytest.raises(DataError, match=message):
        env.from_log(json.dumps(replay | {"inputLog": inputs}), 0, 8)
