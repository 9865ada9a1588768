"""The Python API with arguments of wrong types and values: one error that names the argument, never one from inside."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import nashdex
from nashdex.core.errors import ConfigurationError
from nashdex.games.tabular.matrix import MatrixDocument
from nashdex_play.envs import BattleAECEnv, BattleEnv, BattleParallelEnv, BattleVectorEnv, EnvView

KUHN: Final[Any] = {"format": "kuhn_poker"}
NO_NUMBERS: Final[tuple[object, ...]] = (None, "1", 1.5, float("nan"), True, [], {}, b"x", Path("x"), object())
NO_TEXTS: Final[tuple[object, ...]] = (3, 1.5, True, [], {}, b"x", object())
NO_NAMES: Final[tuple[object, ...]] = (None, Path("x"), *NO_TEXTS)
NO_FLAGS: Final[tuple[object, ...]] = (None, "yes", 1, [], object())

_ENV_OPTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "format": NO_NAMES,
    "team_set": NO_TEXTS,
    "reward": NO_NAMES,
    "discount": (None, "1", [], 0, 2.0, float("nan")),
    "view": NO_NAMES,
    "log": NO_FLAGS,
    "strict": NO_FLAGS,
}
_ONE_AGENT: Final = {**_ENV_OPTIONS, "opponent": NO_NAMES, "states": NO_FLAGS, "seat": (2, -1, 1.0, "0", [], object())}


def player(**arguments: Any) -> Any:  # noqa: ANN401 - whatever the test passes
    from nashdex_play.poke_env import Player  # noqa: PLC0415 - poke-env takes a second to import

    return Player(**{"policy": "random", "battle_format": "gen1randombattle", **arguments})


MAKING: Final[dict[str, tuple[Callable[..., Any], dict[str, tuple[Any, ...]]]]] = {
    "open_run": (nashdex.open_run, {"uri": (None, 3, 1.5, True, [], {}, b"x", object())}),
    "load_policy": (partial(nashdex.load_policy, "random"), {"format": NO_TEXTS}),
    "load_policy's name": (partial(nashdex.load_policy, **KUHN), {"name": NO_NAMES}),
    "battle": (
        partial(nashdex.battle, p1="random", p2="random", battles=2, **KUHN),
        {
            "p1": NO_NAMES,
            "p2": NO_NAMES,
            "format": NO_TEXTS,
            "battles": (0, *NO_NUMBERS),
            "best_of": (0, 2, *NO_NUMBERS),
            "team_set": NO_TEXTS,
            "matrix": (3, [], {}, b"x", object()),
            "seed": (-1, *NO_NUMBERS),
            "num_gateways": (0, *NO_NUMBERS),
            "on_battle": (None, 3, "print"),
        },
    ),
    "BattleEnv": (partial(BattleEnv, **KUHN), {**_ONE_AGENT, "render_mode": ("human", 3, [])}),
    "BattleVectorEnv": (
        partial(BattleVectorEnv, num_envs=2, **KUHN),
        {**_ONE_AGENT, "num_envs": (0, *NO_NUMBERS), "num_gateways": (0, *NO_NUMBERS[1:])},  # None: one a core
    ),
    "BattleParallelEnv": (partial(BattleParallelEnv, **KUHN), _ENV_OPTIONS),
    "BattleAECEnv": (partial(BattleAECEnv, **KUHN), _ENV_OPTIONS),
    "poke_env.Player": (
        player,
        {
            "policy": NO_NAMES,
            "account_configuration": ("me", 3),
            "battle_format": NO_TEXTS,
            "team": (3, [], b"x"),
            "team_set": NO_TEXTS,
            "seed": (-1, *NO_NUMBERS),
            "max_concurrent_battles": (0, 65, *NO_NUMBERS),
        },
    ),
}


@pytest.mark.parametrize(
    ("function", "argument", "wrong"),
    [
        pytest.param(name, argument, wrong, id=f"{name}-{argument}-{wrong!r:.12}")
        for name, (_, arguments) in MAKING.items()
        for argument, values in arguments.items()
        for wrong in values
    ],
)
def test_a_wrong_argument_is_named_before_anything_starts(function: str, argument: str, wrong: object) -> None:
    with pytest.raises(ConfigurationError, match=rf"^{argument} is .*: expected ") as found:
        MAKING[function][0](**{argument: wrong})
    assert "--" not in str(found.value)


@pytest.fixture
def envs() -> Iterator[dict[str, Any]]:
    made: dict[str, Any] = {
        "one": BattleEnv("kuhn_poker"),
        "vector": BattleVectorEnv(2, "kuhn_poker"),
        "parallel": BattleParallelEnv("kuhn_poker"),
        "aec": BattleAECEnv("kuhn_poker"),
    }
    yield made
    for env in made.values():
        env.close()


ENVS: Final = ("one", "vector", "parallel", "aec")


@pytest.mark.parametrize("env", ENVS)
def test_a_reset_checks_its_arguments(envs: dict[str, Any], env: str) -> None:
    for seed in (-1, "x", 1.5, True, {}, object()):
        with pytest.raises(ConfigurationError, match=r"^seed is .*: expected a whole number, at least 0$"):
            envs[env].reset(seed=seed)
    for options in (3, "x", [1]):
        with pytest.raises(ConfigurationError, match=r"^options is .*: expected a dictionary, or None$"):
            envs[env].reset(options=options)
    envs[env].reset(seed=np.int64(3))


@pytest.mark.parametrize("env", ENVS)
def test_a_step_before_a_reset_asks_for_it(envs: dict[str, Any], env: str) -> None:
    action = {"vector": np.zeros(2, dtype=np.int64), "parallel": {"player_0": 0, "player_1": 0}}.get(env, 0)
    with pytest.raises(ConfigurationError, match=r"none has begun: call reset\(\)"):
        envs[env].step(action)


@pytest.mark.parametrize("env", ENVS)
def test_a_step_checks_its_actions(envs: dict[str, Any], env: str) -> None:
    envs[env].reset(seed=0)
    for wrong in (None, 1.5, "x", [], object(), np.zeros(3), [[0], [0, 1]]):
        with pytest.raises(ConfigurationError, match="expected"):
            envs[env].step(wrong)
    if env == "parallel":
        with pytest.raises(ConfigurationError, match=r"the action of player_. is 'x': expected a whole number"):
            envs[env].step({"player_0": "x", "player_1": "x"})


def test_an_agent_that_does_not_exist_is_named(envs: dict[str, Any]) -> None:
    for env in (envs["parallel"], envs["aec"]):
        for method in (env.observation_space, env.action_space):
            with pytest.raises(ConfigurationError, match="agent is 'nobody': expected one of player_0, player_1"):
                method("nobody")
    with pytest.raises(ConfigurationError, match="agent is 'nobody'"):
        envs["aec"].observe("nobody")
    with pytest.raises(ConfigurationError, match="call reset"):
        envs["aec"].last()


def test_the_wrapper_for_stable_baselines_checks_its_arguments(envs: dict[str, Any]) -> None:
    from nashdex_play.envs.stable_baselines import BattleVecEnv  # noqa: PLC0415 - it imports torch

    for wrong in (None, envs["one"]):
        with pytest.raises(ConfigurationError, match=r"env is .*: expected a BattleVectorEnv"):
            BattleVecEnv(wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"seed is 'x': expected a whole number"):
        BattleVecEnv(envs["vector"]).seed("x")  # type: ignore[arg-type]


def test_a_view_checks_its_fields() -> None:
    with pytest.raises(ConfigurationError, match=r"make is 'x': expected a function of a Space, or None"):
        EnvView(make="x")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"reads_states is 1: expected True or False"):
        EnvView(make=None, reads_states=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, "x", 3, {}])
def test_what_is_no_clone_is_refused(envs: dict[str, Any], wrong: object) -> None:
    with pytest.raises(ConfigurationError, match=r"clone is .*: expected a Clone"):
        envs["one"].restore(wrong)


@pytest.mark.parametrize(
    ("argument", "wrong"), [("log", b"x"), ("log", Path("x")), ("seat", 2), ("seat", "0"), ("turn", 0), ("seed", -1)]
)
def test_a_position_checks_its_arguments(envs: dict[str, Any], argument: str, wrong: object) -> None:
    with pytest.raises(ConfigurationError, match=f"{argument} is .*: expected"):
        envs["one"].from_log(**{"log": "|start", "seat": 0, "turn": 1, argument: wrong})


@pytest.mark.parametrize("name", ["BattleEnv", "BattleVectorEnv", "BattleParallelEnv", "BattleAECEnv"])
def test_an_unknown_argument_is_a_type_error_with_the_known_ones(name: str) -> None:
    with pytest.raises(TypeError, match=rf"{name} has no argument 'rewards': did you mean reward\? Expected one of"):
        MAKING[name][0](rewards="shaped")


@pytest.mark.parametrize("name", ["BattleEnv", "BattleVectorEnv"])
def test_the_known_arguments_include_the_first_ones(name: str) -> None:
    with pytest.raises(TypeError, match=r"did you mean opponent\? Expected one of .*format, opponent, seat"):
        MAKING[name][0](oponent="random")


def test_decisions_are_checked() -> None:
    policy = nashdex.load_policy("random", **KUHN)
    batch = policy.batch(2)
    size = policy.space.observation_size
    wrong: Any
    for wrong in ("x", None, {}, [[1], [1, 2]], object()):
        with pytest.raises(ConfigurationError, match=r"^observation is .*: expected an array of numbers"):
            policy.act(wrong, [1, 1])
        with pytest.raises(ConfigurationError, match=r"^legal is .*: expected an array of numbers"):
            policy.act(np.zeros(size), wrong)
        with pytest.raises(ConfigurationError, match=r"^observations is .*: expected an array of numbers"):
            batch.act(wrong, np.ones((2, 2)))
        with pytest.raises(ConfigurationError, match=r"^ended is .*: expected an array of numbers"):
            batch.begin(wrong)
    with pytest.raises(ConfigurationError, match=r"^asked_again is 'no': expected True or False"):
        policy.act(np.zeros(size), [1, 1], asked_again="no")  # type: ignore[arg-type]
    for seed in (-1, "x", None, 1.5):
        with pytest.raises(ConfigurationError, match=r"^seed is .*: expected a whole number, at least 0"):
            policy.reset(seed)  # type: ignore[arg-type]
        with pytest.raises(ConfigurationError, match=r"^seed is .*: expected a whole number, at least 0"):
            policy.batch(2, seed)  # type: ignore[arg-type]


def test_formats_that_need_payoffs_are_for_battles_alone(tmp_path: Path) -> None:
    for make in (BattleEnv, partial(nashdex.load_policy, "random")):
        with pytest.raises(ConfigurationError, match="format matrix needs payoffs, and none can be given here"):
            make(format="matrix")
    file = tmp_path / "game.json"
    file.write_text('{"payoffs": [[0, 1], [-1, 0]]}')
    payoffs = MatrixDocument(row_policies=("a", "b"), column_policies=("a", "b"), payoffs=((0.0, 1.0), (-1.0, 0.0)))
    results = [
        nashdex.battle("random", "random", format="matrix", battles=20, matrix=matrix)
        for matrix in (file, str(file), payoffs)
    ]
    assert len({(result.wins, result.draws, result.losses) for result in results}) == 1
    with pytest.raises(ConfigurationError, match="kuhn_poker takes no teams: leave the set of teams out"):
        nashdex.battle("random", "random", team_set="sample", **KUHN)
