"""References ρ: the policies that a KL holds the trained policy to.

Each minibatch gets a full forward pass of the reference: log-probabilities kept since collection would belong to the
policy that played. Make a reference after weights are loaded. N decisions, F observation values, A actions.
"""

import copy
import re
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import GREEDY, PlayedPolicy, PolicyId
from nashdex.games.space import Space
from nashdex.metagame.plan import IterationPlan
from nashdex.policies.archive import load_network
from nashdex.policies.masked import kl_divergence, mask_of, masked_log_softmax, uniform_log_probs
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.settings.damping import Damping
from nashdex.store.protocol import ObjectStore

_RANDOM = PolicyId("random")
_LEAST_SHARE = 1e-9
"""Smallest share of a mixture: a smaller one is rounding."""


EMA_DECAY = 0.999
"""Share that the moving average keeps at an optimiser step."""

_NUMBERS = re.compile(r"-?\d+")


class Reference:
    """The policy that the trained one is held to. By default it does not change."""

    source: str
    """Its kind and, after a colon, where it comes from, such as ``snapshot:p0123``."""

    @property
    def kind(self) -> str:
        """The source's kind alone: one of few."""
        return self.source.partition(":")[0]

    def kl(self, log_probs: Tensor, observations: Tensor, masks: Tensor) -> Tensor:
        """Return KL(π‖ρ) of each row, shape (N,), for log π (N, A) at observations (N, F)."""
        raise NotImplementedError

    def follow(self, network: ActorCritic) -> None:
        """React to an optimiser step of ``network``."""

    def begin_round(self, network: ActorCritic, number: int) -> None:
        """React to the start of a further round of ``network``; the first one of a training has number 0."""

    @property
    def magnet(self) -> ActorCritic | None:
        """The network that follows the trained one all the time, if the reference is one: a policy of its own."""
        return None

    def weights(self) -> dict[str, Tensor]:
        """Return the state that checkpoints keep, as it is, not copied."""
        return {}

    def set_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Restore the state that ``weights`` returned."""


class Distribution(Reference):
    """A reference that is one distribution."""

    def log_probs(self, observations: Tensor, masks: Tensor) -> Tensor:
        """Return log ρ (N, A) of observations (N, F) over the legal actions."""
        raise NotImplementedError

    def kl(self, log_probs: Tensor, observations: Tensor, masks: Tensor) -> Tensor:
        """Return KL(π‖ρ) of each row, shape (N,)."""
        return kl_divergence(log_probs, self.log_probs(observations, masks), masks)


class SnapshotReference(Distribution):
    """A frozen copy of a whole network, as it is when the reference is made, at the temperature of its id."""

    def __init__(self, network: ActorCritic, policy: PolicyId) -> None:
        self.source = f"snapshot:{policy}"
        self._temperature = PlayedPolicy.of(policy).temperature
        self.network = copy.deepcopy(network).eval().requires_grad_(requires_grad=False)
        self._fused = self.network.fuse()

    @torch.no_grad()
    def log_probs(self, observations: Tensor, masks: Tensor) -> Tensor:
        """Return log ρ (N, A) of observations (N, F) over the legal actions."""
        return masked_log_softmax(self.network.logits(observations, self._fused), masks, self._temperature)


class RoundReference(SnapshotReference):
    """A copy of the network as it was at the start of the round, or of the last of several rounds that renews it.

    With many rounds between two copies it is the stepwise reference of NashPG (arXiv 2510.18183).
    """

    def __init__(self, network: ActorCritic, policy: PolicyId, every_rounds: int) -> None:
        super().__init__(network, policy)
        self._every_rounds = every_rounds

    def begin_round(self, network: ActorCritic, number: int) -> None:
        """Copy ``network`` if the number is a multiple of ``every_rounds``."""
        if number % self._every_rounds == 0:
            self.set_weights(network.state_dict())

    def weights(self) -> dict[str, Tensor]:
        """Return the copy."""
        return {name: tensor.detach() for name, tensor in self.network.state_dict().items()}

    def set_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Restore a copy."""
        self.network.load_state_dict(weights)
        self._fused = self.network.fuse()


class UniformReference(Distribution):
    """Uniform over the legal actions: KL(π‖ρ) = log|legal| − H(π)."""

    source = "uniform"

    def log_probs(self, observations: Tensor, masks: Tensor) -> Tensor:
        """Return log ρ (N, A): it looks at no observation."""
        del observations
        return uniform_log_probs(masks)


class HierarchicalReference(Distribution):
    """Uniform over the kinds of legal actions, then over the legal actions of the kind: log ρ = −log kinds − log peers.

    An action's kind is its name without numbers: ``move`` of ``move 3``. Of a joint action it is the pair of its
    slots' kinds. Where every name is a kind of its own, as in Kuhn poker, it is the uniform reference.
    """

    source = "hierarchical"

    def __init__(self, space: Space, device: torch.device | None = None) -> None:
        names = [_NUMBERS.sub("", name) for name in space.actions]
        kinds = sorted(set(names))
        of_slot = torch.tensor([kinds.index(name) for name in names], device=device)
        self._num_kinds = len(kinds) ** space.num_slots
        self._kinds = of_slot if space.num_slots == 1 else (len(kinds) * of_slot[:, None] + of_slot).flatten()

    def log_probs(self, observations: Tensor, masks: Tensor) -> Tensor:
        """Return log ρ (N, A): it looks at no observation."""
        del observations
        legal = mask_of(masks)
        is_dense = masks.dtype == torch.bool
        kinds = self._kinds.expand(legal.shape) if is_dense else self._kinds[masks.long().clamp(min=0)]
        counts = torch.zeros(len(masks), self._num_kinds, device=masks.device).scatter_add_(1, kinds, legal.float())
        peers = counts.gather(1, kinds)
        num_kinds = (counts > 0).sum(dim=1, keepdim=True)
        return (-(peers * num_kinds).log()).masked_fill(~legal, -torch.inf)


