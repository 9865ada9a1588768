"""How far a critic's win probability can be believed: predictions at each decision of new battles, and their results.

Shapes: D decisions, G groups of battles, B bins.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import NonNegativeInt, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import BarePolicyId, BarePolicyIdField, PlayedPolicy, PolicyId
from nashdex.core.references import PolicyReference
from nashdex.games.registry import showdown_game
from nashdex.games.space import Space
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.references import resolve
from nashdex.rollout.contestants import Contestant, draw_policies, load_contestant, most_concurrent_battles
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, require_finished
from nashdex.rollout.session import Session
from nashdex.runs.played_format import format_to_play
from nashdex.trajectory.episode import Episode
from nashdex_play.decide.judging import chances_to_win

NUM_BINS: Final = 10
_RESAMPLES: Final = 2000
_CONCURRENT_BATTLES: Final = 64

Floats = NDArray[np.float64]


class CalibrationBin(Model):
    """Decisions whose prediction lies between two bounds."""

    low: float
    high: float
    decisions: NonNegativeInt
    battles: NonNegativeInt
    """Battles that have such a decision."""
    predicted: float | None
    """Mean prediction; None without decisions."""
    won: float | None
    """Mean score of these decisions' battles, a draw counting half; None without decisions."""


class CriticCalibration(Model):
    """Predictions of a critic beside the results of battles that it was not trained on."""

    policy: str
    policy_id: BarePolicyIdField
    against: str
    is_self_play: bool
    """Whether the policy played itself, and both seats' decisions count."""
    format: str
    seed: NonNegativeInt
    battles: PositiveInt
    decisions: PositiveInt
    bins: tuple[CalibrationBin, ...]
    error: float
    """Expected calibration error: mean |predicted − won| over bins, weighted by decisions."""
    error_low: float
    error_high: float
    """95 % of resampled errors, by side-swapped pairs of battles. Chance adds to an error, so both bounds lie high."""
    squared_error: float
    """Mean (prediction − score)², the Brier score."""
    squared_error_of_mean: float
    """The same of a constant prediction, the mean score."""


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predictions at D decisions."""

    predicted: Floats
    """Shape (D,): probabilities to win."""
    scores: Floats
    """Shape (D,): the battle's score for the seat that decided."""
    battles: NDArray[np.int64]
    """Shape (D,): number of the battle; battles 2p and 2p + 1 are a pair."""


@dataclass(frozen=True, slots=True)
class PlayedPredictions:
    """Predictions of one policy's critic in the battles of a match."""

    policy: BarePolicyId
    format: str
    joined: Predictions


def predictions(
    policy: str,
    *,
    against: str | None,
    format_id: str | None,
    battles: int,
    seed: int,
    gateways: int,
    both_seats: bool,
    on_battle: Callable[[int], None],
) -> PlayedPredictions:
    """Play battles and return what the policy's critic predicts at each decision.

    Args:
        policy: one stored network, as ``nashdex battle`` takes it.
        against: its opponent; None is the policy itself.
        format_id: None is the policy's own.
        battles: side-swapped pairs; an odd last one has no partner.
        seed: teams, chance and draws follow from it.
        gateways: simulator processes.
        both_seats: the critic also judges the opponent's decisions. A prediction and score are still the policy's: one
            minus the opponent's.
        on_battle: called with the number of finished battles.

    Raises:
        ConfigurationError: the policy has no critic that says who wins, or there is no such policy.
        DataError: a policy is missing, altered, or of another space.
        TryAgainError: a battle failed every try.
    """
    players = {"POLICY": policy} | ({} if against is None else {"--against": against})
    game = showdown_game(format_to_play(format_id, players))
    at_once = most_concurrent_battles(tuple(players.values()), min(_CONCURRENT_BATTLES, battles))
    with Session(game.open_arena(num_gateways=gateways), at_once) as session:
        contestants = load_contestant(policy, session.space), load_contestant(against or policy, session.space)
        for contestant in contestants:
            session.policies |= contestant.policies
        policy_id, network, reward = _critic(policy, contestants[0], session.space)
        paired = PairedBattles(seed, game.teams())
        found: dict[int, Predictions] = {}
        own = contestants[0].policies.keys()
        for finished in session.play(_assignments(battles, paired, contestants, both=both_seats)):
            require_finished(finished)
            number = finished.assignment.number
            critic = _Critic(network, reward, session.space)
            found[number] = _predictions(critic, finished.episodes, own, number)
            on_battle(len(found))
    every = [found[number] for number in sorted(found)]
    joined = Predictions(
        np.concatenate([each.predicted for each in every]),
        np.concatenate([each.scores for each in every]),
        np.concatenate([each.battles for each in every]),
    )
    return PlayedPredictions(policy_id, game.format, joined)


