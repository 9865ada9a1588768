"""The value of a tabular game to its first player, by one linear program over the second player's plans."""

import numpy as np

from nashdex.core.errors import DataError
from nashdex.games.tabular.tree import GameTree


def game_value(tree: GameTree) -> float:
    """Return the payoff to seat 0 when both seats play optimally, in the game's payoff units.

    Sequence form (Koller, Megiddo and von Stengel 1996, "Efficient computation of equilibria for extensive two-person
    games", section 4): find the second player's realization plan y that minimises the value of the first player's best
    response. Variables are y, the value of that response in each of the first player's states, and its total value.

    Raises:
        DataError: HiGHS finds no solution; payoffs that differ by many orders of magnitude can cause this.
    """
    from scipy import sparse  # noqa: PLC0415 - takes long to import, and only this command needs it
    from scipy.optimize import linprog  # noqa: PLC0415

    form, (num_states, num_actions) = tree.sequence_form, tree.legal.shape
    empty = num_states * num_actions
    size = (empty + 2, empty + 2)
    payoffs = sparse.coo_array((form.weights, (form.leaves[:, 0], form.leaves[:, 1])), size).tocsr()
    # Constraints of a plan: a state's sequences sum to the one that leads there; the empty ones, in a last row, to 1.
    state, action = np.nonzero(tree.legal)
    rows = np.concatenate([state, np.arange(num_states), [num_states, num_states]])
    columns = np.concatenate([state * num_actions + action, form.parent, [empty, empty + 1]])
    signs = np.concatenate([np.ones(len(state)), -np.ones(num_states), [1.0, 1.0]])
    plans = sparse.coo_array((signs, (rows, columns)), (num_states + 1, empty + 2)).tocsr()

    states, sequences = [], []
    for seat in range(2):
        decides = tree.state_player == seat
        states.append(np.append(np.flatnonzero(decides), num_states))
        sequences.append(np.append(np.flatnonzero((tree.legal & decides[:, None]).ravel()), empty + seat))
    first, second = (plans[rows][:, columns] for rows, columns in zip(states, sequences, strict=True))
    num_plan, num_values = len(sequences[1]), len(states[0])
    # A sequence is worth its payoff plus the values of the next states; its state is worth at least that.
    responses = sparse.hstack([payoffs[sequences[0]][:, sequences[1]], -first.T])
    is_plan = sparse.hstack([second, sparse.csr_array((len(states[1]), num_values))])
    bounds: list[tuple[float | None, float | None]] = [(0.0, None)] * num_plan + [(None, None)] * num_values
    answer = linprog(  # type: ignore[call-overload]  # the stubs know no sparse matrices
        c=np.eye(1, num_plan + num_values, num_plan + num_values - 1)[0],
        A_ub=responses,
        b_ub=np.zeros(len(sequences[0])),
        A_eq=is_plan,
        b_eq=np.eye(1, len(states[1]), len(states[1]) - 1)[0],
        bounds=bounds,
        method="highs",
    )
    if answer.status != 0:
        raise DataError(f"HiGHS found no value of {tree.format}: {answer.message}")
    return float(answer.fun)