class MixtureReference(Distribution):
    """A league's mixture: ρ = Σ σ_i π_i, and then its logarithm."""

    def __init__(self, members: Sequence[tuple[float, Distribution]]) -> None:
        self.source = "league:" + ",".join(f"{member.source}={share:.4g}" for share, member in members)
        self._members = members

    def log_probs(self, observations: Tensor, masks: Tensor) -> Tensor:
        """Return log ρ (N, A)."""
        weighted = [
            member.log_probs(observations, masks) + torch.tensor(share).log().item() for share, member in self._members
        ]
        return torch.stack(weighted).logsumexp(dim=0)


class PortfolioReference(Reference):
    """Several references; in each decision the nearest one counts."""

    def __init__(self, members: Sequence[Distribution]) -> None:
        self.source = "portfolio:" + ",".join(member.source for member in members)
        self._members = members

    def kl(self, log_probs: Tensor, observations: Tensor, masks: Tensor) -> Tensor:
        """Return the smallest KL(π‖ρ_i) of each row, shape (N,)."""
        return torch.stack([member.kl(log_probs, observations, masks) for member in self._members]).amin(dim=0)


class EmaReference(Distribution):
    """A moving average of the parameters: θ_ρ ← τ θ_ρ + (1 − τ) θ after each optimiser step."""

    def __init__(self, network: ActorCritic, policy: PolicyId, decay: float) -> None:
        self.source = f"ema:{policy}"
        self._network = copy.deepcopy(network).eval().requires_grad_(requires_grad=False)
        self._decay = decay

    @torch.no_grad()
    def log_probs(self, observations: Tensor, masks: Tensor) -> Tensor:
        """Return log ρ (N, A) under the average as it is now."""
        return masked_log_softmax(self._network.logits(observations), masks)

    @property
    def magnet(self) -> ActorCritic:
        """The average."""
        return self._network

    @torch.no_grad()
    def follow(self, network: ActorCritic) -> None:
        """Move the average towards ``network`` by 1 − τ."""
        for average, newest in zip(self._network.parameters(), network.parameters(), strict=True):
            average.lerp_(newest, 1 - self._decay)

    def weights(self) -> dict[str, Tensor]:
        """Return the average."""
        return {name: tensor.detach() for name, tensor in self._network.state_dict().items()}

    def set_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Restore an average."""
        self._network.load_state_dict(weights)


def make_reference(
    store: ObjectStore, plan: IterationPlan, damping: Damping, network: ActorCritic, start: SnapshotReference
) -> Reference | None:
    """Return the reference of ``damping``; None if it has none.

    ``start`` is a copy of ``network`` at the start of the iteration.

    Raises:
        ConfigurationError: an opponent's network remembers and ``network`` does not, or the other way round.
        DataError: an opponent's network is missing, altered or of another space.
    """
    if damping.reference == "none":
        return None
    without_opponents: dict[str, Callable[[], Reference]] = {
        "snapshot": lambda: start,
        "round-snapshot": lambda: RoundReference(network, plan.learner, damping.reference_every_rounds),
        "uniform": UniformReference,
        "hierarchical": lambda: HierarchicalReference(network.space, next(network.parameters()).device),
        "ema": lambda: EmaReference(network, plan.learner, EMA_DECAY),
    }
    if damping.reference in without_opponents:
        return without_opponents[damping.reference]()
    members = _opponents_as_references(store, plan, network)
    if damping.reference == "portfolio":
        return PortfolioReference([start, *(member for _, member in members if member.source != start.source)])
    rest = 1.0 - sum(share for share, _ in members)
    return MixtureReference([*members, (rest, start)] if rest > _LEAST_SHARE else members)


def _opponents_as_references(
    store: ObjectStore, plan: IterationPlan, network: ActorCritic
) -> list[tuple[float, Distribution]]:
    """Return the opponents that have a probability for every action, with their shares of the mixture.

    Those are the networks and the uniformly random policy. Programs, deterministic tables and greedy play have none: no
    KL from them is finite.
    """
    kinds = {entry.id: entry.kind for entry in plan.population.policies}
    device = next(network.parameters()).device
    members: list[tuple[float, Distribution]] = []
    for policy, share in sorted(plan.opponents.items()):
        if policy == _RANDOM:
            members.append((share, UniformReference()))
        elif kinds.get(policy) == "network" and (played := PlayedPolicy.of(policy)).temperature != GREEDY:
            opponent = load_network(store, played.policy, network.space).to(device)
            if opponent.remembers != network.remembers:
                raise ConfigurationError(
                    f"train.oracle.damping.reference refers to {policy}, a {opponent.settings.kind!r} network, and "
                    f"this training is of a {network.settings.kind!r} network; only one of them remembers a battle, so "
                    'they cannot read the same minibatches: set it to "snapshot", "round-snapshot", "ema", "uniform", '
                    '"hierarchical" or "none"'
                )
            members.append((share, SnapshotReference(opponent, policy)))
    return members
