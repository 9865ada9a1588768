"""``search:RUN#POLICY``: a trained policy that looks one turn ahead and values the positions with its own critic.

The search plays every pair of choices in sampled worlds, as ``search:…`` does. At each leaf the critic reads what the
seat would see there. The solution of the game of these values gives each action a value Q, and the policy π plays in
proportion to π · exp(Q / β). That maximises the value minus β times the divergence from π (the E-step of Abdolmaleki
et al., "Maximum a posteriori policy optimisation", ICLR 2018).
"""

from typing import Final

import numpy as np
import structlog
import torch
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PlayedPolicy, PolicyId
from nashdex.core.references import SEARCH
from nashdex.core.seeds import derive_uniform
from nashdex.games.interface import Decisions
from nashdex.games.showdown.formats import GAME
from nashdex.games.showdown.potential import POTENTIAL_SHARES, potential
from nashdex.games.showdown.protocol import Expand, Expanded, Searched, Value, ValuedSeat
from nashdex.games.space import Space
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.policies.interface import Actions
from nashdex.policies.memory import RememberingNetwork
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.networks.observed import Observed
from nashdex.policies.sampling import sample_masked
from nashdex.policies.search.searching import Searching, search_roots
from nashdex.store.protocol import ObjectStore

_log = structlog.get_logger()
_NODES: Final = 100
_BETA: Final = 0.1
"""Temperature of the search's values, which are from −1 to 1."""


class GuidedSearch(Searching):
    """A network that searches. Implements ``policies.interface.Policy`` and ``WithProcesses``.

    Sets torch to one thread, as ``NetworkPolicy`` does.
    """

    needs_lines = True
    needs_state = False
    view = None

    def __init__(self, policy: PolicyId, network: ActorCritic, reward: str) -> None:
        """Raise ConfigurationError if nothing is known of the leaves' values, or singles are not what it plays."""
        check_searches(policy, network.space, reward, remembers=network.remembers)
        super().__init__(network.space)
        torch.set_num_threads(1)
        self.id = PolicyId(f"{SEARCH}{policy}")
        self._temperature = PlayedPolicy.of(policy).temperature
        self._network = network.eval()
        actor = network.for_acting()
        assert not isinstance(actor, RememberingNetwork), "it does not remember"
        self._actor = actor
        self._share_of_potential = POTENTIAL_SHARES[reward]

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row. Its uniform number seeds the search and the draw."""
        roots = search_roots(uniforms)
        expand = Expand(
            rows=self._gateway.rows(decisions, roots),
            nodes=_NODES,
            turns=1,
            milliseconds=None,
            teams=self._gateway.teams,
        )
        rows = self._gateway.ask(expand, Expanded).rows
        values = self._values(self._gateway.observations(sum(row.leaves for row in rows)))
        ends = np.cumsum([row.leaves for row in rows])
        valued = Value(
            rows=tuple(
                ValuedSeat(battle=row.battle, seat=row.seat, values=tuple(values[end - row.leaves : end].tolist()))
                for row, end in zip(rows, ends.tolist(), strict=True)
            )
        )
        logits = self._actor.logits(Observed(decisions.observation)).astype(np.float64)
        for row, found in enumerate(self._gateway.ask(valued, Searched).rows):
            if found.cause is not None:
                _log.warning("a position was not searched", cause=found.cause.partition("\n")[0])
            logits[row, list(found.actions)] += np.array(found.values) / _BETA
        draws = np.array([derive_uniform(root, "draw") for root in roots])
        return sample_masked(logits.astype(np.float32), decisions.mask, draws, self._temperature)

    def _values(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the chance to win from each leaf, from −1 to 1, shape (N,), of observations (N, F)."""
        if not len(observations):
            return np.zeros(0, dtype=np.float32)
        with torch.inference_mode():
            values: NDArray[np.float32] = self._network.values(torch.from_numpy(observations)).numpy()
        if self._share_of_potential:
            values = values + potential(self._network.space, observations)
        return values.clip(-1.0, 1.0)


def check_searches(policy: PolicyId, space: Space, reward: str, *, remembers: bool) -> None:
    """Raise ConfigurationError if ``policy`` plays no singles of Showdown, or nothing values the leaves."""
    if space.game != GAME:
        why = f"it plays {space.format}, and the simulator searches Showdown's battles alone"
    elif remembers:
        why = "its critic needs the whole battle"
    elif space.num_slots > 1:
        why = f"it plays doubles, {space.format}"
    elif reward not in POTENTIAL_SHARES:
        why = f"its critic values the reward {reward!r}, not the chance to win"
    else:
        return
    raise ConfigurationError(
        f"{SEARCH}{policy} cannot search: {why}; expected a policy of singles without memory that was trained "
        f"with the reward {' or '.join(POTENTIAL_SHARES)}"
    )


def load_guided_search(store: ObjectStore, policy: PolicyId, space: Space) -> GuidedSearch:
    """Return a stored network that searches, and plays as its id says.

    Raises:
        DataError: the policy is missing, altered, or was trained for another space.
        ConfigurationError: it cannot search.
    """
    bare = PlayedPolicy.of(policy).policy
    document = read_document(store, bare)
    if document.kind != "network":
        raise ConfigurationError(f"{SEARCH}{policy} cannot search: it is a {document.kind}; expected a network")
    return GuidedSearch(policy, load_network(store, bare, space), document.reward)
