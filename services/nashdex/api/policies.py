"""``nashdex.load_policy``: a policy that answers decisions. N battles, F observation values, A actions."""

import weakref
from collections.abc import Iterable
from contextlib import closing
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nashdex.core.arguments import FORMAT_OR_NONE, POLICY, check_flag, check_type, whole_number
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed, derive_uniform, inverse_cdf, uniforms
from nashdex.core.user_input import shorten
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.space import Space
from nashdex.policies.interface import Actions, Policy, WithDistribution, with_processes
from nashdex.rollout.contestants import Contestant, load_contestant
from nashdex.runs.inputs import game_with_team_set
from nashdex.runs.played_format import format_to_play

_BATTLE: Final = 0
_SEAT: Final = 0


class Decision(NamedTuple):
    """A policy's answer to one decision."""

    action: int
    """Number of the action."""
    log_prob: float
    """log π(action)."""
    probabilities: NDArray[np.float64] | None
    """π of every action, shape (A,), 0 where illegal; None for a scripted policy that draws, like ``random``."""


def load_policy(name: str, *, format: str | None = None) -> "LoadedPolicy":  # noqa: A002 - the project's word
    """Return a policy that answers decisions of ``nashdex_play.envs``, or of any observations of its format.

    Args:
        name: as for ``nashdex.battle``: a scripted policy, ``RUN#newest``, ``RUN#nash`` or ``RUN#NAME``, with
            ``@greedy`` if wanted.
        format: by default the format of the policy's run.

    Raises:
        ConfigurationError: an argument is of another type, there is no such policy, or it reads more than observations.
        DataError: it is missing, altered, or of another version of the format's observations.
        TryAgainError: no simulator answers; a Showdown format's is asked for the layout of observations.
    """
    check_type("name", name, POLICY)
    check_type("format", format, FORMAT_OR_NONE)
    game = game_with_team_set(format_to_play(format, {"the policy": name}), None)
    with closing(game.open_arena(num_gateways=1)) as arena:
        space = arena.space
    contestant = load_contestant(name, space)
    if any(policy.needs_lines or policy.view is not None for policy in contestant.policies.values()):
        for policy in with_processes(contestant.policies.values()):
            policy.close()
        raise ConfigurationError(
            f"{name} reads the battle's text, and load_policy has observations alone: let it play as the opponent of "
            "an environment, in nashdex.battle or as nashdex_play.poke_env.Player"
        )
    return LoadedPolicy(contestant, space)


class LoadedPolicy:
    """A policy, or a mixture that draws one for each battle. It plays one seat of one battle at a time."""

    def __init__(self, contestant: Contestant, space: Space) -> None:
        self._contestant = contestant
        self._space = space
        self._num_battles = 1
        """Its own battle and those of its batches, which a policy remembers by number."""
        self.reset()

    def __repr__(self) -> str:
        return f"<nashdex.LoadedPolicy {self.id} for {self._space.format}>"

    @property
    def id(self) -> PolicyId:
        """Id of the policy that plays: the one that a mixture drew at the last ``reset``."""
        return self._policy.id

    @property
    def space(self) -> Space:
        """Layout of observations, and the names of the actions."""
        return self._space

    def batch(self, num_battles: int, seed: int = 0) -> "PolicyBatch":
        """Return the policy in ``num_battles`` battles at once, such as the battles of a ``BattleVectorEnv``.

        Raises:
            ConfigurationError: there are no battles, or the seed is below 0.
        """
        first, count = self._num_battles, whole_number("num_battles", num_battles, 1)
        batch = PolicyBatch(self._contestant, self._space, count, whole_number("seed", seed, 0), first)
        self._num_battles += count
        return batch

    def reset(self, seed: int = 0) -> None:
        """Begin a battle: forget the last one. A mixture's policy and all draws follow from ``seed``.

        Raises:
            ConfigurationError: the seed is no whole number, or below 0.
        """
        whole_number("seed", seed, 0)
        self._policy: Policy = self._contestant.policies[self._contestant.mixture.draw(derive_uniform(seed, "policy"))]
        self._policy.forget(_BATTLE, _SEAT)
        self._seed = derive_seed(seed, "seat", _SEAT)
        self._num_draws = 0

    def act(self, observation: ArrayLike, legal: ArrayLike, *, asked_again: bool = False) -> Decision:
        """Answer one decision.

        Args:
            observation: shape (F,), as ``nashdex_play.envs`` gives it.
            legal: shape (A,), nonzero where the action is legal: ``info["action_mask"]``.
            asked_again: whether the simulator refused the last answer: ``info["asked_again"]``.

        Raises:
            ConfigurationError: a shape is wrong, a value is not finite, or no action is legal.
        """
        check_flag("asked_again", asked_again)
        row, mask = _rows(self._space, observation, legal, ())
        decisions = _decisions(row[None], mask[None], np.array([asked_again]), np.array([_BATTLE]))
        uniform = uniforms(np.array([self._seed], dtype=np.uint64), np.array([self._num_draws], dtype=np.uint64))
        self._num_draws += 1
        listed = decisions.legal.actions
        probabilities = np.zeros(self._space.num_actions)
        if isinstance(self._policy, WithDistribution):
            log_probs = self._policy.log_probs(decisions)
            (place,) = inverse_cdf(np.exp(log_probs).cumsum()[None], uniform)
            probabilities[listed] = np.exp(log_probs)
            return Decision(int(listed[place]), float(log_probs[place]), probabilities)
        answers = self._policy.act(decisions, uniform)
        action, log_prob = int(answers.action[0]), float(answers.log_prob[0])
        probabilities[action] = 1.0
        return Decision(action, log_prob, probabilities if log_prob == 0.0 else None)


