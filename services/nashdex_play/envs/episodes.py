"""Episodes against a policy: what the environments with one agent share.

N episodes, F observation values, A actions.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt

from nashdex.core.arguments import check_type
from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.seeds import derive_uniform
from nashdex.core.user_input import shorten
from nashdex.games.interface import Failure, Position
from nashdex.games.space import NUM_SEATS
from nashdex.runs.inputs import game_with_team_set
from nashdex_play.envs.battles import Battles, StepRewards
from nashdex_play.envs.text import choices_of, position
from nashdex_play.envs.views import VIEWS, EnvView

_NUMBERS: Final = (int, np.generic, np.ndarray)
_LARGEST_ACTION: Final = np.uint64(np.iinfo(np.int64).max)
"""Illegal actions are reported as signed numbers."""
_NO_EPISODE: Final = "the episode is over, or none has begun: call reset() before step()"


class Clone(Model):
    """A point within an episode, as data: everything before it follows from the seed and the agent's actions."""

    format: str
    opponent: str
    seed: NonNegativeInt
    seat: int = Field(ge=0, lt=NUM_SEATS)
    actions: tuple[int, ...]
    """The agent's actions so far, in order."""
    position: Position | None = None
    """Where the episode began, if it began within a logged battle."""


@dataclass(frozen=True, slots=True)
class Step:
    """What an environment with one agent returns of a step."""

    observation: Any
    """As the view shows it, by default of shape (F,); zeros or no text where the episode is over."""
    reward: float
    terminated: bool
    truncated: bool
    """The battle failed and has no result: ``info["failure"]`` says why."""
    mask: NDArray[np.bool_]
    """Shape (A,), true where the action is legal; all true where the episode is over."""
    info: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Played:
    """One step of every episode."""

    rewards: NDArray[np.float32]
    """Shape (N,)."""
    last: dict[int, Step]
    """The steps that ended their episodes, by the episode's number."""
    illegal: dict[int, int]
    """The illegal actions, by the number of an episode that goes on."""


@dataclass(slots=True)
class _Episode:
    seed: int = 0
    actions: list[int] = field(default_factory=list)
    position: Position | None = None


