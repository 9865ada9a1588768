"""Episodes against a policy: what the environments with one agent share. F observation values, A actions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.seeds import derive_uniform
from nashdex.envs.battles import Asked, Battles, StepRewards
from nashdex.envs.text import choices_of, position
from nashdex.envs.views import VIEWS, EnvView
from nashdex.games.interface import Failure, Game, Position


class Clone(Model):
    """A point within an episode, as data: everything before it follows from the seed and the agent's actions."""

    format: str
    opponent: str
    seed: int
    seat: int
    actions: tuple[int, ...]
    """The agent's actions so far, in order."""
    position: Position | None = None
    """Where the episode began, if it began within a logged battle."""


@dataclass(frozen=True, slots=True)
class Step:
    """What an environment returns of one step."""

    observation: Any
    """As the view shows it, by default of shape (F,); zeros or no text where the episode is over."""
    reward: float
    terminated: bool
    truncated: bool
    """The battle failed and has no result: ``info["failure"]`` says why."""
    mask: NDArray[np.bool_]
    """Shape (A,), true where the action is legal; all true where the episode is over."""
    info: dict[str, Any]


@dataclass(slots=True)
class _Episode:
    seed: int = 0
    seat: int = 0
    actions: list[int] = field(default_factory=list)
    position: Position | None = None
    is_over: bool = True


