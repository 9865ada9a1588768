"""What a policy remembers of a battle on a server whose connection breaks."""

from contextlib import closing

import numpy as np
import pytest
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.showdown.gateway import Gateway
from nashdex.policies.interface import Actions
from nashdex.serve.deciding import Decider

NAME = PolicyId("remembers")


class Remembers:
    """A policy that notes which seats it is to forget."""

    id = NAME
    needs_state = False
    view = None

    def __init__(self, *, needs_lines: bool) -> None:
        self.needs_lines = needs_lines
        self.forgotten: list[tuple[int, int]] = []

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        raise AssertionError(f"no decision is asked for: {decisions}, {uniforms}")

    def forget(self, battle: int, seat: int) -> None:
        self.forgotten.append((battle, seat))


@pytest.mark.parametrize("needs_lines", [False, True])
def test_a_policy_forgets_a_log_that_comes_again_and_keeps_what_does_not(*, needs_lines: bool) -> None:
    policy = Remembers(needs_lines=needs_lines)
    with closing(Gateway("gen1randombattle")) as gateway:
        decider = Decider(gateway, {NAME: policy}, lambda _room: NAME, seed=0)
        room = decider.open("battle-gen1randombattle-1", "somebody")
        decider.begin_again(room)
        assert bool(policy.forgotten) == needs_lines
        policy.forgotten.clear()
        decider.finish(room)
        assert policy.forgotten == [(room.number, 0), (room.number, 1)]


def test_a_battle_after_a_silence_that_ended_the_gateway_gets_another() -> None:
    gateway = Gateway("gen1randombattle")
    with closing(Decider(gateway, {NAME: Remembers(needs_lines=False)}, lambda _room: NAME, seed=0)) as decider:
        decider.finish(decider.open("battle-gen1randombattle-1", "somebody"))
        gateway.kill()
        decider.open("battle-gen1randombattle-2", "somebody")
        assert decider._gateway is not gateway
        assert decider._gateway.is_open()
