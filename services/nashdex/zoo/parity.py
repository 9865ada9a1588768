"""How closely a policy in half precision plays like the one that was trained, on decisions of its own battles."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nashdex.core.ids import SAMPLED, PolicyId
from nashdex.games.interface import Decisions, Game
from nashdex.policies.inference import NetworkPolicy, choose
from nashdex.policies.interface import Actions
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.policies.sampling import log_probabilities
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import require_finished
from nashdex.rollout.session import Session
from nashdex.zoo.card import Parity

_CONCURRENT_BATTLES = 32
_DEADLINE_SECONDS = 300.0


@dataclass
class _Compared:
    """Plays by the trained network, and asks the rounded one about each decision. Implements ``Policy``."""

    id: PolicyId
    trained: NetworkPolicy
    rounded: NetworkPolicy
    is_joint: bool
    differences: list[NDArray[np.float64]] = field(default_factory=list)
    """Largest |Δ log π| of a legal action, for each decision, by batch."""
    num_equal: int = 0
    """Decisions whose most probable action is the same."""
    needs_lines = False
    needs_state = False
    view = None

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row by the trained network."""
        logits = self.trained.legal_logits(decisions)
        one, other = (log_probabilities(each) for each in (logits, self.rounded.legal_logits(decisions)))
        legal = np.isfinite(one)
        gaps = np.abs(np.where(legal, one, 0.0) - np.where(legal, other, 0.0))
        self.differences.append(gaps.max(axis=1))
        self.num_equal += int((one.argmax(axis=1) == other.argmax(axis=1)).sum())
        return choose(decisions, logits, uniforms, SAMPLED, is_joint=self.is_joint)

    def forget(self, battle: int, seat: int) -> None:
        """Free the memory of a seat whose battle ended."""
        self.trained.forget(battle, seat)
        self.rounded.forget(battle, seat)


def measure_parity(game: Game, trained: ActorCritic, rounded: ActorCritic, *, battles: int, seed: int = 0) -> Parity:
    """Return how far ``rounded`` is from ``trained`` on the decisions of ``battles`` battles of self-play.

    Raises:
        DataError: the networks are of another space than the game's.
        TryAgainError: a battle could not be finished.
    """
    with Session(game.open_arena(num_gateways=1), min(_CONCURRENT_BATTLES, battles)) as session:
        policy = PolicyId("compared")
        compared = _Compared(
            policy,
            NetworkPolicy(policy, trained),
            NetworkPolicy(policy, rounded),
            is_joint=session.space.num_slots > 1,
        )
        session.policies[policy] = compared
        paired = PairedBattles(seed, game.teams(), _DEADLINE_SECONDS)
        for finished in session.play(paired.assignment(number, (policy, policy)) for number in range(battles)):
            require_finished(finished)
    gaps = np.concatenate(compared.differences)
    return Parity(
        battles=battles,
        decisions=len(gaps),
        mean_log_probability_gap=float(gaps.mean()),
        largest_log_probability_gap=float(gaps.max()),
        same_action=compared.num_equal / len(gaps),
    )
