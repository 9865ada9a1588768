"""Battles that are forked: exact copies, and worlds that one seat cannot tell from its battle."""

from collections.abc import Iterator

import numpy as np
import pytest

from nashdex.core.errors import ConfigurationError
from nashdex.games.showdown.battle import Battle
from nashdex.games.showdown.gateway import Gateway

pytestmark = pytest.mark.integration


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    opened = Gateway("gen1randombattle")
    yield opened
    opened.close()


def _step(battle: Battle, pick: int) -> None:
    battle.act({seat: int(decision.legal[pick % len(decision.legal)]) for seat, decision in battle.decisions.items()})


def _seen(battle: Battle, seat: int) -> list[float]:
    return [float(value) for value in battle.decisions[seat].observation]


def _play(battle: Battle) -> list[list[float]]:
    """Return every observation up to the end."""
    seen: list[list[float]] = []
    for pick in range(1000):
        if battle.result is not None:
            return seen
        seen += [_seen(battle, seat) for seat in sorted(battle.decisions)]
        _step(battle, 5 * pick + 7)
    raise AssertionError("the battle does not end")


def test_a_copy_is_the_battle_and_plays_on_by_itself(gateway: Gateway) -> None:
    battle = Battle.start(gateway, seed=1)
    for pick in (8, 7, 2, 9, 6):
        _step(battle, pick)
    before = {seat: _seen(battle, seat) for seat in battle.decisions}
    forks = [battle.fork(seed=seed, number=number) for number, seed in ((5, 3), (6, 3), (7, 4))]
    for fork in forks:
        assert {seat: _seen(fork, seat) for seat in fork.decisions} == before
        for seat, decision in fork.decisions.items():
            np.testing.assert_array_equal(decision.legal, battle.decisions[seat].legal)
    first, second, other = (_play(fork) for fork in forks)
    assert first == second
    assert first != other
    assert {seat: _seen(battle, seat) for seat in battle.decisions} == before
    assert _play(battle)
    assert battle.result is not None


def test_a_world_of_a_seat_shows_it_the_same_and_its_opponent_other_cards(gateway: Gateway) -> None:
    battle = Battle.start(gateway, seed=2)
    for pick in (8, 7, 8):
        _step(battle, pick)
    worlds = [battle.fork(seed=seed, number=10 + seed, seat=0) for seed in range(3)]
    for world in worlds:
        np.testing.assert_array_equal(world.decisions[0].legal, battle.decisions[0].legal)
        np.testing.assert_allclose(_seen(world, 0), _seen(battle, 0), atol=0.03)
    opponents = {tuple(_seen(world, 1)) for world in [battle, *worlds]}
    assert len(opponents) == 4
    _play(worlds[0])
    assert worlds[0].result is not None


def test_forks_that_are_stopped_free_their_numbers(gateway: Gateway) -> None:
    battle = Battle.start(gateway, seed=1)
    battle.fork(seed=1, number=9).stop()
    assert battle.fork(seed=1, number=9).decisions
    with pytest.raises(ConfigurationError, match="battle 9 runs already"):
        battle.fork(seed=1, number=9)


def test_actions_are_checked_before_they_are_sent(gateway: Gateway) -> None:
    battle = Battle.start(gateway, seed=1)
    with pytest.raises(ConfigurationError, match=r"waits for seats \[0, 1\], but there are actions for seats \[0\]"):
        battle.act({0: int(battle.decisions[0].legal[0])})
    with pytest.raises(ConfigurationError, match="is not legal now; expected one of"):
        battle.act({0: 0, 1: 0})
