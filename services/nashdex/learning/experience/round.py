"""The experience of one round: its decisions as one batch, and the episode of each decision.

N decisions, F observation values, A actions, T decisions of one episode.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Game
from nashdex.games.space import Space
from nashdex.learning.advantages import Circumstances
from nashdex.learning.experience.batching import Batch, make_batch
from nashdex.learning.rewards import REWARDS
from nashdex.policies.networks.opponent_choices import UNKNOWN, opponent_choices
from nashdex.trajectory.episode import Episode


@dataclass(frozen=True)
class Experience:
    """The decisions of one round, episode after episode."""

    batch: Batch
    rewards: tuple[NDArray[np.float32], ...]
    """Rewards of each episode, (T,)."""
    circumstances: tuple[Circumstances, ...] = ()
    """Circumstances of each episode, where the advantage estimator uses them."""

    def split(self, values: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
        """Yield the part of ``values`` (N,) that belongs to each episode."""
        yield from np.split(values, np.cumsum([len(rewards) for rewards in self.rewards])[:-1])


def gather(
    episodes: Sequence[Episode],
    policy: PolicyId,
    game: Game,
    space: Space,
    reward: str,
    discount: float,
    device: torch.device,
    *,
    remembers: bool = False,
    predicts_opponent: bool = False,
    with_circumstances: bool = False,
) -> Experience:
    """Return what ``policy`` did in ``episodes``; minibatches of it go to ``device``.

    ``remembers`` says whether the network that learns from it does. With ``predicts_opponent``, the batch says what the
    opponent chose at the same moment, where its seat is recorded.
    """
    chosen = [episode for episode in episodes if episode.policy == policy and len(episode)]
    labels = _opponents_choices(chosen, episodes, space) if predicts_opponent else None
    rewards = tuple(REWARDS[reward].compute(space, e.observations, e.score, discount) for e in chosen)
    circumstances = _circumstances(chosen, episodes, game, space) if with_circumstances else ()
    batch = make_batch(chosen, device, labels, num_slots=space.num_slots, remembers=remembers)
    return Experience(batch, rewards, circumstances)


def _circumstances(
    chosen: Sequence[Episode], episodes: Sequence[Episode], game: Game, space: Space
) -> tuple[Circumstances, ...]:
    """Return the circumstances of each chosen episode. The opponent's team is known if its seat is recorded."""
    by_seat = {(one.seed, one.seat): game.situations(space, one.observations) for one in episodes if len(one)}
    found = []
    for episode in chosen:
        own, opponents = by_seat[episode.seed, episode.seat], by_seat.get((episode.seed, 1 - episode.seat))
        teams = (own.team, "" if opponents is None else opponents.team)
        found.append(Circumstances(episode.policy, episode.opponent, teams, own.turns, own.faint_differences))
    return tuple(found)


def _opponents_choices(chosen: Sequence[Episode], episodes: Sequence[Episode], space: Space) -> list[NDArray[np.int64]]:
    """Return the labels of each chosen episode, (T,)."""
    by_seat = {(episode.seed, episode.seat): episode for episode in episodes}
    labels = []
    for episode in chosen:
        opponent = by_seat.get((episode.seed, 1 - episode.seat))
        if opponent is None:
            labels.append(np.full(len(episode), UNKNOWN, dtype=np.int64))
        else:
            labels.append(opponent_choices(space, episode.observations, opponent.observations, opponent.actions))
    return labels
