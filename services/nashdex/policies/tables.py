"""Policies of tabular games: action probabilities by information state, in the store and in battle. Needs no torch."""

import hashlib
import math
from typing import Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import GREEDY, SAMPLED, BarePolicyId, PlayedPolicy, PolicyId
from nashdex.core.seeds import inverse_cdf
from nashdex.games.interface import Decisions
from nashdex.games.space import Space
from nashdex.games.tabular.game import STATE, observed_states, tabular_space
from nashdex.games.tabular.tree import GameTree, Table, check_table, one_hot
from nashdex.policies.document import UNSET_ID, PolicyDocument, read_document
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.playing import scripted_table
from nashdex.policies.scripted.registry import is_scripted
from nashdex.store.checked import read_hashed
from nashdex.store.protocol import ObjectStore

_REWARD_VERSION = "1"
"""Version of the reward win-loss, which an exact oracle maximises."""

_TENSOR: Final = "table"
_HEADER_BYTES: Final = 4096
"""More than safetensors writes before one tensor."""


class TablePolicy:
    """Acts by drawing from a table's row. Implements ``policies.interface.Policy`` and ``WithDistribution``."""

    needs_lines = False
    needs_state = False
    view = None

    def __init__(self, policy: PolicyId, table: Table, space: Space) -> None:
        self._id = policy
        self._space = space
        self._cumulative = table.cumsum(axis=1)
        # The logarithm of 0 is left at −inf; such actions are never drawn.
        self._log_probs = np.log(table, out=np.full(table.shape, -np.inf), where=table > 0)

    @property
    def id(self) -> PolicyId:
        """The policy's id, which says how it plays."""
        return self._id

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row by the information state that it observes."""
        states = observed_states(self._space, decisions.observation)
        actions = inverse_cdf(self._cumulative[states], uniforms)
        return Actions(actions, self._log_probs[states, actions].astype(np.float32))

    def log_probs(self, decisions: Decisions) -> NDArray[np.float64]:
        """Return log π of each legal action, shape (L,)."""
        states = observed_states(self._space, decisions.observation)
        return self._log_probs[states[decisions.legal.rows], decisions.legal.actions]

    def forget(self, battle: int, seat: int) -> None:
        """Do nothing: a table has no memory."""


def save_table_policy(
    store: ObjectStore,
    tree: GameTree,
    table: Table,
    *,
    name: str,
    parent: BarePolicyId | None,
    iteration: int,
    oracle: str,
) -> BarePolicyId:
    """Store ``table`` and return its id. The table is written first, so that a policy with a document is complete.

    Raises:
        DataError: it is not a policy of ``tree``.
    """
    data = table_bytes(tree, table)
    bare = PolicyDocument(
        id=UNSET_ID,
        kind="table",
        name=name,
        format=tree.format,
        space=tabular_space(tree),
        parent=parent,
        iteration=iteration,
        oracle=oracle,
        reward="win-loss",
        reward_version=_REWARD_VERSION,
        num_parameters=int(tree.legal.sum()),
        table_sha256=hashlib.sha256(data).hexdigest(),
    )
    document = bare.model_copy(update={"id": bare.content_id()})
    store.put_if_absent(keys.policy_table(document.id), data)
    store.put_if_absent(keys.policy_document(document.id), document.to_json())
    return document.id


def table_bytes(tree: GameTree, table: Table) -> bytes:
    """Return ``table`` as safetensors.

    Raises:
        DataError: it is not a policy of ``tree``.
    """
    check_table(tree, table, "the table")
    return safetensors.save({_TENSOR: np.ascontiguousarray(table, dtype=np.float64)})


def load_table(store: ObjectStore, policy_id: PolicyId, tree: GameTree) -> Table:
    """Return the table of a scripted or stored policy, of shape (S, A), as it plays.

    Raises:
        DataError: it is missing, altered, of another game, or no policy of this one.
        ConfigurationError: it is scripted, and does not play tabular games or has a suffix.
    """
    if is_scripted(policy_id):
        return scripted_table(policy_id, tree)
    played = PlayedPolicy.of(policy_id)
    table = _stored_table(store, played.policy, tabular_space(tree))
    check_table(tree, table, f"{store.uri}/{keys.policy_table(played.policy)}")
    return _at_temperature(table, played.temperature)


def load_table_policy(store: ObjectStore, policy_id: PolicyId, space: Space) -> TablePolicy:
    """Return a stored policy, ready to play as its id says in ``space``, a tabular game's.

    Raises:
        DataError: it is missing, altered, or of another game.
    """
    played = PlayedPolicy.of(policy_id)
    table = _at_temperature(_stored_table(store, played.policy, space), played.temperature)
    return TablePolicy(policy_id, table, space)


def _stored_table(store: ObjectStore, policy: BarePolicyId, space: Space) -> Table:
    document = read_document(store, policy)
    document.require_space(space)
    key = keys.policy_table(policy)
    if document.table_sha256 is None:
        raise DataError(f"policy {policy} has no table; expected one, as in every run of a tabular game")
    shape = (space.vocabularies[STATE] - 1, space.num_actions)
    most_bytes = math.prod(shape) * np.dtype(np.float64).itemsize + _HEADER_BYTES
    data = read_hashed(store, key, document.table_sha256, most_bytes)
    try:
        tensors = safetensors.load(data)
    except SafetensorError as error:
        raise DataError(f"{store.uri}/{key} is not a safetensors file: {error}") from error
    table = tensors.get(_TENSOR)
    if table is None or table.dtype != np.float64:
        raise DataError(f"{store.uri}/{key} has no float64 tensor {_TENSOR!r}, which is a policy's table")
    if table.shape != shape:
        raise DataError(f"{store.uri}/{key} is of shape {table.shape}; expected {shape}, states by actions")
    return table


def _at_temperature(table: Table, temperature: float) -> Table:
    """Return probabilities in proportion to p^(1/temperature); greedy, the first of the most probable actions."""
    if temperature == SAMPLED:
        return table
    if temperature == GREEDY:
        return one_hot(table.argmax(axis=1), table.shape[1])
    weights = (table / table.max(axis=1, keepdims=True)) ** (1 / temperature)
    tempered: Table = weights / weights.sum(axis=1, keepdims=True)
    return tempered
