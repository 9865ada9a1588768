"""Tables of tabular games."""

from nashdex.games.tabular.tree import GameTree, Table, one_hot


def first_action_table(tree: GameTree) -> Table:
    """Return the table that always plays the lowest legal action."""
    return one_hot(tree.legal.argmax(axis=1), tree.num_actions)
