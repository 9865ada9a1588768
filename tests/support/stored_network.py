"""A small network in a store, for tests of what plays and judges with stored policies."""

from pathlib import Path

import torch

from nashdex.games.registry import showdown_game
from nashdex.policies.archive import save_policy
from nashdex.policies.networks.actor_critic import make_network
from nashdex.settings.networks import NetworkSettings, SlotsSettings
from nashdex.store import open_store

SLOTS = SlotsSettings(embedding_size=4, entity_size=8, hidden_size=32, num_hidden_layers=1)


def stored_network(folder: Path, format_id: str, settings: NetworkSettings = SLOTS) -> str:
    """Store a network called ``made`` in ``folder``, and return its reference.

    Its weights are random, and its choices far from uniform.
    """
    arena = showdown_game(format_id).open_arena(num_gateways=1)
    space = arena.space
    arena.close()
    torch.manual_seed(3)
    network = make_network(space, settings)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    named = save_policy(
        open_store(str(folder)),
        network,
        name="made",
        parent=None,
        iteration=0,
        oracle="clone",
        reward="win-loss",
        reward_version="1",
    )
    return f"{folder}#{named}"
