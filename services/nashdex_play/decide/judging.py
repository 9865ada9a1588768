"""Networks that choose and say why in one pass: probabilities, value, the opponent's next choice.

Shapes: N decisions, A actions (K legal pairs in a joint space), C choices of the opponent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from nashdex.core.errors import DataError
from nashdex.core.ids import SAMPLED, BarePolicyId, PlayedPolicy, PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.showdown.potential import POTENTIAL_SHARES, potential
from nashdex.games.space import Space
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.policies.ensembles.document import read_ensemble
from nashdex.policies.ensembles.playing import EnsemblePolicy
from nashdex.policies.inference import NetworkPolicy, choose, distribution, of_legal_actions
from nashdex.policies.interface import Actions, Policy
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.sampling import log_probabilities
from nashdex.store.protocol import ObjectStore
from nashdex_play.calibration import ChanceMap, read_calibration
from nashdex_play.decide.answering import Thought


@dataclass(frozen=True, slots=True)
class Member:
    """One network."""

    network: ActorCritic
    reward: str
    temperature: float = SAMPLED
    chances: ChanceMap | None = None
    """Map of its chances to calibrated ones, against an opponent as strong as it; None where it was not measured."""


class Judge:
    """One network, or the members of an ensemble, on the CPU. A network that remembers sees each decision as its first.

    Implements ``policies.interface.Policy``: it plays as ``NetworkPolicy`` and ``EnsemblePolicy`` do, up to rounding.
    """

    needs_lines = False
    needs_state = False
    view = None

    def __init__(self, policy: PolicyId, members: Sequence[Member], space: Space) -> None:
        self.id = policy
        self.thoughts: dict[int, Thought] = {}
        """What it thought of the last decision of each battle, by number, until the battle is forgotten."""
        self._temperature = PlayedPolicy.of(policy).temperature
        self._members = members
        self._space = space
        self._is_joint = space.num_slots > 1

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row with one pass of each network over all of them.

        Raises:
            DataError: a network's numbers are not finite, so that no action follows from them.
        """
        observations = torch.from_numpy(np.ascontiguousarray(decisions.observation))
        log_probs, values, wins, predictions = [], [], [], []
        for member in self._members:
            rows = observations
            if member.network.remembers:
                rows = torch.cat((rows, rows.new_zeros(len(rows), 1)), dim=1)
            with torch.inference_mode():
                outputs = member.network.outputs(rows)
            logits = of_legal_actions(outputs.logits.numpy(), decisions.legal, is_joint=self._is_joint)
            if np.count_nonzero(np.isfinite(logits)) != len(decisions.legal.actions):
                raise DataError(f"policy {self.id} gives logits that are not finite: its weights overflow in battle")
            log_probs.append(log_probabilities(logits, member.temperature))
            values.append(outputs.values.numpy().astype(np.float64))
            chances = chances_to_win(values[-1], member.reward, decisions.observation, self._space)
            if chances is not None:
                wins.append(chances if member.chances is None else member.chances(chances))
            if outputs.prediction is not None:
                predictions.append(outputs.prediction.double().softmax(dim=1).numpy())
        pooled = np.mean(log_probs, axis=0).astype(np.float32)
        probabilities = self._probabilities(pooled, decisions)
        for row, battle in enumerate(decisions.battle.tolist()):
            self.thoughts[battle] = Thought(
                probabilities=probabilities[row],
                value=_mean(values, row) if len({member.reward for member in self._members}) == 1 else None,
                win_probability=_mean(wins, row) if len(wins) == len(self._members) else None,
                observation=decisions.observation[row].copy(),
                prediction=np.mean([each[row] for each in predictions], axis=0)
                if len(predictions) == len(self._members)
                else None,
            )
        return choose(decisions, pooled, uniforms, self._temperature, is_joint=self._is_joint)

    def forget(self, battle: int, seat: int) -> None:
        """Forget a battle."""
        del seat
        self.thoughts.pop(battle, None)

    def _probabilities(self, pooled: NDArray[np.float32], decisions: Decisions) -> list[dict[int, float]]:
        """Return the probability of each legal action of each row."""
        legal = decisions.legal
        split = np.split(np.exp(distribution(decisions, pooled, SAMPLED, is_joint=self._is_joint)), legal.offsets[1:-1])
        return [dict(zip(legal[row].tolist(), each.tolist(), strict=True)) for row, each in enumerate(split)]


def _mean(members: Sequence[NDArray[np.float64]], row: int) -> float:
    return float(np.mean([each[row] for each in members]))


def chances_to_win(
    values: NDArray[np.float64], reward: str, observations: NDArray[np.float32], space: Space
) -> NDArray[np.float64] | None:
    """Return a critic's values, shape (N,), as chances to win, 0 to 1; None where ``reward`` does not say who wins."""
    share = POTENTIAL_SHARES.get(reward)
    if share is None:
        return None
    balance = values + (share * potential(space, observations) if share else 0.0)
    return ((1.0 + balance) / 2.0).clip(0.0, 1.0)


def judge_of(store: ObjectStore, policy: Policy, space: Space) -> Judge | None:
    """Return what judges as a policy of ``store`` plays; None for neither a network nor an ensemble of them.

    Raises:
        DataError: a network is missing, altered, or was trained for another space.
    """
    if isinstance(policy, NetworkPolicy):
        return Judge(policy.id, [_member(store, PlayedPolicy.of(policy.id).policy, space, SAMPLED)], space)
    if isinstance(policy, EnsemblePolicy):
        voters = read_ensemble(store, PlayedPolicy.of(policy.id).policy).voters
        return Judge(policy.id, [_member(store, each.policy, space, each.temperature) for each in voters], space)
    return None


def _member(store: ObjectStore, policy: BarePolicyId, space: Space, temperature: float) -> Member:
    network = load_network(store, policy, space).eval()
    calibration = read_calibration(store, policy)
    chances = None if calibration is None else calibration.itself.map
    return Member(network, read_document(store, policy).reward, temperature, chances)
