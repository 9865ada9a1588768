"""A network as a policy: it plays from its masked distribution."""

import copy

import numpy as np
import torch
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import PlayedPolicy, PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.policies.interface import Actions
from nashdex.policies.masked import acting_logits
from nashdex.policies.memory import RememberingNetwork, SeatMemory
from nashdex.policies.networks.actor_critic import ActingNetwork, ActorCritic
from nashdex.policies.networks.observed import Observed
from nashdex.policies.sampling import listed_log_probs, sample_masked


class DeviceActor:
    """A network's actor under its current weights on a torch device. Implements ``ActingNetwork``.

    It computes the same as training. Its log-probabilities differ by less than 1e-4 from the actors that are made for
    the CPU's caches.
    """

    def __init__(self, network: ActorCritic, device: torch.device) -> None:
        self._network = copy.deepcopy(network).to(device).eval()
        self._device = device
        with torch.inference_mode():
            self._fused = self._network.fuse()

    def logits(self, observed: Observed) -> NDArray[np.float32]:
        """Return logits before masking, (B, A), of B observations; in a joint space as ``ActorCritic``."""
        with torch.inference_mode():
            rows = torch.from_numpy(observed.rows).to(self._device)
            logits: NDArray[np.float32] = self._network.logits(rows, self._fused).cpu().numpy()
        return logits


def choose(
    decisions: Decisions,
    legal_logits: NDArray[np.float32],
    uniforms: NDArray[np.float64],
    temperature: float,
    *,
    is_joint: bool,
) -> Actions:
    """Draw an action for each row from ``NetworkPolicy.legal_logits``, at ``temperature``."""
    if not is_joint:
        return sample_masked(legal_logits, decisions.mask, uniforms, temperature)
    places = sample_masked(legal_logits, np.isfinite(legal_logits), uniforms, temperature)
    actions = decisions.legal.actions[decisions.legal.offsets[:-1] + places.action]
    return Actions(actions.astype(np.int64), places.log_prob)


def distribution(
    decisions: Decisions, legal_logits: NDArray[np.float32], temperature: float, *, is_joint: bool
) -> NDArray[np.float64]:
    """Return log π of each legal action, shape (L,), from ``NetworkPolicy.legal_logits``. ``choose`` draws from it."""
    columns = decisions.legal.places if is_joint else decisions.legal.actions
    return listed_log_probs(legal_logits, columns, decisions.legal, temperature)


def of_legal_actions(logits: NDArray[np.float32], legal: LegalActions, *, is_joint: bool) -> NDArray[np.float32]:
    """Return a network's ``logits`` of legal actions, in the shape of ``NetworkPolicy.legal_logits``."""
    return acting_logits(logits, legal) if is_joint else np.where(legal.mask, logits, np.float32(-np.inf))


class NetworkPolicy:
    """Acts by a network's masked distribution, as its id says: sampled, greedy or at another temperature.

    Implements ``policies.interface.Policy`` and ``WithDistribution``. A network that remembers gets a memory for each
    (battle, seat), which begins empty and ends with the seat's battle.

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
        return choose(decisions, self.legal_logits(decisions), uniforms, self._temperature, is_joint=self._is_joint)

    def log_probs(self, decisions: Decisions) -> NDArray[np.float64]:
        """Return log π of each legal action, shape (L,), with one forward pass."""
        return distribution(decisions, self.legal_logits(decisions), self._temperature, is_joint=self._is_joint)

    def legal_logits(self, decisions: Decisions, observed: Observed | None = None) -> NDArray[np.float32]:
        """Return the logits of each row's legal actions.

        ``observed`` are their observations, if other networks read them too.

        Shape (N, A), −∞ for illegal actions; in a joint space (N, K), as ``policies.masked.acting_logits``.

        Raises:
            DataError: one is not finite, so that no action follows from them.
        """
        legal = of_legal_actions(self._logits(decisions, observed), decisions.legal, is_joint=self._is_joint)
        if np.count_nonzero(np.isfinite(legal)) != len(decisions.legal.actions):
            raise DataError(
                f"policy {self._id} gives logits that are not finite: its weights overflow in battle, so it cannot "
                "play. Leave it out, or train it again"
            )
        return legal

    def forget(self, battle: int, seat: int) -> None:
        """Free the memory of a seat whose battle ended."""
        if isinstance(self._actor, SeatMemory):
            self._actor.forget((battle, seat))

    def _logits(self, decisions: Decisions, observed: Observed | None) -> NDArray[np.float32]:
        if not isinstance(self._actor, SeatMemory):
            return self._actor.logits(observed or Observed(decisions.observation))
        observations = torch.from_numpy(np.ascontiguousarray(decisions.observation))
        seats = zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)
        return self._actor.step({"observations": observations}, seats, decisions.asked_again.tolist()).numpy()


def _actor(network: ActorCritic, device: str) -> ActingNetwork | SeatMemory:
    if device != "cpu":
        if network.remembers:
            raise ConfigurationError(
                f"collect.device is {device!r}, and a network that remembers a battle plays on the CPU alone; set "
                'collect.device = "cpu", or choose a network without a memory'
            )
        return DeviceActor(network, torch.device(device))
    acting = network.for_acting()
    return SeatMemory(acting) if isinstance(acting, RememberingNetwork) else acting
