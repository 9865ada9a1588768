"""Scripted policies ready to play: in battles, and as tables in a tabular game."""

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId, policy_id
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.space import Space
from nashdex.games.tabular.game import GAME as TABULAR
from nashdex.games.tabular.game import observations_of, tabular_space
from nashdex.games.tabular.tree import GameTree, Table, check_table, one_hot
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.declaration import ScriptedPlayer, ScriptedPolicy
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES, scripted_policies_of
from nashdex.store.protocol import ObjectStore


class ScriptedSeats:
    """A scripted policy under its name. Implements ``policies.interface.Policy``, ``Drawn`` and ``WithProcesses``."""

    def __init__(self, policy: PolicyId, player: ScriptedPlayer, declared: ScriptedPolicy) -> None:
        self._player = player
        self.id = policy
        self.needs_lines = declared.needs_lines
        self.needs_state = declared.needs_state
        self.is_uniform = declared.is_uniform
        self.view = player.view

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row."""
        return self._player.act(decisions, uniforms)

    def forget(self, battle: int, seat: int) -> None:
        """Forget a seat whose battle ended."""
        self._player.forget(battle, seat)

    def cpu_seconds(self) -> float:
        """Return the CPU time of the player's child processes so far, user and system, in seconds."""
        return self._player.cpu_seconds()

    def close(self) -> None:
        """End the player's child processes."""
        self._player.close()


def scripted_policy(name: str, space: Space) -> ScriptedSeats:
    """Return the scripted policy called ``name``, ready to play in ``space``.

    Raises:
        ConfigurationError: there is none of that name, or it does not play there.
    """
    declared = declared_policy(name, space.game, space.format, space.num_slots)
    return ScriptedSeats(policy_id(name), declared.make(space), declared)


def load_scripted_policy(store: ObjectStore, policy: PolicyId, space: Space, device: str) -> ScriptedSeats:
    """Return what ``scripted_policy`` does, in the form of ``sources.PolicySource.player``."""
    del store, device
    return scripted_policy(policy, space)


def scripted_table(name: str, tree: GameTree) -> Table:
    """Return the action probabilities of the scripted policy called ``name`` in a tabular game, shape (S, A).

    Raises:
        ConfigurationError: there is none of that name, it does not play tabular games, or it draws its actions and
            declares no table.
        DataError: its table is not a policy of ``tree``.
    """
    declared = declared_policy(name, TABULAR, tree.format)
    if declared.table is not None:
        table = declared.table(tree)
    else:
        states = np.arange(tree.num_states)
        decisions = Decisions(
            battle=states,
            seat=tree.state_player,
            asked_again=np.zeros(tree.num_states, dtype=np.bool_),
            observation=observations_of(tree),
            legal=LegalActions.of_mask(tree.legal),
        )
        answers = declared.make(tabular_space(tree)).act(decisions, np.zeros(tree.num_states))
        if answers.log_prob.any():
            raise ConfigurationError(
                f"scripted policy {name!r} draws its actions, so that {tree.format} needs its probabilities; "
                "expected its declaration to have a `table`"
            )
        table = one_hot(answers.action, tree.num_actions)
    check_table(tree, table, f"the table of scripted policy {name!r}")
    return table


def declared_policy(name: str, game: str, format_id: str, num_slots: int = 1) -> ScriptedPolicy:
    """Return the declaration of a scripted policy that plays the format.

    Raises:
        ConfigurationError: there is none of that name, or it does not play there.
    """
    declared = SCRIPTED_POLICIES[name]
    if not declared.plays(format_id, game, num_slots):
        able = ", ".join(scripted_policies_of(format_id, game, num_slots))
        raise ConfigurationError(f"scripted policy {name!r} does not play {format_id}; expected one of {able}")
    return declared