class Episodes:
    """Up to ``num_episodes`` episodes at once, each under its number from 0.

    Args:
        game: what is played.
        opponent: as ``nashdex battle --p2`` takes it; of a mixture, each episode draws a policy.
        num_episodes: at once.
        reward: one of ``train.reward``.
        discount: γ of the shaped reward, which is a difference of potentials.
        view: what an observation is, by a name of ``views.VIEWS`` or as such an entry.
        shows_states: whether ``info`` has what the agent knows as JSON and as text, and names of its legal actions.
        keeps_logs: whether the last ``info`` has the battle's log.
        strict: refuse an illegal action. Otherwise a legal one is drawn, and ``info["illegal_action"]`` is the other.
        num_gateways: simulator processes.

    Raises:
        ConfigurationError: the opponent, the reward or the view is unknown, or there is no state to show.
        DataError: the opponent's run or policy is missing or altered.
    """

    def __init__(
        self,
        game: Game,
        opponent: str,
        num_episodes: int,
        *,
        reward: str = "win-loss",
        discount: float = 1.0,
        view: str | EnvView = "observation",
        shows_states: bool = False,
        keeps_logs: bool = False,
        strict: bool = False,
        num_gateways: int = 1,
    ) -> None:
        self._format = game.format
        self._opponent = opponent
        self._strict = strict
        self._shows_states = shows_states
        self._battles = Battles(
            game,
            opponent,
            num_episodes,
            view=VIEWS[view] if isinstance(view, str) else view,
            reads_states=shows_states,
            keeps_logs=keeps_logs,
            num_gateways=num_gateways,
        )
        self.space = self._battles.space
        try:
            self._rewards = StepRewards(self.space, reward, discount)
        except BaseException:
            self.close()
            raise
        self._episodes = [_Episode() for _ in range(num_episodes)]
        self.nothing = self._battles.nothing
        """What an agent observes where the episode is over."""

    def begin(self, numbers: Sequence[int], seeds: Sequence[int], seats: Sequence[int]) -> list[Step]:
        """Begin episodes, each with the agent at its seat, and return their first observations."""
        for number, seed, seat in zip(numbers, seeds, seats, strict=True):
            self._episodes[number] = _Episode(seed, seat, is_over=False)
            self._battles.start(number, seed, seat)
        self._battles.wait(numbers)
        return [self._look(number, 0.0, {}) for number in numbers]

    def begin_at(self, number: int, seed: int, position: Position) -> Step:
        """Begin an episode within a logged battle, with the agent at the position's seat.

        Raises:
            DataError: the position cannot be rebuilt.
        """
        self._episodes[number] = _Episode(seed, position.seat, position=position, is_over=False)
        self._battles.start(number, seed, position.seat, position)
        self._battles.wait([number])
        ending = self._battles.ended[number]
        if isinstance(ending, Failure):
            why = ending.detail.partition("\n")[0]
            advice = "remove `inputLog` from the replay to draw what is not seen" if position.inputs else "another log"
            raise DataError(f"the position cannot be rebuilt ({why}); choose another turn, or {advice}")
        return self._look(number, 0.0, {})

    def step(self, actions: Mapping[int, int]) -> list[Step]:
        """Take one step in each of the episodes that ``actions`` names, and return them in its order.

        Raises:
            ConfigurationError: an episode is over, or with ``strict`` an action is illegal.
        """
        infos: list[dict[str, Any]] = []
        played = []
        for number, action in actions.items():
            legal_action, info = self._legal(number, action)
            played.append(legal_action)
            infos.append(info)
        seats = [self._episodes[number].seat for number in actions]
        asked = [self._asked(number) for number in actions]
        for number, action in zip(actions, played, strict=True):
            self._episodes[number].actions.append(action)
        self._battles.act(list(actions), seats, played)
        self._battles.wait(actions)
        rewards = self._reward(list(actions), asked)
        return [self._look(number, reward, info) for number, reward, info in zip(actions, rewards, infos, strict=True)]

    def clone(self, number: int) -> Clone:
        """Return where an episode is.

        Raises:
            ConfigurationError: it has not begun.
        """
        episode = self._episodes[number]
        if self._battles.players[number] is None:
            raise ConfigurationError("there is no episode to clone: call reset() first")
        return Clone(
            format=self._format,
            opponent=self._opponent,
            seed=episode.seed,
            seat=episode.seat,
            actions=tuple(episode.actions),
            position=episode.position,
        )

    def restore(self, number: int, clone: Clone) -> Step:
        """Return to where ``clone`` was taken, by playing up to there again.

        Raises:
            ConfigurationError: it is of another format or opponent, or its actions do not fit the battle.
        """
        here = (self._format, self._opponent)
        if (clone.format, clone.opponent) != here:
            raise ConfigurationError(
                f"the clone is of {clone.format} against {clone.opponent}, the environment of {' against '.join(here)}"
            )
        if clone.position is None:
            (last,) = self.begin([number], [clone.seed], [clone.seat])
        else:
            last = self.begin_at(number, clone.seed, clone.position)
        for place, action in enumerate(clone.actions):
            if last.terminated or last.truncated or not last.mask[action]:
                raise ConfigurationError(
                    f"action {place + 1} of the clone does not fit its battle: the opponent or the simulator is another"
                )
            (last,) = self.step({number: action})
        return last

    def close(self) -> None:
        """Stop the simulator. Safe to call twice."""
        self._battles.close()

    def _asked(self, number: int) -> Asked:
        return self._battles.asked[number][self._episodes[number].seat]

    def _legal(self, number: int, action: int) -> tuple[int, dict[str, Any]]:
        """Return the action to play instead of ``action``, and what ``info`` says of it."""
        episode = self._episodes[number]
        if episode.is_over:
            raise ConfigurationError("the episode is over, or none has begun: call reset() before step()")
        legal = self._asked(number).legal
        if action in legal:
            return action, {}
        if self._strict:
            raise ConfigurationError(f"action {action} is not legal now; expected one of {legal.tolist()}")
        uniform = derive_uniform(episode.seed, "illegal", len(episode.actions))
        return int(legal[int(uniform * len(legal))]), {"illegal_action": action}

    def _reward(self, numbers: Sequence[int], asked: Sequence[Asked]) -> list[float]:
        """Return the reward of each step; ``asked`` holds the decisions before it."""
        rewards = np.zeros(len(numbers), dtype=np.float32)
        going = []
        for place, number in enumerate(numbers):
            ending = self._battles.ended[number]
            if ending is None:
                going.append(place)
            elif not isinstance(ending, Failure):
                score = ending.score(self._episodes[number].seat)
                rewards[place] = self._rewards.of_last_step(asked[place].observation, score)
        if going:
            before = np.stack([asked[place].observation for place in going])
            after = np.stack([self._asked(numbers[place]).observation for place in going])
            rewards[going] = self._rewards.of_steps(before, after)
        found: list[float] = rewards.tolist()
        return found

    def _look(self, number: int, reward: float, info: dict[str, Any]) -> Step:
        episode, ending = self._episodes[number], self._battles.ended[number]
        info["seat"] = episode.seat
        if ending is not None:
            episode.is_over = True
            mask = np.ones(self.space.num_actions, dtype=np.bool_)
            is_failure = isinstance(ending, Failure)
            if isinstance(ending, Failure):
                info["failure"] = f"{ending.cause}: {ending.detail}"
            else:
                info |= {"score": ending.score(episode.seat), "turns": ending.turns}
                if ending.log is not None:
                    info["log"] = ending.log
            info["action_mask"] = mask.view(np.int8)
            return Step(self.nothing, reward, not is_failure, is_failure, mask, info)
        asked = self._asked(number)
        mask = np.zeros(self.space.num_actions, dtype=np.bool_)
        mask[asked.legal] = True
        info |= {"action_mask": mask.view(np.int8), "asked_again": asked.asked_again}
        if asked.view_actions is not None:
            info |= {"view_actions": asked.view_actions, "is_shown": asked.is_shown}
        if self._shows_states and asked.lines is not None and asked.lines.state is not None:
            choices = choices_of(self.space, asked.lines.state, asked.lines.request, asked.legal)
            info |= {
                "state": asked.lines.state,
                "choices": choices,
                "text": position(asked.lines.state, choices),
            }
        return Step(asked.shown, reward, terminated=False, truncated=False, mask=mask, info=info)
