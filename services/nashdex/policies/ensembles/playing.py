"""An ensemble as a policy: each member votes with its log-probabilities.

Shapes: N decisions, A actions (K legal pairs in a joint space).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import PlayedPolicy, PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.space import Space
from nashdex.policies.archive import load_network_policy
from nashdex.policies.ensembles.document import read_ensemble
from nashdex.policies.inference import NetworkPolicy, choose, distribution
from nashdex.policies.interface import Actions
from nashdex.policies.networks.observed import Observed
from nashdex.policies.sampling import log_probabilities
from nashdex.store.protocol import ObjectStore


class EnsemblePolicy:
    """Plays in proportion to the geometric mean of its members' probabilities.

    Implements ``policies.interface.Policy`` and ``WithDistribution``. π(a) ∝ exp(mean_m log π_m(a)) is the
    logarithmic pool with equal weights (Genest and Zidek, "Combining probability distributions", Statistical Science
    1986).
    """

    needs_lines = False
    needs_state = False
    view = None

    def __init__(self, policy: PolicyId, members: Sequence[NetworkPolicy], *, is_joint: bool) -> None:
        self.id = policy
        self._voters: dict[PolicyId, tuple[NetworkPolicy, list[float]]] = {}
        """Each network, with all temperatures at which it votes."""
        for member in members:
            played = PlayedPolicy.of(member.id)
            self._voters.setdefault(played.policy, (member, []))[1].append(played.temperature)
        self._temperature = PlayedPolicy.of(policy).temperature
        self._is_joint = is_joint

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row with one forward pass of each network over all of them."""
        return choose(decisions, self.legal_logits(decisions), uniforms, self._temperature, is_joint=self._is_joint)

    def log_probs(self, decisions: Decisions) -> NDArray[np.float64]:
        """Return log π of each legal action, shape (L,), with one forward pass of each network."""
        return distribution(decisions, self.legal_logits(decisions), self._temperature, is_joint=self._is_joint)

    def legal_logits(self, decisions: Decisions) -> NDArray[np.float32]:
        """Return the mean of the members' log-probabilities, in the shape of ``NetworkPolicy.legal_logits``."""
        votes = []
        observed = Observed(decisions.observation)
        for network, temperatures in self._voters.values():
            logits = network.legal_logits(decisions, observed)
            votes += [log_probabilities(logits, temperature) for temperature in temperatures]
        return (np.asarray(sum(votes)) / len(votes)).astype(np.float32)

    def forget(self, battle: int, seat: int) -> None:
        """Free each network's memory of a seat whose battle ended."""
        for network, _ in self._voters.values():
            network.forget(battle, seat)


def load_ensemble(store: ObjectStore, policy: PolicyId, space: Space, device: str = "cpu") -> EnsemblePolicy:
    """Return a stored ensemble, ready to play in ``space`` as its id says, with its members on ``device``.

    Raises:
        ConfigurationError: a member cannot play on the device.
        DataError: it or a member is missing, altered, or was trained for another space.
    """
    document = read_ensemble(store, PlayedPolicy.of(policy).policy)
    members = [load_network_policy(store, member, space, device) for member in document.members]
    return EnsemblePolicy(policy, members, is_joint=space.num_slots > 1)
