"""A network as a policy: it plays from its masked distribution."""

import copy

import numpy as np
import torch
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PlayedPolicy, PolicyId
from nashdex.games.interface import Decisions
from nashdex.policies.interface import Actions
from nashdex.policies.joint import acting_logits
from nashdex.policies.memory import RememberingNetwork, SeatMemory
from nashdex.policies.networks.actor_critic import ActingNetwork, ActorCritic
from nashdex.policies.sampling import sample_masked


class DeviceActor:
    """A network's actor under its current weights on a torch device. Implements ``ActingNetwork``.

    It computes what training does, so |Δ log π| < 1e-4 to the actors that are made for the CPU's caches.
    """

    def __init__(self, network: ActorCritic, device: torch.device) -> None:
        self._network = copy.deepcopy(network).to(device).eval()
        self._device = device

    def logits(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return logits before masking, (B, A), of ``observations`` (B, F); in a joint space as ``ActorCritic``."""
        with torch.inference_mode():
            rows = torch.from_numpy(np.ascontiguousarray(observations)).to(self._device)
            logits: NDArray[np.float32] = self._network.logits(rows).cpu().numpy()
        return logits


class NetworkPolicy:
    """Acts by a network's masked distribution, as its id says: sampled, greedy or at another temperature.

    Implements ``policies.interface.Policy``. A network that remembers gets a memory for each (battle, seat), which
    begins empty and ends with the seat's battle.

    Sets torch to one thread: battles are played by one process a core, whose threads would wait for one another.
    """

    needs_lines = False
    needs_state = False
    view = None

    def __init__(self, policy: PolicyId, network: ActorCritic, device: str = "cpu") -> None:
        """Play by ``network`` under its current weights on ``device``, ``cpu`` or ``cuda``.

        Raises:
            ConfigurationError: the network remembers, and the device is not the CPU.
        """
        torch.set_num_threads(1)
        self._id = policy
        self._temperature = PlayedPolicy.of(policy).temperature
        self._actor = _actor(network, device)
        self._is_joint = network.space.num_slots > 1

    @property
    def id(self) -> PolicyId:
        """The policy's id, which says how it plays."""
        return self._id

    @property
    def num_remembered(self) -> int:
        """The number of seats whose battle it remembers."""
        return len(self._actor) if isinstance(self._actor, SeatMemory) else 0

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row with one forward pass over all of them."""
        logits = self._logits(decisions)
        if not self._is_joint:
            return sample_masked(logits, decisions.mask, uniforms, self._temperature)
        logits = acting_logits(logits, decisions.legal)
        places = sample_masked(logits, np.isfinite(logits), uniforms, self._temperature)
        actions = decisions.legal.actions[decisions.legal.offsets[:-1] + places.action]
        return Actions(actions.astype(np.int64), places.log_prob)

    def forget(self, battle: int, seat: int) -> None:
        """Free the memory of a seat whose battle ended."""
        if isinstance(self._actor, SeatMemory):
            self._actor.forget((battle, seat))

    def _logits(self, decisions: Decisions) -> NDArray[np.float32]:
        if not isinstance(self._actor, SeatMemory):
            return self._actor.logits(decisions.observation)
        observations = torch.from_numpy(np.ascontiguousarray(decisions.observation))
        seats = zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)
        logits: NDArray[np.float32] = self._actor.step(
            {"observations": observations}, seats, decisions.asked_again.tolist()
        ).numpy()
        return logits


def _actor(network: ActorCritic, device: str) -> ActingNetwork | SeatMemory:
    """Return what acts for ``network`` on ``device``."""
    if device != "cpu":
        if network.remembers:
            raise ConfigurationError(
                f"collect.device is {device!r}, and a network that remembers a battle plays on the CPU alone; set "
                'collect.device = "cpu", or choose a network without a memory'
            )
        return DeviceActor(network, torch.device(device))
    acting = network.for_acting()
    return SeatMemory(acting) if isinstance(acting, RememberingNetwork) else acting