class PolicyBatch:
    """A policy, or a mixture that draws one for each battle, in one seat of N battles at once.

    A network answers all of its battles with one forward pass.
    """

    def __init__(self, contestant: Contestant, space: Space, num_battles: int, seed: int, first: int) -> None:
        """``first`` is the number by which policies know the first of its battles; other batches have others."""
        self._contestant = contestant
        self._space = space
        self._seed = seed
        self._first = first
        self._num_begun = [0] * num_battles
        self._policies: list[Policy] = [next(iter(contestant.policies.values()))] * num_battles
        self._seeds = np.zeros(num_battles, dtype=np.uint64)
        self._num_draws = np.zeros(num_battles, dtype=np.uint64)
        self.begin(np.ones(num_battles, dtype=np.bool_))
        weakref.finalize(self, _forget, contestant, range(first, first + num_battles)).atexit = False

    def __len__(self) -> int:
        """Return the number of battles."""
        return len(self._policies)

    def begin(self, ended: ArrayLike) -> None:
        """Begin a battle wherever ``ended``, shape (N,), is true: ``terminated | truncated`` of a ``BattleVectorEnv``.

        Raises:
            ConfigurationError: the shape is wrong.
        """
        for battle in np.flatnonzero(_flags(ended, "ended", len(self))).tolist():
            self._policies[battle].forget(self._first + battle, _SEAT)
            root = derive_seed(self._seed, "battle", battle, self._num_begun[battle])
            drawn = self._contestant.mixture.draw(derive_uniform(root, "policy"))
            self._policies[battle] = self._contestant.policies[drawn]
            self._seeds[battle] = derive_seed(root, "seat", _SEAT)
            self._num_draws[battle] = 0
            self._num_begun[battle] += 1

    def act(self, observations: ArrayLike, legal: ArrayLike, *, asked_again: ArrayLike | None = None) -> Actions:
        """Answer one decision of every battle: ``action`` and ``log_prob`` of shape (N,).

        Args:
            observations: shape (N, F), as ``BattleVectorEnv`` gives them.
            legal: shape (N, A), nonzero where the action is legal: ``env.action_masks()``.
            asked_again: shape (N,), whether the simulator refused the last answer: ``info["asked_again"]``.

        Raises:
            ConfigurationError: a shape is wrong, a value is not finite, or a battle has no legal action.
        """
        again = np.zeros(len(self), dtype=np.bool_) if asked_again is None else asked_again
        rows, masks = _rows(self._space, observations, legal, (len(self),))
        again = _flags(again, "asked_again", len(self))
        draws = uniforms(self._seeds, self._num_draws)
        self._num_draws += np.uint64(1)
        answers = Actions(np.zeros(len(self), dtype=np.int64), np.zeros(len(self), dtype=np.float32))
        ids = np.array([policy.id for policy in self._policies])
        for playing in np.unique(ids):
            battles = np.flatnonzero(ids == playing)
            decisions = _decisions(rows[battles], masks[battles], again[battles], self._first + battles)
            made = self._policies[battles[0]].act(decisions, draws[battles])
            answers.action[battles] = made.action
            answers.log_prob[battles] = made.log_prob
        return answers


def _forget(contestant: Contestant, battles: Iterable[int]) -> None:
    """Free what policies remember of the battles of a batch that is gone."""
    for battle in battles:
        for policy in contestant.policies.values():
            policy.forget(battle, _SEAT)


def _rows(
    space: Space, observations: ArrayLike, legal: ArrayLike, battles: tuple[int, ...]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return observations and masks of one battle, ``battles`` (), or of ``battles`` (N,), with checked shapes."""
    name = "observations" if battles else "observation"
    rows = _array(name, observations).astype(np.float32, copy=False)
    masks = _array("legal", legal).astype(np.bool_, copy=False)
    for given, array, size in ((name, rows, space.observation_size), ("legal", masks, space.num_actions)):
        if array.shape != (*battles, size):
            raise ConfigurationError(f"{given} is of shape {array.shape}: {space.format} has {(*battles, size)}")
    if not np.isfinite(rows).all():
        raise ConfigurationError(f"{name} has values that are no finite numbers")
    if not masks.any(axis=-1).all():
        raise ConfigurationError("legal allows no action: expected at least one that is not 0")
    return rows, masks


def _array(name: str, values: ArrayLike) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError:  # lists of unequal lengths
        array = np.empty(0, dtype=np.object_)
    if array.dtype.kind not in "biuf":
        raise ConfigurationError(f"{name} is {shorten(values)}: expected an array of numbers")
    return array


def _flags(values: ArrayLike, name: str, num_battles: int) -> NDArray[np.bool_]:
    flags = _array(name, values).astype(np.bool_, copy=False)
    if flags.shape != (num_battles,):
        raise ConfigurationError(f"{name} is of shape {flags.shape}; expected {(num_battles,)}")
    return flags


def _decisions(
    rows: NDArray[np.float32], masks: NDArray[np.bool_], asked_again: NDArray[np.bool_], battles: NDArray[np.int64]
) -> Decisions:
    return Decisions(
        battle=battles,
        seat=np.full(len(battles), _SEAT, dtype=np.int8),
        asked_again=asked_again,
        observation=rows,
        legal=LegalActions.of_mask(masks),
    )
