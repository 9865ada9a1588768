"""PettingZoo environments: two agents play one battle, in turns (AEC) or at once (parallel).

Both seats of a turn decide before either sees what the other does. Sometimes one seat alone has something to choose,
as when its Pokémon fainted. The AEC environment then asks only that agent. The parallel one asks both, as its
interface demands: the other agent's mask allows action 0 alone, which does nothing.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Unpack

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo.utils.env import AECEnv, ParallelEnv

from nashdex.core.arguments import check_type, whole_number
from nashdex.core.errors import ConfigurationError
from nashdex.core.user_input import shorten
from nashdex.games.interface import Failure
from nashdex.runs.inputs import game_with_team_set
from nashdex_play.envs.arguments import BattleOptions, check_options, checked_seed
from nashdex_play.envs.battles import Battles, StepRewards
from nashdex_play.envs.single import space_of
from nashdex_play.envs.views import VIEWS, EnvView

AGENTS: Final = ["player_0", "player_1"]
"""By seat."""
_SEED_BITS: Final = 63


class _Match:
    """One battle in which the program plays both seats: what both environments share."""

    def __init__(
        self,
        format_id: str,
        *,
        team_set: str | None = None,
        reward: str = "win-loss",
        discount: float = 1.0,
        view: str | EnvView = "observation",
        log: bool = False,
        strict: bool = False,
    ) -> None:
        game = game_with_team_set(format_id, team_set)
        named = VIEWS[view] if isinstance(view, str) else view
        self._battles = Battles(game, None, 1, view=named, keeps_logs=log)
        try:
            self._rewards = StepRewards(self._battles.space, reward, discount)
        except BaseException:
            self.close()
            raise
        self._strict = strict
        size = self._battles.space.observation_size
        self.num_actions = self._battles.space.num_actions
        self._no_observation = np.zeros(size, dtype=np.float32)
        self._observations = [self._no_observation, self._no_observation]
        """The newest observation of each seat, which rewards are computed from."""
        self._nothing = self._battles.nothing
        self.seen: list[Any] = [self._nothing, self._nothing]
        """What the view showed each seat last; zeros, or no text, where the battle is over."""
        self.observation_space = space_of(self._nothing)
        self.action_space: spaces.Space[Any] = spaces.Discrete(self.num_actions)
        self._generator = seeding.np_random()[0]

    def begin(self, seed: int | None) -> None:
        """Start a battle."""
        if seed is not None:
            self._generator = seeding.np_random(seed)[0]
        self._battles.start(0, int(self._generator.integers(1 << _SEED_BITS)), None)
        self.seen = [self._nothing, self._nothing]
        self._observations = [self._no_observation, self._no_observation]
        self._battles.wait()
        self._look()

    def play(self, actions: dict[int, int]) -> list[float]:
        """Answer every open decision, by seat, and return each seat's reward."""
        if not actions:
            raise ConfigurationError("the battle is over, or none has begun: call reset() before step()")
        before = list(self._observations)
        legal = {seat: self.legal(seat, action) for seat, action in actions.items()}
        seats = np.array(list(legal), dtype=np.int8)
        self._battles.act(np.zeros(len(seats), dtype=np.int64), seats, np.array(list(legal.values())))
        self._battles.wait()
        ending = self._battles.ended[0]
        if ending is None:
            self._look()
            found: list[float] = self._rewards.of_steps(np.stack(before), np.stack(self._observations)).tolist()
            return found
        self.seen = [self._nothing, self._nothing]
        if isinstance(ending, Failure):
            return [0.0, 0.0]
        return [self._rewards.of_last_step(before[seat], ending.score(seat)) for seat in range(len(AGENTS))]

    @property
    def asked(self) -> list[int]:
        """Seats with an open decision."""
        return np.flatnonzero(self._battles.is_asked).tolist()

    @property
    def is_over(self) -> bool:
        """Whether the battle has ended."""
        return self._battles.ended[0] is not None

    @property
    def is_void(self) -> bool:
        """Whether the battle failed and has no result."""
        return isinstance(self._battles.ended[0], Failure)

    def mask(self, seat: int) -> NDArray[np.bool_]:
        """Return which actions are legal, shape (A,): all once the battle is over, the first for a seat that waits."""
        if self.is_over:
            return np.ones(self.num_actions, dtype=np.bool_)
        if self._battles.is_asked[seat]:
            legal: NDArray[np.bool_] = self._battles.masks[seat].copy()
            return legal
        mask = np.zeros(self.num_actions, dtype=np.bool_)
        mask[0] = True
        return mask

    def info(self, seat: int) -> dict[str, Any]:
        """Return a seat's ``info``."""
        is_asked = bool(self._battles.is_asked[seat])
        info: dict[str, Any] = {"action_mask": self.mask(seat).view(np.int8), "is_asked": is_asked}
        if is_asked and self._battles.shows_more:
            shown = self._battles.shown[0, seat]
            if shown.view_actions is not None:
                info |= {"view_actions": shown.view_actions, "is_shown": shown.is_shown}
        ending = self._battles.ended[0]
        if isinstance(ending, Failure):
            info["failure"] = f"{ending.cause}: {ending.detail}"
        elif ending is not None:
            info |= {"score": ending.score(seat), "turns": ending.turns}
            if ending.log is not None:
                info["log"] = ending.log
        return info

    def close(self) -> None:
        self._battles.close()

    def _look(self) -> None:
        for seat in self.asked:
            self._observations[seat] = self._battles.observations[seat].copy()
            shows_more = self._battles.shows_more
            self.seen[seat] = self._battles.shown[0, seat].view if shows_more else self._observations[seat]

    def legal(self, seat: int, action: int) -> int:
        """Return an action of an open decision, or a legal one that is drawn instead.

        Raises:
            ConfigurationError: it is illegal, with ``strict``.
        """
        legal = np.flatnonzero(self._battles.masks[seat])
        if action in legal:
            return action
        if self._strict:
            raise ConfigurationError(f"action {action} of seat {seat} is not legal; expected one of {legal.tolist()}")
        return int(self._generator.choice(legal))


