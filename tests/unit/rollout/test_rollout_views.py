"""Views in the rollout: computed once a batch for all policies that share them, and forgotten with their battles."""

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.interface import NO_ACTION, Decisions, Viewed, ViewIdentity
from nashdex.policies.interface import Actions, Policy
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import MAX_TRIES, PlayedBattle, Rollout
from support.arenas import NUM_TURNS, CardArena, UniformPolicy

NUM_BATTLES = 20


class TurnView:
    """Shows how often a seat was asked in its battle."""

    def __init__(self, fingerprint: str) -> None:
        self.identity = ViewIdentity(name="turns", fingerprint=fingerprint)
        self.batch_sizes: list[int] = []
        self.asked = Counter[tuple[int, int]]()

    def read(self, decisions: Decisions) -> Viewed:
        self.batch_sizes.append(len(decisions))
        keys = list(zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True))
        self.asked.update(key for key, again in zip(keys, decisions.asked_again, strict=True) if not again)
        counts = np.array([self.asked[key] for key in keys])
        actions = np.where(decisions.mask, np.arange(decisions.mask.shape[1]), NO_ACTION)
        return Viewed({"count": counts}, actions, np.ones(len(keys), np.bool_), counts == 1)

    def forget(self, battle: int, seat: int) -> None:
        del self.asked[battle, seat]


class ViewingPolicy(UniformPolicy):
    """Plays at random, and keeps what its view shows beside the turn that the observation shows."""

    def __init__(self, name: str, view: TurnView) -> None:
        super().__init__(name)
        self.view = view
        self.shown: list[tuple[int, int]] = []

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        assert decisions.viewed is not None
        assert len(decisions.viewed.actions) == len(decisions)
        counts = decisions.viewed.inputs["count"].tolist()
        turns = decisions.observation[:, 4].astype(int).tolist()
        self.shown += zip(counts, turns, strict=True)
        assert decisions.viewed.is_first.tolist() == [turn == 0 for turn in turns]
        return super().act(decisions, uniforms)


def played(*policies: Policy, arena: CardArena | None = None, concurrent: int = 8) -> list[PlayedBattle]:
    """Return battles of neighbours among ``policies``, the first with the second and so on in a ring."""
    paired = PairedBattles(1, ["t0"], deadline_seconds=9.0)
    names = [policy.id for policy in policies]
    seats = [(names[n % len(names)], names[(n + 1) % len(names)]) for n in range(NUM_BATTLES)]
    assignments = [paired.assignment(n, pair, record=True) for n, pair in enumerate(seats)]
    by_name: dict[PolicyId, Policy] = {policy.id: policy for policy in policies}
    return list(Rollout(arena or CardArena(), by_name, concurrent).play(assignments))


def test_policies_that_see_alike_share_one_reading_of_a_batch() -> None:
    views = [TurnView("a"), TurnView("a"), TurnView("b")]
    viewing = [ViewingPolicy(name, view) for name, view in zip(("x", "y", "z"), views, strict=True)]
    plain = UniformPolicy("plain")
    finished = played(*viewing, plain)
    assert all(one.outcome is not None for one in finished)
    assert views[1].batch_sizes == []
    assert sum(views[0].batch_sizes) == len(viewing[0].shown) + len(viewing[1].shown)
    assert sum(views[2].batch_sizes) == len(viewing[2].shown)
    assert len(views[0].batch_sizes) < len(viewing[0].batch_sizes) + len(viewing[1].batch_sizes)
    for policy in viewing:
        assert {count - turn for count, turn in policy.shown} == {1}
    assert [dict(view.asked) for view in views] == [{}, {}, {}]


def test_a_view_changes_nothing_of_what_others_play() -> None:
    names = ("x", "y")
    without = played(*(UniformPolicy(name) for name in names))
    with_view = played(UniformPolicy("x"), ViewingPolicy("y", TurnView("a")))

    def actions(finished: list[PlayedBattle]) -> dict[int, list[int]]:
        return {one.assignment.number: one.episodes[0].actions.tolist() for one in finished}

    assert actions(without) == actions(with_view)


@pytest.mark.parametrize("num_failures", [1, MAX_TRIES])
def test_a_failed_battle_is_forgotten_before_it_is_played_again(num_failures: int) -> None:
    view = TurnView("a")
    seed = PairedBattles(1, ["t0"], 9.0).assignment(3, (PolicyId("x"), PolicyId("y"))).spec.seed
    policy = ViewingPolicy("x", view)
    finished = played(policy, UniformPolicy("y"), arena=CardArena(fails={seed: num_failures}))
    assert sum(one.outcome is None for one in finished) == (num_failures == MAX_TRIES)
    assert {count - turn for count, turn in policy.shown} == {1}
    assert {turn for _, turn in policy.shown} == set(range(NUM_TURNS))
    assert not view.asked
