"""Games written down as trees: what is in them, and which tables are policies of them."""

import dataclasses

import numpy as np
import pytest

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.games.registry import game_for
from nashdex.games.tabular.game import observations_of, observed_states, tabular_space
from nashdex.games.tabular.matrix import MatrixDocument, matrix_tree
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.games.tabular.tree import check_table, uniform_table
from nashdex.learning.rewards import REWARDS

RPS = MatrixDocument(
    row_policies=("rock", "paper", "scissors"),
    column_policies=("rock", "paper", "scissors"),
    payoffs=((0, -0.25, 0.5), (0.25, 0, -0.05), (-0.5, 0.05, 0)),
)


@pytest.mark.parametrize(
    ("name", "states", "nodes", "actions"), [("kuhn_poker", 12, 58, 2), ("leduc_poker", 936, 9457, 3)]
)
def test_openspiels_games_are_written_down_whole(name: str, states: int, nodes: int, actions: int) -> None:
    tree = openspiel_tree(name)
    assert (tree.num_states, len(tree.node_state), tree.num_actions) == (states, nodes, actions)
    assert np.bincount(tree.state_player).tolist() == [states // 2, states // 2]
    # Without the payoffs, chance and each seat's plan are a probability distribution over the terminal nodes.
    reach = np.zeros(nodes)
    reach[0] = 1.0
    decides = uniform_table(tree)
    for node, children in enumerate(tree.children):
        here = children >= 0
        state = tree.node_state[node]
        shares = tree.chance[node][here] if state < 0 else decides[state][tree.legal[state]]
        reach[children[here]] = reach[node] * shares
    assert reach[tree.is_terminal].sum() == pytest.approx(1.0)
    form = tree.sequence_form
    assert sum(len(level) for level in form.levels) == states
    assert len(form.weights) == np.count_nonzero(tree.is_terminal)


def test_the_version_is_that_of_the_rules() -> None:
    changed = RPS.model_copy(update={"payoffs": ((0, -0.25, 0.5), (0.25, 0, -0.06), (-0.5, 0.06, 0))})
    assert matrix_tree(RPS).version == matrix_tree(RPS).version
    assert matrix_tree(RPS).version != matrix_tree(changed).version
    assert tabular_space(matrix_tree(RPS)).fingerprint != tabular_space(matrix_tree(changed)).fingerprint


def test_actions_are_named_after_rows_and_columns() -> None:
    assert matrix_tree(RPS).action_names == ("rock", "paper", "scissors")
    other = MatrixDocument(
        row_policies=("up", "down"), column_policies=("left", "down", "right"), payoffs=((1, 2, 3),) * 2
    )
    tree = matrix_tree(other)
    assert tree.action_names == ("up or left", "down", "right")
    assert tree.legal.tolist() == [[True, True, False], [True, True, True]]


def test_a_game_in_which_a_seat_forgets_is_no_tree() -> None:
    tree = openspiel_tree("kuhn_poker")
    first, second = (tree.state_names.index(name) for name in ("0pb", "1pb"))
    merged = np.where(tree.node_state == second, first, tree.node_state)
    forgetful = dataclasses.replace(tree, node_state=merged)
    with pytest.raises(AssertionError, match="forgets"):
        _ = forgetful.sequence_form


def test_an_observation_names_its_information_state() -> None:
    tree = openspiel_tree("leduc_poker")
    space, seen = tabular_space(tree), observations_of(tree)
    assert seen.shape == (936, space.observation_size) == (936, 31)
    assert observed_states(space, seen).tolist() == list(range(936))
    np.testing.assert_array_equal(space.view(seen, "state", "information")[:, 0], tree.features)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ([0.5, 0.4], r"in state '0pb' it plays \[0\.5, 0\.4\]; expected probabilities that sum to 1"),
        ([1.5, -0.5], "it plays"),
        ([np.nan, 1.0], "it plays"),
        ([np.inf, 0.0], "it plays"),
    ],
)
def test_what_is_no_distribution_is_no_policy(row: list[float], says: str) -> None:
    tree = openspiel_tree("kuhn_poker")
    table = uniform_table(tree)
    table[tree.state_names.index("0pb")] = row
    with pytest.raises(DataError, match=f"the file is not a policy: .*{says}"):
        check_table(tree, table, "the file")


def test_an_illegal_action_or_another_shape_is_no_policy() -> None:
    tree = openspiel_tree("leduc_poker")
    table = uniform_table(tree)
    assert not tree.legal[0].all()
    table[0] = 1 / 3
    with pytest.raises(DataError, match="0 for illegal actions"):
        check_table(tree, table, "it")
    with pytest.raises(DataError, match=r"of shape \(5, 3\).*936 information states and 3 actions"):
        check_table(tree, np.full((5, 3), 1 / 3), "it")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("matrix",), "needs payoffs"),
        (("kuhn_poker", None, RPS), "takes no payoffs"),
        (("gen1ou", None, RPS), "takes no payoffs"),
        (("kuhn_poker", "a team"), "no teams"),
        (("chess",), "unknown format 'chess': `nashdex formats` lists"),
    ],
)
def test_a_game_takes_its_own_files_only(arguments: tuple[str], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        game_for(*arguments)


def test_a_stored_matrix_whose_names_do_not_fit_is_wrong_data() -> None:
    cut = (
        RPS.to_json()
        .replace(b'"scissors"\n  ],\n  "payoffs"', b'"paper"\n  ],\n  "payoffs"')
        .replace(b"0.5\n    ]", b"0.5, 1\n ]")
    )
    with pytest.raises(DataError, match="one row per entry of row_policies"):
        MatrixDocument.from_json(cut, "matrix.json")


def test_win_loss_rewards_add_up_to_the_payoffs_share() -> None:
    game = game_for("kuhn_poker")
    space = game.open_arena(num_gateways=1).space
    seen = np.zeros((3, space.observation_size), np.float32)
    win_loss = REWARDS["win-loss"].compute
    assert win_loss(space, seen, 0.75, 1.0).tolist() == [0.0, 0.0, 0.5]
    assert win_loss(space, seen[:0], 0.75, 1.0).tolist() == []
