"""``search:RUN#POLICY``: a trained policy that looks one turn ahead; its own critic helps to value positions.

The search plays every pair of choices in sampled worlds, as ``search:…`` does. At each leaf the critic reads what the
seat would see there; the gateway takes the mean of its value and the position's own. The solution of the game of these
values gives each action a value Q, and the policy π plays in proportion to π · exp(Q / β). That maximises the value
minus β times the divergence from π (the E-step of Abdolmaleki et al., "Maximum a posteriori policy optimisation",
ICLR 2018).

Around an ensemble, π is what its members propose together, and the mean of their critics judges the leaves.
"""

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
import structlog
import torch
from numpy.typing import NDArray

from nashdex.core.ids import BarePolicyId, PlayedPolicy, PolicyId
from nashdex.core.references import search_nodes
from nashdex.core.seeds import derive_uniform
from nashdex.games.interface import Decisions
from nashdex.games.showdown.potential import POTENTIAL_SHARES, potential
from nashdex.games.showdown.protocol import Expand, Expanded, Searched, Value, ValuedSeat
from nashdex.games.space import Space
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.policies.ensembles.document import read_ensemble
from nashdex.policies.ensembles.playing import EnsemblePolicy
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.interface import Actions
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.sampling import sample_masked
from nashdex.policies.search.able import check_can_search
from nashdex.policies.search.searching import Searching, search_roots
from nashdex.store.protocol import ObjectStore

_log = structlog.get_logger()
_BETA: Final = 0.015
"""Temperature of the search's values, which are from −1 to 1: an action worth .015 more is e times as probable."""


class Judge:
    """A network's critic, which values positions."""

    def __init__(self, network: ActorCritic, reward: str) -> None:
        self._network = network.eval()
        self._share_of_potential = POTENTIAL_SHARES[reward]

    def values(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the chance to win, from −1 to 1, shape (N,), of observations (N, F)."""
        with torch.inference_mode():
            values: NDArray[np.float32] = self._network.values(torch.from_numpy(observations)).numpy()
        if self._share_of_potential:
            values = values + potential(self._network.space, observations)
        return values.clip(-1.0, 1.0)


class Proposer(Protocol):
    """A policy whose logits a search adds its values to."""

    def legal_logits(self, decisions: Decisions) -> NDArray[np.float32]:
        """Return the logits of each row's legal actions, (N, A); −∞ for illegal ones."""


class GuidedSearch(Searching):
    """A policy that searches. Implements ``policies.interface.Policy`` and ``WithProcesses``."""

    needs_lines = True
    needs_state = False
    view = None

    def __init__(
        self, policy: PolicyId, space: Space, search: str, proposer: Proposer, judges: Sequence[Judge]
    ) -> None:
        """Search around what ``proposer`` plays; ``judges`` value the leaves by their mean."""
        super().__init__(space)
        self.id = PolicyId(f"{search}{policy}")
        self._nodes = search_nodes(search)
        self._temperature = PlayedPolicy.of(policy).temperature
        self._proposer = proposer
        self._judges = judges

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row. Its uniform number seeds the search and the draw."""
        roots = search_roots(uniforms)
        expand = Expand(
            rows=self._gateway.rows(decisions, roots),
            nodes=self._nodes,
            turns=1,
            milliseconds=None,
            teams=self._gateway.teams,
        )
        rows = self._gateway.ask(expand, Expanded).rows
        values = self.values(self._gateway.observations(sum(row.leaves for row in rows)))
        ends = np.cumsum([row.leaves for row in rows])
        valued = Value(
            rows=tuple(
                ValuedSeat(battle=row.battle, seat=row.seat, values=tuple(values[end - row.leaves : end].tolist()))
                for row, end in zip(rows, ends.tolist(), strict=True)
            )
        )
        logits = self._proposer.legal_logits(decisions).astype(np.float64)
        for row, found in enumerate(self._gateway.ask(valued, Searched).rows):
            if found.cause is not None:
                _log.warning("a position was not searched", cause=found.cause.partition("\n")[0])
            logits[row, list(found.actions)] += np.array(found.values) / _BETA
        draws = np.array([derive_uniform(root, "draw") for root in roots])
        return sample_masked(logits.astype(np.float32), decisions.mask, draws, self._temperature)

    def values(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the judges' mean value of each leaf, shape (N,), of observations (N, F)."""
        if not len(observations):
            return np.zeros(0, dtype=np.float32)
        values: NDArray[np.float32] = np.mean([judge.values(observations) for judge in self._judges], axis=0)
        return values


def load_guided_search(store: ObjectStore, policy: PolicyId, space: Space, search: str) -> GuidedSearch:
    """Return a stored network with ``search`` around it.

    Raises:
        DataError: the policy is missing, altered, or was trained for another space.
        ConfigurationError: it cannot search.
    """
    check_can_search(store, policy)
    network, judge = _read_judge(store, PlayedPolicy.of(policy).policy, space)
    return GuidedSearch(policy, space, search, NetworkPolicy(policy, network), [judge])


def load_guided_ensemble(store: ObjectStore, policy: PolicyId, space: Space, search: str) -> GuidedSearch:
    """Return an ensemble with ``search`` around it: its members propose, and their critics judge.

    Raises:
        DataError: it or a member is missing, altered, or was trained for another space.
        ConfigurationError: a member cannot search.
    """
    check_can_search(store, policy)
    voters = read_ensemble(store, PlayedPolicy.of(policy).policy).voters
    read = {voter.policy: _read_judge(store, voter.policy, space) for voter in voters}
    members = [NetworkPolicy(voter.id, read[voter.policy][0]) for voter in voters]
    proposer = EnsemblePolicy(policy, members, is_joint=False)
    return GuidedSearch(policy, space, search, proposer, [judge for _, judge in read.values()])


def _read_judge(store: ObjectStore, policy: BarePolicyId, space: Space) -> tuple[ActorCritic, Judge]:
    """Return a stored network and its critic."""
    network = load_network(store, policy, space)
    return network, Judge(network, read_document(store, policy).reward)