def measured(
    found: Predictions, *, policy: str, policy_id: BarePolicyId, against: str | None, format_id: str, seed: int
) -> CriticCalibration:
    """Return the reliability of predictions, by bins of equal width. ``against`` is None in self-play."""
    place = np.minimum((found.predicted * NUM_BINS).astype(np.int64), NUM_BINS - 1)
    groups = np.unique(found.battles // 2, return_inverse=True)[1]
    at, size = groups * NUM_BINS + place, (int(groups.max()) + 1) * NUM_BINS
    # Shape (3, G, B): decisions, predictions and scores of each group in each bin.
    sums = np.stack(
        [np.bincount(at, weights, size) for weights in (np.ones(len(at)), found.predicted, found.scores)]
    ).reshape(3, -1, NUM_BINS)
    num_groups = sums.shape[1]
    generator = np.random.default_rng(seed)
    times = generator.multinomial(num_groups, np.full(num_groups, 1 / num_groups), _RESAMPLES).astype(np.float64)
    resampled = [_error(np.tensordot(drawn, sums, (0, 1))) for drawn in times]
    low, high = np.quantile(resampled, [0.025, 0.975])
    counts, predicted, scores = sums.sum(axis=1)
    return CriticCalibration(
        policy=policy,
        policy_id=policy_id,
        against=against or policy,
        is_self_play=against is None,
        format=format_id,
        seed=seed,
        battles=len(np.unique(found.battles)),
        decisions=len(place),
        bins=tuple(
            CalibrationBin(
                low=number / NUM_BINS,
                high=(number + 1) / NUM_BINS,
                decisions=int(counts[number]),
                battles=len(np.unique(found.battles[place == number])),
                predicted=predicted[number] / counts[number] if counts[number] else None,
                won=scores[number] / counts[number] if counts[number] else None,
            )
            for number in range(NUM_BINS)
        ),
        error=_error(sums.sum(axis=1)),
        error_low=float(low),
        error_high=float(high),
        squared_error=float(np.mean((found.predicted - found.scores) ** 2)),
        squared_error_of_mean=float(np.var(found.scores)),
    )


def _error(sums: Floats) -> float:
    """Return the expected calibration error of decisions, predictions and scores by bin, (3, B)."""
    counts, predicted, scores = sums
    return float(np.abs(predicted - scores).sum() / counts.sum())


def _critic(policy: str, contestant: Contestant, space: Space) -> tuple[BarePolicyId, ActorCritic, str]:
    """Return the policy's id, the network, and the reward that its critic predicts.

    Raises:
        ConfigurationError: the contestant is not one network.
    """
    players = list(contestant.policies.values())
    if len(players) > 1 or not isinstance(players[0], NetworkPolicy):
        raise ConfigurationError(f"{policy!r} is not one network with a critic: name one, such as RUN#newest")
    store = resolve(PolicyReference.parse(policy)).store
    assert store is not None, "networks are stored"
    named = PlayedPolicy.of(players[0].id).policy
    return named, load_network(store, named, space).eval(), read_document(store, named).reward


def _assignments(
    battles: int, paired: PairedBattles, contestants: tuple[Contestant, Contestant], *, both: bool
) -> Iterator[Assignment]:
    for number in range(battles):
        yield paired.assignment(number, draw_policies(contestants, paired, number), record=True, record_opponent=both)


@dataclass(frozen=True, slots=True)
class _Critic:
    network: ActorCritic
    reward: str
    space: Space

    def wins(self, observations: NDArray[np.float32]) -> Floats:
        """Return the chance to win at each decision of one seat in one battle.

        Raises:
            ConfigurationError: the critic's reward does not say who wins.
        """
        rows = torch.from_numpy(observations)
        if self.network.remembers:
            steps = np.arange(len(observations), dtype=np.float32)
            rows = torch.cat((rows, torch.from_numpy(steps)[:, None]), dim=1)
        with torch.inference_mode():
            values = self.network.values(rows).numpy().astype(np.float64)
        wins = chances_to_win(values, self.reward, observations, self.space)
        if wins is None:
            raise ConfigurationError(f"the critic predicts the reward {self.reward!r}, which does not say who wins")
        return wins


def _predictions(critic: _Critic, episodes: Sequence[Episode], own: Collection[PolicyId], number: int) -> Predictions:
    """Return a battle's predictions and scores, all of the player whose policies are ``own``."""
    wins, scores = [], []
    for episode in episodes:
        predicted = critic.wins(episode.observations)
        is_own = episode.policy in own
        wins.append(predicted if is_own else 1.0 - predicted)
        scores.append(np.full(len(episode), episode.score if is_own else 1.0 - episode.score))
    joined = np.concatenate(wins)
    return Predictions(joined, np.concatenate(scores), np.full(len(joined), number))
