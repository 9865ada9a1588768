"""Which oracles have battles collected for them."""

import pytest

from nashdex.oracles.registry import ORACLES


@pytest.mark.parametrize("name", ORACLES.names)
def test_an_oracle_that_makes_networks_has_battles_to_read_their_space_from(name: str) -> None:
    # A trainer on a cluster has no simulator to ask for the space. A network to improve says its own.
    oracle = ORACLES[name]
    assert (oracle.collects is not None) == (oracle.makes == "network" and not oracle.improves)
