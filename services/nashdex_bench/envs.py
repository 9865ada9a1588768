"""Steps a second of the environments, beside poke-env's ``SinglesEnv`` on the stock server, in turns.

Every side plays the same: random legal actions against a random player, one agent. poke-env's environment gets no
observation to compute, so that its time is for its battles and masks alone.
"""

import asyncio
import logging
import random
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import psutil
from gymnasium.spaces import Box
from numpy.typing import NDArray
from poke_env import AccountConfiguration, ServerConfiguration
from poke_env.battle import AbstractBattle
from poke_env.concurrency import POKE_LOOP
from poke_env.environment import SinglesEnv
from poke_env.environment.single_agent_wrapper import SingleAgentWrapper
from poke_env.player import RandomPlayer
from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

from nashdex.core.documents import Model
from nashdex.games.showdown.stock_server import StockServer, stock_server
from nashdex_bench.process_tree import cpu_seconds_of_tree
from nashdex_play.envs.single import BattleEnv
from nashdex_play.envs.vector import BattleVectorEnv

SINGLE, VECTOR, PEER = "single", "vector", "poke-env"


class EnvSpeed(Model):
    """One side. A step is one action of the agent and the opponent's answer to it."""

    side: str
    steps: PositiveInt
    steps_per_second: PositiveFloat
    steps_per_cpu_second: PositiveFloat
    """Steps by CPU second of all processes: this one, the gateways or the stock server."""


class EnvBench(Model):
    """All sides, each measured as often, in turns."""

    format: str
    num_envs: PositiveInt
    num_gateways: PositiveInt | None
    """Simulator processes of the vector environment; null for its own choice, at most one a core."""
    seconds: PositiveFloat
    """Seconds of each measurement; the first third warms up."""
    repetitions: PositiveInt
    seed: NonNegativeInt
    sides: tuple[EnvSpeed, ...]
    single_over_poke_env: PositiveFloat
    """Ratio of steps a CPU second."""
    vector_over_poke_env: PositiveFloat
    single_over_poke_env_wall: PositiveFloat
    """Ratio of steps a second, which depends on what else the machine does."""
    vector_over_poke_env_wall: PositiveFloat


class _RandomBattlesEnv(SinglesEnv):
    """poke-env's environment without an observation or a reward."""

    _nothing: Final = np.zeros(1, dtype=np.float32)

    def calc_reward(self, battle: AbstractBattle) -> float:
        del battle
        return 0.0

    def embed_battle(self, battle: AbstractBattle) -> NDArray[np.float32]:
        del battle
        return self._nothing


_Play = Callable[[], int]
"""Takes one step of a side and returns the number of agents' steps that it was."""


def bench_envs(
    format_id: str,
    *,
    num_envs: int,
    num_gateways: int | None,
    seconds: float,
    repetitions: int,
    seed: int,
    on_side: Callable[[str], None] = lambda _: None,
) -> EnvBench:
    """Measure every side ``repetitions`` times for ``seconds``.

    Raises:
        ConfigurationError: the format is unknown or plays doubles.
        TryAgainError: the stock server does not start.
    """
    spent = {side: np.zeros(3) for side in (SINGLE, VECTOR, PEER)}
    for repetition in range(repetitions):
        for side in spent:
            on_side(side)
            with _side(side, format_id, num_envs, num_gateways, seed + repetition) as play:
                _steps(play, seconds / 3)
                spent[side] += _steps(play, 2 * seconds / 3)
    sides = tuple(
        EnvSpeed(
            side=side,
            steps=int(steps),
            steps_per_second=steps / wall,
            steps_per_cpu_second=steps / cpu,
        )
        for side, (steps, wall, cpu) in spent.items()
    )
    single, vector, peer = sides
    return EnvBench(
        format=format_id,
        num_envs=num_envs,
        num_gateways=num_gateways,
        seconds=seconds,
        repetitions=repetitions,
        seed=seed,
        sides=sides,
        single_over_poke_env=single.steps_per_cpu_second / peer.steps_per_cpu_second,
        vector_over_poke_env=vector.steps_per_cpu_second / peer.steps_per_cpu_second,
        single_over_poke_env_wall=single.steps_per_second / peer.steps_per_second,
        vector_over_poke_env_wall=vector.steps_per_second / peer.steps_per_second,
    )


