"""Battles of tabular games: what is played is the game that is added up."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from nashdex.core.ids import PolicyId
from nashdex.games.interface import BattleSpec, Outcome, RunningBattle
from nashdex.games.tabular.game import TabularArena
from nashdex.games.tabular.matrix import MatrixDocument, matrix_tree
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.games.tabular.tree import GameTree, Table, uniform_table
from nashdex.games.tabular.values import expected_payoffs
from nashdex.policies.tables import TablePolicy
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import PlayedBattle, Rollout
from support.tables import first_action_table

KUHN = openspiel_tree("kuhn_poker")
A, B = PolicyId("a"), PolicyId("b")


def play(tree: GameTree, tables: Sequence[Table], num: int, *, at_once: int = 512, seed: int = 5) -> list[PlayedBattle]:
    """Return ``num`` battles of two tables, in pairs that swap seats, by number."""
    arena = TabularArena(tree)
    policies = {id_: TablePolicy(id_, table, arena.space) for id_, table in zip((A, B), tables, strict=True)}
    paired = PairedBattles(seed, (), 60.0)
    rollout = Rollout(arena, policies, at_once)
    ended = rollout.play(paired.assignment(number, (A, B), record=True) for number in range(num))
    return sorted(ended, key=lambda finished: finished.assignment.number)


def outcome_of(finished: PlayedBattle) -> Outcome:
    assert finished.outcome is not None
    return finished.outcome


def skewed_table(tree: GameTree, seed: int) -> Table:
    table = np.random.default_rng(seed).random(tree.legal.shape) * tree.legal
    skewed: Table = table / table.sum(axis=1, keepdims=True)
    return skewed


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_scores_are_the_expected_payoffs_in_the_mean(name: str) -> None:
    """Within four standard errors: a wrong score, seat or draw shifts the mean by tens of them."""
    tree, num = openspiel_tree(name), 10_000
    tables = [skewed_table(tree, 1), first_action_table(tree)]
    scores = np.array([outcome_of(f).score(f.assignment.first_seat) for f in play(tree, tables, num)])
    expected = 0.5 + expected_payoffs(tree, tables)[0, 1] / (2 * tree.max_payoff)
    error = scores.std() / num**0.5
    assert 0 < error < 0.005
    assert abs(scores.mean() - expected) < 4 * error
    assert abs(expected - 0.5) > 8 * error, "the test could not tell who is better"


def test_a_matrix_game_scores_its_payoffs_share() -> None:
    document = MatrixDocument(row_policies=("a", "b"), column_policies=("c", "d"), payoffs=((3, -1), (0, 2)))
    tree = matrix_tree(document)
    rows = [np.eye(2)[[r, c]] for r in range(2) for c in range(2)]
    for table, payoff in zip(rows, (3, -1, 0, 2), strict=True):
        (finished,) = play(tree, [table, table], 1)
        outcome = outcome_of(finished)
        assert outcome.score(0) == pytest.approx(0.5 + payoff / 6)
        assert outcome.score(1) == pytest.approx(0.5 - payoff / 6)
        assert outcome.winner == (None if payoff == 0 else int(payoff < 0))
        assert outcome.decisions == (1, 1)


def test_a_battle_depends_on_its_seed_alone_and_not_on_its_batch() -> None:
    tables = [uniform_table(KUHN), skewed_table(KUHN, 3)]
    many, one = (play(KUHN, tables, 60, at_once=at_once) for at_once in (60, 1))
    for finished, alone in zip(many, one, strict=True):
        assert outcome_of(finished).score(0) == outcome_of(alone).score(0)
        assert finished.episodes[0].actions.tolist() == alone.episodes[0].actions.tolist()
    assert len({outcome_of(finished).score(0) for finished in many}) == 4, "all of Kuhn's payoffs occur"
    others = play(KUHN, tables, 60, seed=6)
    assert [outcome_of(f).score(0) for f in many] != [outcome_of(f).score(0) for f in others]


def test_chance_deals_evenly() -> None:
    arena = TabularArena(KUHN)
    arena.start([RunningBattle(number, BattleSpec(seed=1000 + number)) for number in range(3000)])
    (decisions,) = arena.poll().decisions
    cards = Counter(decisions.observation[:, 0].tolist())
    assert len(cards) == 3
    assert max(abs(count - 1000) for count in cards.values()) < 4 * (3000 * 2 / 9) ** 0.5


def test_decisions_are_asked_once_and_answered_in_any_order() -> None:
    arena = TabularArena(KUHN)
    arena.start([RunningBattle(number, BattleSpec(seed=number)) for number in (40, 7, 19)])
    (asked,) = arena.poll().decisions
    assert asked.battle.tolist() == [40, 7, 19]
    assert asked.seat.tolist() == [0, 0, 0]
    assert asked.mask.all()
    assert not arena.poll().decisions
    arena.act(np.array([19, 40]), np.zeros(2, np.int8), np.array([1, 0]))
    (answered,) = arena.poll().decisions
    assert answered.battle.tolist() == [40, 19]
    assert answered.seat.tolist() == [1, 1]
    arena.act(np.array([40, 19]), np.ones(2, np.int8), np.array([0, 0]))
    events = arena.poll()
    assert not events.decisions
    assert {outcome.battle: outcome.turns for outcome in events.outcomes} == {40: 2, 19: 2}
    assert abs(events.outcomes[0].score(0) - 0.5) == 0.25, "two passes: the better card wins the ante, half the stakes"
    arena.start([RunningBattle(40, BattleSpec(seed=9))])
    assert arena.poll().decisions[0].battle.tolist() == [40]
    arena.close()


def test_recorded_log_probabilities_are_the_tables() -> None:
    table = skewed_table(KUHN, 8)
    for finished in play(KUHN, [table, uniform_table(KUHN)], 40):
        (episode,) = finished.episodes
        states = episode.observations[:, 0].astype(int) - 1
        np.testing.assert_allclose(np.exp(episode.log_probs), table[states, episode.actions], rtol=1e-6)
        assert episode.policy == A
        assert episode.score == outcome_of(finished).score(finished.assignment.first_seat)