class Episodes:
    """``num_episodes`` episodes at once, each under its number from 0.

    Args:
        format_id: what is played; the other arguments are as in ``BattleEnv``.
        opponent: of a mixture, each episode draws a policy.
        num_episodes: at once.
        num_gateways: simulator processes.

    Raises:
        ConfigurationError: the opponent, the reward or the view is unknown, or there is no state to show.
        DataError: the opponent's run or policy is missing or altered.
    """

    def __init__(
        self,
        format_id: str,
        opponent: str,
        num_episodes: int,
        *,
        team_set: str | None = None,
        reward: str = "win-loss",
        discount: float = 1.0,
        view: str | EnvView = "observation",
        states: bool = False,
        log: bool = False,
        strict: bool = False,
        num_gateways: int = 1,
    ) -> None:
        game = game_with_team_set(format_id, team_set)
        self._format = game.format
        self._opponent = opponent
        self._strict = strict
        self._shows_states = states
        self._battles = Battles(
            game,
            opponent,
            num_episodes,
            view=VIEWS[view] if isinstance(view, str) else view,
            reads_states=states,
            keeps_logs=log,
            num_gateways=num_gateways,
        )
        self.space = self._battles.space
        try:
            self._rewards = StepRewards(self.space, reward, discount)
        except BaseException:
            self.close()
            raise
        self._episodes = [_Episode() for _ in range(num_episodes)]
        self._numbers = np.arange(num_episodes)
        self._is_over = np.ones(num_episodes, dtype=np.bool_)
        self.seats = np.zeros(num_episodes, dtype=np.int8)
        """Where each agent sits, shape (N,)."""
        self._at = self._numbers * NUM_SEATS
        """Where each agent's decision is in the arrays of the battles, shape (N,)."""
        self.nothing = self._battles.nothing
        """What an agent observes where the episode is over."""

    def begin(self, number: int, seed: int, seat: int, position: Position | None = None) -> None:
        """Begin an episode with the agent at ``seat``, or at a position, whose seat it is; then ``wait``."""
        self._episodes[number] = _Episode(seed, position=position)
        self.seats[number] = seat
        self._at[number] = number * NUM_SEATS + seat
        self._battles.start(number, seed, seat, position)
        self._is_over[number] = False

    def wait(self) -> None:
        """Wait until the agents of all episodes that have begun are asked."""
        self._battles.wait(self._end)

    def begin_at(self, seed: int, position: Position) -> Step:
        """Begin the first episode within a logged battle, with the agent at the position's seat.

        Raises:
            DataError: the position cannot be rebuilt.
        """
        self.begin(0, seed, position.seat, position)
        self.wait()
        ending = self._battles.ended[0]
        if isinstance(ending, Failure):
            why = ending.detail.partition("\n")[0]
            advice = "remove `inputLog` from the replay to draw what is not seen" if position.inputs else "another log"
            raise DataError(f"the position cannot be rebuilt ({why}); choose another turn, or {advice}")
        return self.look(0)

    def step(self, actions: NDArray[np.int64], replace: Callable[[int], None] | None = None) -> Played:
        """Take one step in every episode, with actions of shape (N,).

        ``replace`` may begin another episode under the number of one that ends; the step then waits for it too.

        Raises:
            ConfigurationError: an episode is over, ``actions`` are no N integers, or with ``strict`` one is illegal.
        """
        if np.count_nonzero(self._is_over):
            raise ConfigurationError(_NO_EPISODE)
        if actions.shape != self._is_over.shape or actions.dtype.kind not in "iu":
            num = len(self._is_over)
            raise ConfigurationError(f"actions are {shorten(actions.tolist())}: expected whole numbers, {num} in all")
        if actions.dtype.kind == "u":
            actions = np.minimum(actions, _LARGEST_ACTION).astype(np.int64)
        actions, illegal = self._legal(actions)
        for episode, action in zip(self._episodes, actions.tolist(), strict=True):
            episode.actions.append(action)
        before = self.observations if self._rewards.reads_observations else None
        rewards = np.zeros(len(actions), dtype=np.float32)
        last: dict[int, Step] = {}

        def end(number: int) -> None:
            self._end(number)
            if number in last:  # its replacement failed
                return
            rewards[number] = self._last_reward(number)
            last[number] = self.look(number, float(rewards[number]), illegal.pop(number, None))
            if replace is not None:
                replace(number)

        self._battles.act(self._numbers, self.seats, actions)
        self._battles.wait(end)
        if before is not None and len(last) < len(actions):
            going = np.delete(self._numbers, list(last))
            rewards[going] = self._rewards.of_steps(before[going], self.observations[going])
        return Played(rewards, last, illegal)

    def step_alone(self, action: int | np.int64) -> Step:
        """Take one step in the only episode. It raises as ``step`` does."""
        given = np.asarray(action) if isinstance(action, _NUMBERS) else None
        if given is None or given.shape or given.dtype.kind not in "iu":
            raise ConfigurationError(f"action is {shorten(action)}: expected a whole number")
        if self._is_over[0]:
            raise ConfigurationError(_NO_EPISODE)
        # Not by ``step``: for a single action, its arrays cost more than all else that is done here.
        at, chosen, illegal = int(self._at[0]), int(given), None
        if not (0 <= chosen < self.space.num_actions and self._battles.masks[at, chosen]):
            illegal, chosen = chosen, self._legal_instead(0, chosen)
        self._episodes[0].actions.append(chosen)
        before = self.observations if self._rewards.reads_observations else None
        self._battles.act(self._numbers, self.seats, np.array([chosen]))
        self._battles.wait(self._end)
        reward = self._last_reward(0)
        if before is not None and self._battles.ended[0] is None:
            reward = float(self._rewards.of_steps(before, self.observations)[0])
        return self.look(0, reward, illegal)

    def _last_reward(self, number: int) -> float:
        """Return the reward of an episode's last step: 0 where it goes on, or failed."""
        ending = self._battles.ended[number]
        if ending is None or isinstance(ending, Failure):
            return 0.0
        observation = self._battles.observations[self._at[number]]
        return self._rewards.of_last_step(observation, ending.score(int(self.seats[number])))

    @property
    def observations(self) -> NDArray[np.float32]:
        """Copies of the agents' newest observations, shape (N, F), whatever the view."""
        return self._battles.observations[self._at]

    @property
    def masks(self) -> NDArray[np.bool_]:
        """Copies of the masks of legal actions, shape (N, A), of episodes that go on."""
        return self._battles.masks[self._at]

    @property
    def asked_again(self) -> NDArray[np.bool_]:
        """Whether each agent's last action was refused, shape (N,)."""
        return self._battles.asked_again[self._at]

    @property
    def shows_vectors(self) -> bool:
        """Whether an observation is one of ``observations``, and ``info`` has nothing of the game's own text."""
        return not self._battles.shows_more

    def clone(self) -> Clone:
        """Return where the first episode is.

        Raises:
            ConfigurationError: it has not begun.
        """
        episode = self._episodes[0]
        if self._battles.players[0] is None:
            raise ConfigurationError("there is no episode to clone: call reset() first")
        return Clone(
            format=self._format,
            opponent=self._opponent,
            seed=episode.seed,
            seat=int(self.seats[0]),
            actions=tuple(episode.actions),
            position=episode.position,
        )

    def restore(self, clone: Clone) -> Step:
        """Return to where ``clone`` was taken, by playing up to there again.

        Raises:
            ConfigurationError: it is no clone, of another format or opponent, or its actions do not fit the battle.
        """
        check_type("clone", clone, (Clone, "a Clone, as clone() returns it"))
        here = (self._format, self._opponent)
        if (clone.format, clone.opponent) != here:
            raise ConfigurationError(
                f"the clone is of {clone.format} against {clone.opponent}, the environment of {' against '.join(here)}"
            )
        if clone.position is None:
            self.begin(0, clone.seed, clone.seat)
            self.wait()
            last = self.look(0)
        else:
            last = self.begin_at(clone.seed, clone.position)
        for place, action in enumerate(clone.actions):
            if last.terminated or last.truncated or action not in np.flatnonzero(last.mask):
                raise ConfigurationError(
                    f"action {place + 1} of the clone does not fit its battle: the opponent or the simulator is another"
                )
            last = self.step_alone(action)
        return last

    def close(self) -> None:
        """Stop the simulator. Safe to call twice."""
        self._battles.close()

    def _end(self, number: int) -> None:
        self._is_over[number] = True

    def _legal(self, actions: NDArray[np.int64]) -> tuple[NDArray[np.int64], dict[int, int]]:
        """Return the actions to play instead of ``actions``, and the illegal ones by the episode's number."""
        inside = np.minimum(np.maximum(actions, 0), self.space.num_actions - 1)
        is_legal = self._battles.masks[self._at, inside] & (inside == actions)
        if np.count_nonzero(is_legal) == len(actions):
            return actions, {}
        played, illegal = actions.copy(), {}
        for number in np.flatnonzero(~is_legal).tolist():
            illegal[number] = int(actions[number])
            played[number] = self._legal_instead(number, illegal[number])
        return played, illegal

    def _legal_instead(self, number: int, action: int) -> int:
        """Draw a legal action instead of one that is not.

        Raises:
            ConfigurationError: with ``strict``.
        """
        legal = np.flatnonzero(self._battles.masks[self._at[number]])
        if self._strict:
            raise ConfigurationError(f"action {action} is not legal now; expected one of {legal.tolist()}")
        episode = self._episodes[number]
        uniform = derive_uniform(episode.seed, "illegal", len(episode.actions))
        return int(legal[int(uniform * len(legal))])

    def look(self, number: int, reward: float = 0.0, illegal: int | None = None) -> Step:
        """Return an episode's newest step. ``illegal`` is the action that another was drawn for."""
        ending, seat, at = self._battles.ended[number], int(self.seats[number]), self._at[number]
        info: dict[str, Any] = {} if illegal is None else {"illegal_action": illegal}
        info["seat"] = seat
        if ending is not None:
            mask = np.ones(self.space.num_actions, dtype=np.bool_)
            is_failure = isinstance(ending, Failure)
            if isinstance(ending, Failure):
                info["failure"] = f"{ending.cause}: {ending.detail}"
            else:
                info |= {"score": ending.score(seat), "turns": ending.turns}
                if ending.log is not None:
                    info["log"] = ending.log
            info["action_mask"] = mask.view(np.int8)
            return Step(self.nothing, reward, not is_failure, is_failure, mask, info)
        mask = self._battles.masks[at].copy()
        info["action_mask"] = mask.view(np.int8)
        info["asked_again"] = bool(self._battles.asked_again[at])
        observation = self._battles.observations[at].copy()
        if self.shows_vectors:
            return Step(observation, reward, terminated=False, truncated=False, mask=mask, info=info)
        more = self._battles.shown[number, seat]
        if more.view_actions is not None:
            info |= {"view_actions": more.view_actions, "is_shown": more.is_shown}
        if self._shows_states and more.lines is not None and more.lines.state is not None:
            choices = choices_of(self.space, more.lines.state, more.lines.request, np.flatnonzero(mask))
            info |= {"state": more.lines.state, "choices": choices, "text": position(more.lines.state, choices)}
        shown = observation if more.view is None else more.view
        return Step(shown, reward, terminated=False, truncated=False, mask=mask, info=info)
