"""A Gymnasium vector environment: many battles at once, with inference of the opponent in batches."""

from typing import Any, Unpack

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array
from numpy.typing import NDArray

from nashdex.core.arguments import POLICY, check_type, whole_number
from nashdex.core.errors import ConfigurationError
from nashdex.core.user_input import shorten
from nashdex.games.space import NUM_SEATS
from nashdex.rollout.sizing import cores_of_shard
from nashdex_play.envs.arguments import EpisodeOptions, check_options, check_seat, checked_seed
from nashdex_play.envs.episodes import Episodes
from nashdex_play.envs.single import space_of

_SEED_BITS = 63
_FEWEST_BATTLES_A_GATEWAY = 16
"""Another gateway with fewer costs more to start and to wait for than it plays."""


class BattleVectorEnv(VectorEnv[Any, NDArray[np.int64], NDArray[Any]]):
    """``num_envs`` battles at once; ``gymnasium.make_vec("nashdex/Battle-v0", num_envs)`` makes it. N is ``num_envs``.

    A battle that ends is replaced in the same step (``AutoresetMode.SAME_STEP``): its observation is then the first one
    of the next battle, and ``infos`` has ``final_obs`` and ``final_info``. Arguments are as in ``BattleEnv``, and

    Args:
        num_gateways: simulator processes. By default one a core, with 16 battles each at least.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - the base class declares it so

    def __init__(
        self,
        num_envs: int = 64,
        format: str = "gen1randombattle",  # noqa: A002 - the project's word for it everywhere
        opponent: str = "random",
        *,
        seat: int | None = None,
        num_gateways: int | None = None,
        **options: Unpack[EpisodeOptions],
    ) -> None:
        check_options(BattleVectorEnv, format, options, EpisodeOptions)
        check_type("opponent", opponent, POLICY)
        check_seat(seat)
        self.num_envs = num_envs = whole_number("num_envs", num_envs, 1)
        if num_gateways is None:
            num_gateways = max(1, min(cores_of_shard(1), num_envs // _FEWEST_BATTLES_A_GATEWAY))
        whole_number("num_gateways", num_gateways, 1)
        self._seat = seat
        self._episodes = Episodes(format, opponent, num_envs, num_gateways=num_gateways, **options)
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
        if isinstance(seed, list):
            seeds = [checked_seed(each, options) for each in seed]
        else:
            first = checked_seed(seed, options)
            seeds = [None if first is None else first + i for i in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise ConfigurationError(f"seed is a list of {len(seeds)}: expected {self.num_envs}, one for each battle")
        if not self._generators or any(each is not None for each in seeds):
            self._generators = [gymnasium.utils.seeding.np_random(each)[0] for each in seeds]
        for number in range(self.num_envs):
            self._begin(number)
        self._episodes.wait()
        return self._look({})

    def step(self, actions: NDArray[np.int64]) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play one decision in every battle. Arrays of shape (N,), observations (N, F)."""
        try:
            taken = np.asarray(actions)
        except ValueError as error:  # lists of unequal lengths
            raise ConfigurationError(
                f"actions are {shorten(actions)}: expected whole numbers, {self.num_envs} in all"
            ) from error
        played = self._episodes.step(taken, replace=self._begin)
        terminated, truncated = np.zeros((2, self.num_envs), dtype=np.bool_)
        infos: dict[str, Any] = {}
        for number, last in played.last.items():
            terminated[number], truncated[number] = last.terminated, last.truncated
            infos = self._add_info(infos, {"final_obs": last.observation, "final_info": last.info}, number)
        for number, action in played.illegal.items():
            infos = self._add_info(infos, {"illegal_action": action}, number)
        observations, infos = self._look(infos)
        return observations, played.rewards, terminated, truncated, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal in each battle, shape (N, A)."""
        return self._masks

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ANN401 - the base class's signature
        """Stop the simulator."""
        del kwargs
        self._episodes.close()

    def _begin(self, number: int) -> None:
        draws = self._generators[number]
        seed = int(draws.integers(1 << _SEED_BITS))
        self._episodes.begin(number, seed, int(draws.integers(NUM_SEATS)) if self._seat is None else self._seat)

    def _look(self, infos: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return what the agents observe: an array (N, …), a dictionary of them, or a tuple of texts; and ``infos``."""
        episodes = self._episodes
        self._masks = episodes.masks
        if episodes.shows_vectors:
            everyone = np.ones(self.num_envs, dtype=np.bool_)
            shared = {
                "seat": episodes.seats.astype(np.int64),
                "action_mask": self._masks.view(np.int8),
                "asked_again": episodes.asked_again,
            }
            return episodes.observations, infos | shared | {f"_{name}": everyone for name in shared}
        steps = [episodes.look(number) for number in range(self.num_envs)]
        for number, step in enumerate(steps):
            infos = self._add_info(infos, step.info, number)
        empty = create_empty_array(self.single_observation_space, self.num_envs)
        return concatenate(self.single_observation_space, [step.observation for step in steps], empty), infos