def seat_of(agent: str) -> int:
    """Return the seat of an agent.

    Raises:
        ConfigurationError: there is no such agent.
    """
    if agent not in AGENTS:
        raise ConfigurationError(f"agent is {shorten(agent)}: expected one of {', '.join(AGENTS)}")
    return AGENTS.index(agent)


def _action(agent: str, action: Any) -> int:  # noqa: ANN401 - whatever the caller passes
    return whole_number(f"the action of {agent}", action)


class _Spaces:
    """The parts that PettingZoo's two interfaces declare alike. Arguments are as in ``BattleEnv``."""

    def __init__(
        self,
        format: str = "gen1randombattle",  # noqa: A002 - the project's word for it everywhere
        **options: Unpack[BattleOptions],
    ) -> None:
        check_options(type(self), format, options, BattleOptions)
        self._match = _Match(format, **options)
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.render_mode = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return an agent's space of observations."""
        seat_of(agent)
        return self._match.observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return an agent's space of actions."""
        seat_of(agent)
        return self._match.action_space

    def render(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Stop the simulator."""
        self._match.close()


class BattleParallelEnv(_Spaces, ParallelEnv):  # type: ignore[misc] # the library is untyped
    """Two agents play one battle at once. Illegal actions are replaced by a legal one, unless ``strict``."""

    metadata: ClassVar[dict[str, Any]] = {"name": "nashdex_battle_v0", "render_modes": []}

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin a battle."""
        self._match.begin(checked_seed(seed, options))
        self.agents = list(AGENTS)
        return dict(zip(AGENTS, self._match.seen, strict=True)), self._infos()

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Play the decisions of the agents that are asked.

        Raises:
            ConfigurationError: there is no battle, one of these agents has no action, or one is no whole number.
        """
        check_type("actions", actions, (Mapping, "a dictionary with one of each agent"))
        if missing := [AGENTS[seat] for seat in self._match.asked if AGENTS[seat] not in actions]:
            raise ConfigurationError(f"actions have none of {' and '.join(missing)}: expected one of each agent")
        asked = self._match.asked
        rewards = self._match.play({seat: _action(AGENTS[seat], actions[AGENTS[seat]]) for seat in asked})
        is_over, is_void = self._match.is_over, self._match.is_void
        if is_over:
            self.agents = []
        return (
            dict(zip(AGENTS, self._match.seen, strict=True)),
            dict(zip(AGENTS, rewards, strict=True)),
            dict.fromkeys(AGENTS, is_over and not is_void),
            dict.fromkeys(AGENTS, is_void),
            self._infos(),
        )

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {agent: self._match.info(seat) for seat, agent in enumerate(AGENTS)}


class BattleAECEnv(_Spaces, AECEnv):  # type: ignore[misc] # the library is untyped
    """Two agents play one battle in turns. Illegal actions are replaced by a legal one, unless ``strict``."""

    metadata: ClassVar[dict[str, Any]] = {"name": "nashdex_battle_v0", "render_modes": [], "is_parallelizable": False}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a battle."""
        self._match.begin(checked_seed(seed, options))
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._chosen: dict[int, int] = {}
        self.agent_selection = AGENTS[0]
        self._look()

    def observe(self, agent: str) -> Any:  # noqa: ANN401 - as the view shows it
        """Return an agent's newest observation."""
        return self._match.seen[seat_of(agent)]

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: FBT001, FBT002 - the base class's signature
        """Return the selected agent's observation, its reward since its last action, whether it is over, and its info.

        Raises:
            ConfigurationError: there is no battle.
        """
        self._check_begun()
        found: tuple[Any, float, bool, bool, dict[str, Any]] = super().last(observe)
        return found

    def step(self, action: int | None) -> None:
        """Answer the selected agent's decision; the battle goes on once no agent has an open one.

        Raises:
            ConfigurationError: there is no battle, the action is no whole number, or with ``strict`` it is illegal.
        """
        self._check_begun()
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        seat = AGENTS.index(self.agent_selection)
        self._chosen[seat] = self._match.legal(seat, _action(self.agent_selection, action))
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        open_seats = [seat for seat in self._match.asked if seat not in self._chosen]
        if open_seats:
            self.agent_selection = AGENTS[open_seats[0]]
        else:
            rewards = self._match.play(self._chosen)
            # One that waits has taken no step since its decision: its reward comes when it is asked again.
            stepped = range(len(AGENTS)) if self._match.is_over else self._match.asked
            self.rewards = {agent: rewards[seat] if seat in stepped else 0.0 for seat, agent in enumerate(AGENTS)}
            self._chosen = {}
            self._look()
        self._accumulate_rewards()

    def _check_begun(self) -> None:
        if not self.agents:
            raise ConfigurationError("the battle is over, or none has begun: call reset() first")

    def _look(self) -> None:
        is_over, is_void = self._match.is_over, self._match.is_void
        self.terminations = dict.fromkeys(AGENTS, is_over and not is_void)
        self.truncations = dict.fromkeys(AGENTS, is_void)
        self.infos = {agent: self._match.info(seat) for seat, agent in enumerate(AGENTS)}
        self.agent_selection = AGENTS[self._match.asked[0] if self._match.asked else 0]
