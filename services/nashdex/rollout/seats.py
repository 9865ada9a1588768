"""The policies at the seats of battles: each answers its rows of a batch, and draws from its seat's own stream.

A seat's k-th draw depends on the battle's seed, the seat and k alone, so that the other decisions of a batch do not
change it. N decisions.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed, uniforms
from nashdex.games.interface import BattleSpec, Decisions, Failure, RunningBattle, View
from nashdex.games.space import NUM_SEATS
from nashdex.policies.interface import Actions, Drawn, Policy

_NO_VIEW = -1
_ONE_MORE = np.uint64(1)


class Seats:
    """Seats of battles numbered from 0 to ``num_battles`` − 1.

    A seat's policy, seed and draw counter are at index battle · ``NUM_SEATS`` + seat of their arrays.
    """

    def __init__(self, policies: Mapping[PolicyId, Policy], num_battles: int) -> None:
        self._policies = list(policies.values())
        self._index = {policy_id: index for index, policy_id in enumerate(policies)}
        self._views: list[View] = []
        """Policies that see alike share a view, computed once for all of them."""
        self._view_of = np.full(len(self._policies), _NO_VIEW, dtype=np.int64)
        """The view of each policy."""
        self._find_views()
        num_seats = num_battles * NUM_SEATS
        self._policy_of = np.zeros(num_seats, dtype=np.int64)
        self._seed_of = np.zeros(num_seats, dtype=np.uint64)
        self._num_draws = np.zeros(num_seats, dtype=np.uint64)

    def sit(self, battle: int, seat: int, policy: PolicyId, battle_seed: int) -> None:
        """Let ``policy`` play a seat of a battle that begins."""
        at = battle * NUM_SEATS + seat
        self._policy_of[at] = self._index[policy]
        self._seed_of[at] = derive_seed(battle_seed, "seat", seat)
        self._num_draws[at] = 0

    def running(
        self, battle: int, spec: BattleSpec, policies: tuple[PolicyId, PolicyId], *, arena_draws: bool = False
    ) -> RunningBattle:
        """Let ``policies`` play a battle, by seat, and return it as an arena starts it: with what they read.

        With ``arena_draws`` the arena plays the policies that only draw, with the same draws.
        """
        for seat, policy in enumerate(policies):
            self.sit(battle, seat, policy, spec.seed)
        first, second = (self._policies[self._index[policy]] for policy in policies)
        seeds = self._seed_of[battle * NUM_SEATS : (battle + 1) * NUM_SEATS].tolist()
        return RunningBattle(
            battle,
            spec,
            lines=(first.needs_lines, second.needs_lines),
            states=(first.needs_state, second.needs_state),
            draws=(
                seeds[0] if arena_draws and _is_uniform(first) else None,
                seeds[1] if arena_draws and _is_uniform(second) else None,
            ),
        )

    def answer(self, decisions: Decisions) -> Actions:
        """Return the answer of each row's policy, with one call for each policy.

        Raises:
            DataError: a policy answers illegally again where it was asked again; names it.
        """
        seats = decisions.battle * NUM_SEATS + decisions.seat
        policy_of = self._policy_of[seats]
        num_draws = self._num_draws[seats]
        draws = uniforms(self._seed_of[seats], num_draws)
        self._num_draws[seats] = num_draws + _ONE_MORE
        answers = (
            self._look_and_act(decisions, policy_of, draws) if self._views else self._act(decisions, policy_of, draws)
        )
        self._refuse_illegal_again(decisions, policy_of, answers.action)
        return answers

    def forget(self, battle: int, seat: int) -> None:
        """Forget a seat whose battle ended."""
        policy = self._policy_of[battle * NUM_SEATS + seat]
        self._policies[policy].forget(battle, seat)
        if self._view_of[policy] != _NO_VIEW:
            self._views[self._view_of[policy]].forget(battle, seat)

    def _refuse_illegal_again(
        self, decisions: Decisions, policy_of: NDArray[np.int64], action: NDArray[np.int64]
    ) -> None:
        """End the play if a policy answers illegally where its first answer was rejected: it would go on for ever.

        A first rejection is no fault: some rules show only when a choice is made.
        """
        for row in decisions.asked_again.nonzero()[0].tolist():
            legal = decisions.legal[row]
            if action[row] not in legal:
                raise DataError(
                    f"policy {self._policies[policy_of[row]].id} repeats an action that is not legal: {action[row]}; "
                    f"expected one of {legal.tolist()}"
                )

    def _look_and_act(self, decisions: Decisions, policy_of: NDArray[np.int64], draws: NDArray[np.float64]) -> Actions:
        """Return the answers of the rows' policies, each view with one call."""
        view_of = self._view_of[policy_of]
        action = np.zeros(len(decisions), dtype=np.int64)
        log_prob = np.zeros(len(decisions), dtype=np.float32)
        void: dict[int, Failure] = {}
        for view in np.unique(view_of):
            rows = np.flatnonzero(view_of == view)
            seen = decisions if len(rows) == len(decisions) else decisions.take(rows)
            if view != _NO_VIEW:
                seen = replace(seen, viewed=self._views[view].read(seen))
            answers = self._act(seen, policy_of[rows], draws[rows])
            action[rows], log_prob[rows] = answers.action, answers.log_prob
            void |= answers.void
        return Actions(action, log_prob, void)

    def _act(self, decisions: Decisions, policy_of: NDArray[np.int64], draws: NDArray[np.float64]) -> Actions:
        """Return the answers of the rows' policies. They have one view or none."""
        if np.count_nonzero(policy_of == policy_of[0]) == len(policy_of):
            answers: Actions = self._policies[policy_of[0]].act(decisions, draws)
            return answers
        action = np.zeros(len(decisions), dtype=np.int64)
        log_prob = np.zeros(len(decisions), dtype=np.float32)
        void: dict[int, Failure] = {}
        for index in np.flatnonzero(np.bincount(policy_of)):
            rows = np.flatnonzero(policy_of == index)
            answers = self._policies[index].act(decisions.take(rows), draws[rows])
            action[rows], log_prob[rows] = answers.action, answers.log_prob
            void |= answers.void
        return Actions(action, log_prob, void)

    def _find_views(self) -> None:
        by_fingerprint: dict[str, int] = {}
        for index, policy in enumerate(self._policies):
            if policy.view is not None:
                fingerprint = policy.view.identity.fingerprint
                if fingerprint not in by_fingerprint:
                    by_fingerprint[fingerprint] = len(self._views)
                    self._views.append(policy.view)
                self._view_of[index] = by_fingerprint[fingerprint]


def _is_uniform(policy: Policy) -> bool:
    return isinstance(policy, Drawn) and policy.is_uniform
