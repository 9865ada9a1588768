"""The first network of a training: random weights, or parts of another policy's; and which of them train.

``network.init_from`` copies parameters from a policy that the run holds below ``initial/``: the run's begin copied and
hashed it there, so every attempt reads the same bytes. ``network.freeze`` names parameters that keep these values.
"""

from collections.abc import Collection, Iterator
from typing import Final

import torch
from torch import Tensor

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.games.space import Space
from nashdex.learning.experience.data import fresh_network
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.policies.sources import load_weights
from nashdex.settings.networks import NetworkSettings
from nashdex.store.protocol import ObjectStore

_MOST_NAMES: Final = 8


def first_network(store: ObjectStore, space: Space, settings: NetworkSettings, seed: int) -> ActorCritic:
    """Return the network that a training begins with, on the CPU. Random weights follow from ``seed`` alone.

    Raises:
        ConfigurationError: ``network.init_from`` or ``network.freeze`` does not fit this network.
        DataError: the policy to copy from is missing or altered.
    """
    network = fresh_network(space, settings, seed)
    network.load_state_dict(_copied(store, network, settings), strict=False)
    freeze(network, settings.freeze)
    return network


def check_first_network(store: ObjectStore, space: Space, settings: NetworkSettings) -> None:
    """Raise the errors of ``first_network``, and refuse to freeze random parameters. Takes no memory for weights.

    Raises:
        ConfigurationError: ``network.init_from`` or ``network.freeze`` does not fit this network.
        DataError: the policy to copy from is missing or altered.
    """
    if settings.init_from.policy_id is None:
        return
    with torch.device("meta"):
        network = make_network(space, settings)
    copied = _copied(store, network, settings)
    freeze(network, settings.freeze)
    if random := [
        name for name, parameter in network.named_parameters() if not (parameter.requires_grad or name in copied)
    ]:
        raise ConfigurationError(
            f"network.freeze would keep parameters at random values that network.init_from does not copy: "
            f"{_listed(random)}; expected network.init_from.parameters to hold them"
        )


def freeze(network: ActorCritic, prefixes: Collection[str]) -> None:
    """Keep the parameters whose names begin with one of ``prefixes`` from training.

    Raises:
        ConfigurationError: a prefix begins no parameter's name, or nothing of the actor or of the critic would train.
    """
    if not prefixes:
        return
    parameters = dict(network.named_parameters())
    for name in _chosen("network.freeze", prefixes, parameters):
        parameters[name].requires_grad = False
    for part, own in (("actor", network.actor_parameters()), ("critic", network.critic.parameters())):
        if not any(parameter.requires_grad for parameter in own):
            raise ConfigurationError(
                f"network.freeze holds all parameters of the {part}, so that nothing of it trains; expected fewer"
            )


def _copied(store: ObjectStore, network: ActorCritic, settings: NetworkSettings) -> dict[str, Tensor]:
    """Return the parameters to copy into ``network``, by name."""
    init = settings.init_from
    if init.policy_id is None:
        return {}
    wanted = dict(network.named_parameters())
    buffers = network.state_dict().keys() - wanted.keys()  # they follow from the space
    prefixes = init.parameters or ("",)
    names = _chosen("network.init_from.parameters", prefixes, wanted)
    stored = load_weights(store.at(keys.INITIAL), init.policy_id)
    given = {name: tensor for name, tensor in stored.items() if name.startswith(prefixes) and name not in buffers}
    given = network.fitted(given)
    if problems := list(_misfits(names, wanted, given)):
        raise ConfigurationError(
            f"network.init_from: policy {init.policy_id} does not fit this run's network {settings.kind!r} in "
            f"{network.space.format}: {_listed(problems, '; ')}. Give the network that policy's sizes, or name in "
            "network.init_from.parameters only what fits"
        )
    return given


def _chosen(key: str, prefixes: Collection[str], names: Collection[str]) -> set[str]:
    """Return the ``names`` that begin with one of ``prefixes``. Raise ConfigurationError for a prefix of none."""
    for prefix in prefixes:
        if not any(name.startswith(prefix) for name in names):
            parts = sorted({name.partition(".")[0] for name in names})
            raise ConfigurationError(
                f"{key} holds {prefix!r}, which no parameter's name begins with; this network's begin with "
                f"{', '.join(parts)}"
            )
    return {name for name in names if name.startswith(tuple(prefixes))}


def _misfits(names: Collection[str], wanted: dict[str, torch.nn.Parameter], given: dict[str, Tensor]) -> Iterator[str]:
    """Yield why parameters called ``names`` cannot be copied, or what would be left over."""
    for name in sorted({*names, *given}):
        expected, found = wanted.get(name), given.get(name)
        if expected is None and found is not None:
            yield f"{name} {tuple(found.shape)} is not a parameter here"
        elif expected is not None and found is None:
            yield f"{name} is expected as {tuple(expected.shape)} and missing"
        elif expected is not None and found is not None and expected.shape != found.shape:
            yield f"{name} is {tuple(found.shape)}, expected {tuple(expected.shape)}"


def _listed(problems: Collection[str], separator: str = ", ") -> str:
    """Return the first of ``problems``, and how many more there are."""
    shown = list(problems)[:_MOST_NAMES]
    more = len(problems) - len(shown)
    return separator.join(shown) + (f"{separator}and {more} more" if more else "")
