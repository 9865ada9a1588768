"""The networks' thoughts on decisions, beside their choices: probabilities, value, the opponent's next choice.

Shapes: N decisions, A actions (K legal pairs in a joint space), C choices of the opponent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nashdex.core.ids import SAMPLED, BarePolicyId, PlayedPolicy
from nashdex.games.interface import Decisions
from nashdex.games.showdown.potential import POTENTIAL_SHARES, potential
from nashdex.games.space import Space
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.policies.ensembles.document import read_ensemble
from nashdex.policies.ensembles.playing import EnsemblePolicy
from nashdex.policies.inference import NetworkPolicy, distribution, of_legal_actions
from nashdex.policies.interface import Policy
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.sampling import log_probabilities
from nashdex.store.protocol import ObjectStore


@dataclass(frozen=True, slots=True)
class Opinions:
    """What networks think of N decisions."""

    probabilities: tuple[dict[int, float], ...]
    """Probability of each legal action of each decision."""
    values: NDArray[np.float64] | None
    """Shape (N,); None where members value different rewards."""
    wins: NDArray[np.float64] | None
    """Shape (N,): chances to win, 0 to 1; None where a reward does not say who wins."""
    predictions: NDArray[np.float64] | None
    """Shape (N, C): probabilities of the opponent's choices; None without a head."""


@dataclass(frozen=True, slots=True)
class Member:
    """One network."""

    network: ActorCritic
    reward: str
    temperature: float = SAMPLED


class Judge:
    """One network, or the members of an ensemble, which judge together as they play together."""

    def __init__(self, members: Sequence[Member], space: Space) -> None:
        self._members = members
        self._space = space

    def opinions(self, decisions: Decisions) -> Opinions:
        """Return what the networks think, on the CPU. A network that remembers sees each decision as its first."""
        observations = torch.from_numpy(np.ascontiguousarray(decisions.observation))
        log_probs, values, wins, predictions = [], [], [], []
        for member in self._members:
            rows = observations
            if member.network.remembers:
                rows = torch.cat((rows, rows.new_zeros(len(rows), 1)), dim=1)
            with torch.inference_mode():
                outputs = member.network.outputs(rows)
            logits = of_legal_actions(outputs.logits.numpy(), decisions.legal, is_joint=self._space.num_slots > 1)
            log_probs.append(log_probabilities(logits, member.temperature))
            values.append(outputs.values.numpy().astype(np.float64))
            chances = chances_to_win(values[-1], member.reward, decisions.observation, self._space)
            if chances is not None:
                wins.append(chances)
            if outputs.prediction is not None:
                predictions.append(outputs.prediction.double().softmax(dim=1).numpy())
        return Opinions(
            probabilities=self._pooled(np.mean(log_probs, axis=0), decisions),
            values=np.mean(values, axis=0) if len({member.reward for member in self._members}) == 1 else None,
            wins=np.mean(wins, axis=0) if len(wins) == len(self._members) else None,
            predictions=np.mean(predictions, axis=0) if len(predictions) == len(self._members) else None,
        )

    def _pooled(self, log_probs: NDArray[np.float64], decisions: Decisions) -> tuple[dict[int, float], ...]:
        legal = decisions.legal
        pooled = distribution(decisions, log_probs.astype(np.float32), SAMPLED, is_joint=self._space.num_slots > 1)
        split = np.split(np.exp(pooled), legal.offsets[1:-1])
        return tuple(dict(zip(legal[row].tolist(), each.tolist(), strict=True)) for row, each in enumerate(split))


def chances_to_win(
    values: NDArray[np.float64], reward: str, observations: NDArray[np.float32], space: Space
) -> NDArray[np.float64] | None:
    """Return a critic's values, shape (N,), as chances to win, 0 to 1; None where ``reward`` does not say who wins."""
    share = POTENTIAL_SHARES.get(reward)
    if share is None:
        return None
    balance = values + (share * potential(space, observations) if share else 0.0)
    chances: NDArray[np.float64] = ((1.0 + balance) / 2.0).clip(0.0, 1.0)
    return chances


def judge_of(store: ObjectStore, policy: Policy, space: Space) -> Judge | None:
    """Return what judges for a policy of ``store``; None for one that is neither a network nor an ensemble of them.

    Raises:
        DataError: a network is missing, altered, or was trained for another space.
    """
    played = PlayedPolicy.of(policy.id) if isinstance(policy, NetworkPolicy | EnsemblePolicy) else None
    if played is None:
        return None
    if isinstance(policy, NetworkPolicy):
        return Judge([_member(store, played.policy, space, SAMPLED)], space)
    members = [PlayedPolicy.of(each) for each in read_ensemble(store, played.policy).members]
    return Judge([_member(store, each.policy, space, each.temperature) for each in members], space)


def _member(store: ObjectStore, policy: BarePolicyId, space: Space, temperature: float) -> Member:
    network = load_network(store, policy, space).eval()
    return Member(network, read_document(store, policy).reward, temperature)
