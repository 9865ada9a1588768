"""A Gymnasium environment: one agent plays battles against a policy."""

from typing import Any, Final, Unpack

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from nashdex.core.arguments import POLICY, check_type, whole_number
from nashdex.core.errors import ConfigurationError
from nashdex.games.space import NUM_SEATS
from nashdex_play.envs.arguments import EpisodeOptions, check_options, check_seat, checked_seed
from nashdex_play.envs.episodes import Clone, Episodes, Step
from nashdex_replays.positions import position_at

_MOST_CHARACTERS: Final = 1 << 20

_SEED_BITS = 63


class BattleEnv(gymnasium.Env[Any, np.int64]):
    """One agent against ``opponent``, one battle an episode. ``gymnasium.make("nashdex/Battle-v0")`` makes it.

    Observations are the format's (docs/reference/observation.md), shape (F,), or another view's; actions are the
    format's numbers. Legal are those in ``info["action_mask"]`` (0 or 1, for ``action_space.sample``) and in
    ``action_masks()`` (bool).

    Args:
        format: as ``nashdex formats`` lists it.
        opponent: as ``nashdex battle --p2`` takes it: a scripted policy, or ``RUN_URI#…``.
        seat: 0 or 1, where the agent sits; by default drawn for each episode.
        render_mode: ``ansi`` for ``render`` to return the position as text; needs ``states``.
        team_set: teams that both players draw from; by default the format's own.
        reward: as ``train.reward``: ``win-loss``, ``shaped`` or one of an installed package.
        discount: γ of the shaped reward.
        view: what an observation is: ``observation``, ``text``, ``json``, one of an installed package such as
            ``metamon``, or an ``EnvView`` itself.
        states: whether ``info`` has what the agent knows as ``state`` (JSON) and ``text``, and its ``choices`` by name.
        log: whether the last ``info`` has the battle's log.
        strict: refuse an illegal action. Otherwise a legal one is drawn, and ``info["illegal_action"]`` is the other.

    Raises:
        ConfigurationError: one of these is of another type or names nothing, or they do not fit together.
        DataError: the opponent's run or policy is missing or altered.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"]}  # noqa: RUF012 - the base class declares it so

    def __init__(
        self,
        format: str = "gen1randombattle",  # noqa: A002 - the project's word for it everywhere
        opponent: str = "random",
        *,
        seat: int | None = None,
        render_mode: str | None = None,
        **options: Unpack[EpisodeOptions],
    ) -> None:
        check_options(BattleEnv, format, options, EpisodeOptions)
        check_type("opponent", opponent, POLICY)
        check_seat(seat)
        if render_mode not in (None, "ansi") or (render_mode and not options.get("states")):
            raise ConfigurationError(f"render_mode is {render_mode!r}: expected None, or 'ansi' with states=True")
        self.render_mode = render_mode
        self._seat = seat
        self._episodes = Episodes(format, opponent, 1, **options)
        space = self._episodes.space
        self.observation_space = space_of(self._episodes.nothing)
        self.action_space = spaces.Discrete(space.num_actions)
        self._last: Step | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a battle. Its teams, chance and seat follow from the seeds of this and earlier resets."""
        super().reset(seed=checked_seed(seed, options))
        battle_seed = int(self.np_random.integers(1 << _SEED_BITS))
        seat = int(self.np_random.integers(NUM_SEATS)) if self._seat is None else self._seat
        self._episodes.begin(0, battle_seed, seat)
        self._episodes.wait()
        self._last = self._episodes.look(0)
        return self._last.observation, self._last.info

    def step(self, action: np.int64) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one decision."""
        self._last = last = self._episodes.step_alone(action)
        return last.observation, last.reward, last.terminated, last.truncated, last.info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal, shape (A,), as sb3-contrib's MaskablePPO asks for it."""
        if self._last is None:
            raise ConfigurationError("there is no decision yet: call reset() first")
        return self._last.mask

    def clone(self) -> Clone:
        """Return the point where this episode is, as data that JSON and pickle can hold."""
        return self._episodes.clone()

    def restore(self, clone: Clone) -> tuple[Any, dict[str, Any]]:
        """Return to the point that ``clone`` holds, also one of another environment of this format and opponent.

        The battle is played again up to there, which takes about as long as it took without the agent's thinking.
        Equal actions afterwards give an equal battle.
        """
        self._last = self._episodes.restore(clone)
        return self._last.observation, self._last.info

    def from_log(self, log: str, seat: int, turn: int, *, seed: int = 0) -> tuple[Any, dict[str, Any]]:
        """Begin an episode within a logged battle: the agent plays on for ``seat`` from its first decision in ``turn``.

        What the seat had not seen then is drawn from ``seed``: the opponent's team and sets, and all chance from there
        on. The log's later lines tell only which moves and items the seat's own Pokémon have. A replay with its whole
        ``inputLog`` is played again instead, so that only the chance from there on is drawn. Single battles alone.

        Args:
            log: a Showdown log of a battle that is over, or the JSON of a replay.
            seat: 0 for ``p1``, 1 for ``p2``.
            turn: 1 is the first.
            seed: of the draws.

        Raises:
            ConfigurationError: an argument is of another type, there is no such seat or decision, or the format is none
                of Showdown's single battles.
            DataError: the log is none, of another format, or cannot be rebuilt.
        """
        check_type("log", log, (str, "a Showdown log, or the JSON of a replay, as text"))
        if whole_number("seat", seat, 0) >= NUM_SEATS:
            raise ConfigurationError(f"seat is {seat}: expected 0 or 1")
        whole_number("turn", turn, 1)
        whole_number("seed", seed, 0)
        position = position_at(log, 0 if seat == 0 else 1, turn, self._episodes.space)
        self._last = self._episodes.begin_at(seed, position)
        return self._last.observation, self._last.info

    def render(self) -> str | None:
        """Return the position as text, with render_mode ``ansi``."""
        if self.render_mode is None or self._last is None:
            return None
        return str(self._last.info.get("text", "The battle is over."))

    def close(self) -> None:
        """Stop the simulator."""
        self._episodes.close()


class Texts(spaces.Text):
    """Texts of any characters: people's Pokémon have names of all kinds."""

    def contains(self, x: Any) -> bool:  # noqa: ANN401 - the base class's signature
        """Say whether ``x`` is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length


def space_of(observation: Any) -> spaces.Space[Any]:  # noqa: ANN401 - as views.nothing() returns it
    """Return the space of observations like ``observation``: a text, an array, or a dictionary of them."""
    if isinstance(observation, dict):
        return spaces.Dict({name: space_of(part) for name, part in observation.items()})
    if isinstance(observation, str):
        return Texts(_MOST_CHARACTERS, min_length=0)
    kind = np.asarray(observation).dtype
    if np.issubdtype(kind, np.floating):
        return spaces.Box(-np.inf, np.inf, np.shape(observation), kind.type)
    bounds = np.iinfo(kind)
    return spaces.Box(bounds.min, bounds.max, np.shape(observation), kind.type)
