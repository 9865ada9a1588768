"""The gradient of one optimiser step, added up over the parts of its loss."""

from collections.abc import Mapping

from torch import Tensor

from nashdex.policies.networks.actor_critic import ActorCritic


class Gradients:
    """The gradients of a network's parameters, and the sums of what the parts of a step measured."""

    def __init__(self, network: ActorCritic) -> None:
        self._network = network
        self._measured: dict[str, float] | None = None
        self.total_loss = 0.0
        """Of the parts of this step so far."""

    def add(self, loss: Tensor, values: Mapping[str, float]) -> dict[str, float]:
        """Add the gradients of a part of the step's loss, and free its graph.

        Args:
            loss: a scalar with a graph.
            values: the parts of this loss.

        Returns:
            The sums of ``values`` over the parts of this step so far.
        """
        if self._measured is None:
            self.clear()
            self._measured = {}
        loss.backward()  # type: ignore[no-untyped-call]
        self.total_loss += float(loss.detach())
        for name, value in values.items():
            self._measured[name] = self._measured.get(name, 0.0) + value
        return dict(self._measured)

    def clear(self) -> None:
        """Forget all gradients."""
        self._network.zero_grad(set_to_none=True)
        self._measured, self.total_loss = None, 0.0

    def replace(self, total_loss: float, measured: Mapping[str, float]) -> None:
        """Replace the sums by those over several processes, whose gradients were added up too."""
        self._measured, self.total_loss = dict(measured), total_loss

    def take(self) -> float:
        """Return the step's whole loss. The gradients stay until the next step's first part is added."""
        assert self._measured is not None, "there is no gradient yet"
        self._measured = None
        return self.total_loss
