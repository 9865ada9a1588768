"""``nashdex.load_policy``: a policy that answers one decision at a time. F observation values, A actions."""

from contextlib import closing
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed, derive_uniform, inverse_cdf, uniforms
from nashdex.evaluator.contestants import Contestant, load_contestant
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.registry import game_for
from nashdex.games.space import Space
from nashdex.policies.interface import Policy, WithDistribution, with_processes
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
    """Return a policy that answers decisions of ``nashdex.envs``, or of any observations of its format.

    Args:
        name: as for ``nashdex.battle``: a scripted policy, ``RUN#newest``, ``RUN#nash`` or ``RUN#NAME``, with
            ``@greedy`` if wanted.
        format: by default the format of the policy's run.

    Raises:
        ConfigurationError: there is no such policy, or it reads more than observations.
        DataError: it is missing, altered, or of another version of the format's observations.
        TryAgainError: no simulator answers; a Showdown format's is asked for the layout of observations.
    """
    game = game_for(format_to_play(format, {"the policy": name}))
    with closing(game.open_arena(num_gateways=1)) as arena:
        space = arena.space
    contestant = load_contestant(name, space)
    if any(policy.needs_lines or policy.view is not None for policy in contestant.policies.values()):
        for policy in with_processes(contestant.policies.values()):
            policy.close()
        raise ConfigurationError(
            f"{name} reads the battle's text, and load_policy has observations alone: let it play as the opponent of "
            "an environment, in nashdex.battle or as nashdex.poke_env.Player"
        )
    return LoadedPolicy(contestant, space)


class LoadedPolicy:
    """A policy, or a mixture that draws one for each battle. It plays one seat of one battle at a time."""

    def __init__(self, contestant: Contestant, space: Space) -> None:
        self._contestant = contestant
        self._space = space
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

    def reset(self, seed: int = 0) -> None:
        """Begin a battle: forget the last one. A mixture's policy and all draws follow from ``seed``."""
        self._policy: Policy = self._contestant.policies[self._contestant.mixture.draw(derive_uniform(seed, "policy"))]
        self._policy.forget(_BATTLE, _SEAT)
        self._seed = derive_seed(seed, "seat", _SEAT)
        self._num_draws = 0

    def act(self, observation: ArrayLike, legal: ArrayLike, *, asked_again: bool = False) -> Decision:
        """Answer one decision.

        Args:
            observation: shape (F,), as ``nashdex.envs`` gives it.
            legal: shape (A,), nonzero where the action is legal: ``info["action_mask"]``.
            asked_again: whether the simulator refused the last answer: ``info["asked_again"]``.

        Raises:
            ConfigurationError: a shape is wrong, or no action is legal.
        """
        decisions = self._decisions(observation, legal, asked_again=asked_again)
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

    def _decisions(self, observation: ArrayLike, legal: ArrayLike, *, asked_again: bool) -> Decisions:
        row = np.asarray(observation, dtype=np.float32)
        mask = np.asarray(legal, dtype=np.bool_)
        wanted = (self._space.observation_size,), (self._space.num_actions,)
        if (row.shape, mask.shape) != wanted:
            raise ConfigurationError(
                f"the observation is of shape {row.shape} and the mask of {mask.shape}; {self._space.format} has "
                f"{wanted[0]} and {wanted[1]}"
            )
        if not mask.any():
            raise ConfigurationError("the mask allows no action: expected at least one that is not 0")
        return Decisions(
            battle=np.array([_BATTLE]),
            seat=np.array([_SEAT], dtype=np.int8),
            asked_again=np.array([asked_again]),
            observation=row[None],
            legal=LegalActions.of_mask(mask[None]),
        )
