"""Gateways that die or hang in the middle of their battles: replaced, and every battle played again as it was."""

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from nashdex.core.ids import PolicyId
from nashdex.games.registry import game_for
from nashdex.games.showdown import arena as arena_module
from nashdex.games.showdown.arena import ShowdownArena
from nashdex.policies.scripted import SCRIPTED
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Finished, Rollout, require_finished

pytestmark = pytest.mark.integration

FORMAT = "gen1randombattle"
NUM_BATTLES = 8
RANDOM, MAX_POWER = PolicyId("random"), PolicyId("max-power")


@pytest.fixture
def arena() -> Iterator[ShowdownArena]:
    opened = ShowdownArena(FORMAT, num_gateways=2)
    yield opened
    opened.close()


def _play(
    arena: ShowdownArena, after_the_first: Callable[[], None] | None = None
) -> tuple[Rollout, dict[int, tuple[Any, ...]]]:
    """Play all battles; return what came of each. ``after_the_first`` is done when one has finished."""
    battles = PairedBattles(5, game_for(FORMAT).teams(), deadline_seconds=200.0)
    policies = {policy: SCRIPTED[policy](arena.space) for policy in (RANDOM, MAX_POWER)}
    rollout = Rollout(arena, policies, concurrent_battles=NUM_BATTLES)
    found: list[Finished] = []
    for finished in rollout.play(battles.assignment(n, (RANDOM, MAX_POWER), record=True) for n in range(NUM_BATTLES)):
        if not found and after_the_first is not None:
            after_the_first()
        found.append(finished)
    assert Counter(f.assignment.number for f in found) == Counter(range(NUM_BATTLES))
    return rollout, {
        f.assignment.number: (require_finished(f).winner, require_finished(f).turns, f.episodes[0].actions.tolist())
        for f in found
    }


def _a_gateway(arena: ShowdownArena) -> int:
    return max(worker.gateway.process_id or 0 for worker in arena._workers if worker.battles)


@pytest.mark.parametrize(
    ("number", "cause"), [(signal.SIGKILL, "gateway_died"), (signal.SIGSTOP, "gateway_hung")], ids=["dies", "hangs"]
)
def test_battles_of_a_lost_gateway_are_played_again_to_the_same_end(
    arena: ShowdownArena, number: int, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arena_module, "_HANG_SECONDS", 5.0)
    _, undisturbed = _play(arena)
    lost: list[int] = []

    def hit() -> None:
        lost.append(_a_gateway(arena))
        os.kill(lost[0], number)

    rollout, found = _play(arena, hit)
    assert set(rollout.counts.failures) == {cause}
    assert rollout.counts.failures[cause] > 0
    assert found == undisturbed
    assert not psutil.pid_exists(lost[0]), "nothing is left of it"
    assert rollout.counts.battles == NUM_BATTLES
