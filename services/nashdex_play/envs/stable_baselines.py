"""The vector environment as Stable-Baselines3 takes it: for MaskablePPO of sb3-contrib. N battles, A actions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from nashdex.core.arguments import check_type, whole_number
from nashdex.core.errors import ConfigurationError
from nashdex_play.envs.vector import BattleVectorEnv


class BattleVecEnv(VecEnv):  # type: ignore[misc] # the library's types are not installed everywhere
    """The battles of ``env`` at once, with the masks that MaskablePPO asks for."""

    def __init__(self, env: BattleVectorEnv) -> None:
        check_type("env", env, (BattleVectorEnv, "a BattleVectorEnv"))
        self._env = env
        self._seed: int | None = None
        self._actions = np.zeros(env.num_envs, dtype=np.int64)
        self._returns = np.zeros(env.num_envs)
        self._lengths = np.zeros(env.num_envs, dtype=np.int64)
        self.render_mode = None
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self) -> Any:  # noqa: ANN401 - as the view shows it
        """Begin all battles; return observations of shape (N, F)."""
        observations, _ = self._env.reset(seed=self._seed)
        self._seed = None
        self._returns[:] = 0.0
        self._lengths[:] = 0
        return observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take the actions of the next step, shape (N,)."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play them; return observations, rewards, dones and infos."""
        observations, rewards, terminated, truncated, found = self._env.step(self._actions)
        dones = terminated | truncated
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for number in np.flatnonzero(dones).tolist():
            infos[number] = {
                "terminal_observation": found["final_obs"][number],
                "TimeLimit.truncated": bool(truncated[number]),
                "episode": {"r": float(self._returns[number]), "l": int(self._lengths[number])},
            }
        self._returns[dones] = 0.0
        self._lengths[dones] = 0
        return observations, rewards, dones, infos

    def env_method(
        self,
        method_name: str,
        *method_args: Any,  # noqa: ANN401 - the base class's signature
        indices: int | Sequence[int] | None = None,
        **method_kwargs: Any,  # noqa: ANN401
    ) -> list[Any]:
        """Return each battle's ``action_masks``, (A,); there is no other method."""
        del method_args, method_kwargs
        if method_name != "action_masks":
            raise ConfigurationError(f"the battles have no method {method_name!r}; expected action_masks")
        masks = self._env.action_masks()
        return [masks[number] for number in self._get_indices(indices)]

    def has_attr(self, attr_name: str) -> bool:
        """Say whether the battles have an attribute: ``action_masks`` is one."""
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: int | Sequence[int] | None = None) -> list[Any]:
        """Return an attribute of the vector environment for each battle."""
        return [getattr(self._env, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: int | Sequence[int] | None = None) -> None:  # noqa: ANN401
        """Raise: battles have no attributes to set."""
        del value, indices
        raise ConfigurationError(f"the battles have no attribute {attr_name!r} to set")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: int | Sequence[int] | None = None) -> list[bool]:
        """Return false for each battle."""
        del wrapper_class
        return [False for _ in self._get_indices(indices)]

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed the next reset."""
        self._seed = seed = None if seed is None else whole_number("seed", seed, 0)
        return [None if seed is None else seed + number for number in range(self.num_envs)]

    def close(self) -> None:
        """Stop the simulator."""
        self._env.close()