def lines(bench: EnvBench) -> Iterator[str]:
    """Yield the table as text."""
    yield f"{'side':10} {'steps':>9} {'steps/s':>9} {'steps/CPU-s':>12}"
    for each in bench.sides:
        yield f"{each.side:10} {each.steps:9,} {each.steps_per_second:9,.0f} {each.steps_per_cpu_second:12,.0f}"
    yield (
        f"times poke-env's, per CPU second: single {bench.single_over_poke_env:.1f}, {bench.num_envs} at once "
        f"{bench.vector_over_poke_env:.1f}; per second: {bench.single_over_poke_env_wall:.1f}, "
        f"{bench.vector_over_poke_env_wall:.1f}"
    )


def _steps(play: _Play, seconds: float) -> NDArray[np.float64]:
    """Return steps, wall seconds and CPU seconds of playing for ``seconds``."""
    process = psutil.Process()
    began, cpu, steps = time.monotonic(), cpu_seconds_of_tree(process), 0
    while time.monotonic() - began < seconds or not steps:
        steps += play()
    return np.array([steps, time.monotonic() - began, cpu_seconds_of_tree(process) - cpu])


@contextmanager
def _side(side: str, format_id: str, num_envs: int, num_gateways: int | None, seed: int) -> Iterator[_Play]:
    if side == PEER:
        with stock_server() as server:
            peer = _peer(format_id, server)
            try:
                yield _single(peer, np.random.default_rng(seed), np.flatnonzero, seed)
            finally:
                peer.close()
                asyncio.run_coroutine_threadsafe(_end_tasks(), POKE_LOOP).result()
    elif side == SINGLE:
        env = BattleEnv(format_id)
        try:
            generator = np.random.default_rng(seed)
            yield _single(env, generator, lambda info: np.flatnonzero(info["action_mask"]), seed)
        finally:
            env.close()
    else:
        many = BattleVectorEnv(num_envs, format_id, num_gateways=num_gateways)
        try:
            yield _vector(many, seed)
        finally:
            many.close()


def _single(env: Any, generator: np.random.Generator, legal: Callable[[Any], NDArray[np.int64]], seed: int) -> _Play:  # noqa: ANN401
    """Return a step of an environment of one agent; ``legal`` finds the legal actions."""
    shown = _shown(env.reset(seed=seed))

    def play() -> int:
        nonlocal shown
        actions = legal(shown)
        observation, _, terminated, truncated, info = env.step(actions[generator.integers(len(actions))])
        shown = _shown(env.reset() if terminated or truncated else (observation, info))
        return 1

    return play


def _shown(found: tuple[Any, Any]) -> Any:  # noqa: ANN401
    """Return where an environment shows its mask: poke-env's in the observation, ours in ``info``."""
    observation, info = found
    return observation["action_mask"] if isinstance(observation, dict) else info


def _vector(env: BattleVectorEnv, seed: int) -> _Play:
    generator = np.random.default_rng(seed)
    env.reset(seed=seed)

    def play() -> int:
        masks = env.action_masks()
        env.step((generator.random(masks.shape) * masks).argmax(axis=1))
        return env.num_envs

    return play


async def _end_tasks() -> None:
    """End the clients' connections, and their tasks that wait for a battle that is gone.

    Otherwise Python prints a traceback for each of these tasks when it collects them.
    """
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _peer(format_id: str, server: StockServer) -> SingleAgentWrapper[Any]:
    silent = logging.CRITICAL + 1  # poke-env calls the end of its own tasks critical
    logging.getLogger("poke-env").setLevel(silent)
    warnings.filterwarnings("ignore", module="poke_env")
    tag = f"{random.randrange(10**6)}"
    configuration = ServerConfiguration(server.websocket, "http://127.0.0.1/")
    env = _RandomBattlesEnv(
        account_configuration1=AccountConfiguration(f"peer a {tag}", None),
        account_configuration2=AccountConfiguration(f"peer b {tag}", None),
        battle_format=format_id,
        log_level=silent,
        open_timeout=None,
        server_configuration=configuration,
        strict=False,
    )
    env.observation_spaces = {agent: Box(0.0, 1.0, (1,), np.float32) for agent in env.possible_agents}
    opponent = RandomPlayer(battle_format=format_id, start_listening=False, log_level=silent)
    return SingleAgentWrapper(env, opponent)
