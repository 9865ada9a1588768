"""A network as a policy: it plays from its masked distribution."""

import numpy as np
import torch
from numpy.typing import NDArray

from nashdex.core.ids import PlayedPolicy, PolicyId
from nashdex.games.interface import Decisions
from nashdex.policies.interface import Actions
from nashdex.policies.joint import acting_logits
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.sampling import sample_masked


class NetworkPolicy:
    """Acts by a network's masked distribution, as its id says: sampled, greedy or at another temperature.

    Implements ``policies.interface.Policy``.

    Sets torch to one thread: battles are played by one process a core, whose threads would wait for one another.
    """

    needs_lines = False
    needs_state = False

    def __init__(self, policy: PolicyId, network: ActorCritic) -> None:
        torch.set_num_threads(1)
        self._id = policy
        self._temperature = PlayedPolicy.of(policy).temperature
        self._network = network.for_acting()
        self._is_joint = network.space.num_slots > 1

    @property
    def id(self) -> PolicyId:
        """The policy's id, which says how it plays."""
        return self._id

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row with one forward pass over all of them."""
        logits = self._network.logits(decisions.observation)
        if not self._is_joint:
            return sample_masked(logits, decisions.mask, uniforms, self._temperature)
        logits = acting_logits(logits, decisions.legal)
        places = sample_masked(logits, np.isfinite(logits), uniforms, self._temperature)
        actions = decisions.legal.actions[decisions.legal.offsets[:-1] + places.action]
        return Actions(actions.astype(np.int64), places.log_prob)

    def forget(self, battle: int, seat: int) -> None:
        """Do nothing: a network remembers no battle."""
