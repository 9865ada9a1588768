"""A Gymnasium vector environment: many battles at once in one simulator, with inference of the opponent in batches."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array
from numpy.typing import NDArray

from nashdex.envs.episodes import Episodes, Step
from nashdex.envs.single import check_seat
from nashdex.envs.spaces import space_of
from nashdex.envs.views import EnvView
from nashdex.games.space import NUM_SEATS
from nashdex.runs.inputs import game_with_team_set

_SEED_BITS = 63


class BattleVectorEnv(VectorEnv[Any, NDArray[np.int64], NDArray[Any]]):
    """``num_envs`` battles at once; ``gymnasium.make_vec("nashdex/Battle-v0", num_envs)`` makes it. N is ``num_envs``.

    A battle that ends is replaced in the same step (``AutoresetMode.SAME_STEP``): its observation is then the first one
    of the next battle, and ``infos`` has ``final_obs`` and ``final_info``. Arguments are as in ``BattleEnv``, and

    Args:
        num_gateways: simulator processes; with two cores, 2 play more steps a second.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - the base class declares it so

    def __init__(
        self,
        num_envs: int = 64,
        format: str = "gen1randombattle",  # noqa: A002 - the project's word for it everywhere
        opponent: str = "random",
        *,
        reward: str = "win-loss",
        discount: float = 1.0,
        seat: int | None = None,
        team_set: str | None = None,
        view: str | EnvView = "observation",
        states: bool = False,
        log: bool = False,
        strict: bool = False,
        num_gateways: int = 1,
    ) -> None:
        check_seat(seat)
        self.num_envs = num_envs
        self._seat = seat
        self._episodes = Episodes(
            game_with_team_set(format, team_set),
            opponent,
            num_envs,
            reward=reward,
            discount=discount,
            view=view,
            shows_states=states,
            keeps_logs=log,
            strict=strict,
            num_gateways=num_gateways,
        )
        space = self._episodes.space
        self.single_observation_space = space_of(self._episodes.nothing)
        self.single_action_space = spaces.Discrete(space.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._masks = np.ones((num_envs, space.num_actions), dtype=np.bool_)
        self._generators: list[np.random.Generator] = []

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin ``num_envs`` battles. Battle i is as in a ``BattleEnv`` with ``seed + i``."""
        del options
        seeds = seed if isinstance(seed, list) else [None if seed is None else seed + i for i in range(self.num_envs)]
        if not self._generators or any(each is not None for each in seeds):
            self._generators = [gymnasium.utils.seeding.np_random(each)[0] for each in seeds]
        steps = self._begin(list(range(self.num_envs)))
        infos: dict[str, Any] = {}
        for number, step in enumerate(steps):
            infos = self._add_info(infos, step.info, number)
        return self._batch(steps), infos

    def step(self, actions: NDArray[np.int64]) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play one decision in every battle. Arrays of shape (N,), observations (N, F)."""
        steps = self._episodes.step(dict(enumerate(np.asarray(actions).tolist())))
        terminated = np.array([step.terminated for step in steps])
        truncated = np.array([step.truncated for step in steps])
        rewards = np.array([step.reward for step in steps], dtype=np.float32)
        ended = np.flatnonzero(terminated | truncated).tolist()
        infos: dict[str, Any] = {}
        for number in ended:
            final = {"final_obs": steps[number].observation, "final_info": steps[number].info}
            infos = self._add_info(infos, final, number)
        for number, first in zip(ended, self._begin(ended), strict=True):
            steps[number] = first
        for number, step in enumerate(steps):
            self._masks[number] = step.mask
            infos = self._add_info(infos, step.info, number)
        return self._batch(steps), rewards, terminated, truncated, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal in each battle, shape (N, A)."""
        return self._masks

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ANN401 - the base class's signature
        """Stop the simulator."""
        del kwargs
        self._episodes.close()

    def _batch(self, steps: list[Step]) -> Any:  # noqa: ANN401 - an element of observation_space
        """Return the observations of all battles: an array (N, …), a dictionary of them, or a tuple of texts."""
        empty = create_empty_array(self.single_observation_space, len(steps))
        return concatenate(self.single_observation_space, [step.observation for step in steps], empty)

    def _begin(self, numbers: list[int]) -> list[Step]:
        if not numbers:
            return []
        draws = [self._generators[number] for number in numbers]
        seeds = [int(draw.integers(1 << _SEED_BITS)) for draw in draws]
        seats = [int(draw.integers(NUM_SEATS)) if self._seat is None else self._seat for draw in draws]
        steps = self._episodes.begin(numbers, seeds, seats)
        for number, step in zip(numbers, steps, strict=True):
            self._masks[number] = step.mask
        return steps
