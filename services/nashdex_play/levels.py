"""Levels of a policy: temperatures at which its strength against one fixed player is measured."""

from collections.abc import Callable, Sequence
from typing import Final

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from nashdex.core import keys
from nashdex.core.documents import Document, Model
from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.core.ids import SAMPLED, BarePolicyId, BarePolicyIdField, PlayedPolicy, style_suffix
from nashdex.core.references import PolicyReference, without_store
from nashdex.evaluator.match import play_match
from nashdex.metagame.evidence.estimates import CONFIDENCE
from nashdex.policies.references import resolve
from nashdex.policies.scripted.registry import is_scripted
from nashdex.store.documents import read_beside_policy
from nashdex.store.protocol import ObjectStore

MOST_LEVELS: Final = 10


class Level(Model):
    """A temperature, and the score at it."""

    temperature: NonNegativeFloat = Field(description="0 always plays the most probable choice.")
    score: float = Field(ge=0, le=1, description="Mean score; a draw counts half.")
    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)
    battles: PositiveInt


class Levels(Document):
    """Levels of a stored policy, beside its card."""

    policy: BarePolicyIdField
    format: str
    against: str = Field(description="The player that every level met.")
    seed: NonNegativeInt
    confidence: float = CONFIDENCE
    levels: tuple[Level, ...] = Field(min_length=1, max_length=MOST_LEVELS, description="The weakest first.")


def measure_levels(
    format_id: str,
    policy: str,
    against: str,
    temperatures: Sequence[float],
    *,
    battles: int,
    seed: int = 0,
    num_gateways: int = 1,
    on_level: Callable[[Level], None] = lambda _: None,
) -> Levels:
    """Play ``policy`` at each temperature against the player ``against``: the same battles' seeds and teams.

    Raises:
        ConfigurationError: the policy is no single stored network, or the other player is unknown.
        DataError: a player is missing, altered or of another space.
        TryAgainError: no battle of a level could be finished.
        StoppedError: the process was asked to stop.
    """
    reference = PolicyReference.parse(policy)
    _, stored = stored_policy(reference)
    measured = []
    for temperature in dict.fromkeys(temperatures):
        player = f"{policy}{style_suffix(temperature)}"
        result = play_match(format_id, player, against, battles=battles, seed=seed, num_gateways=num_gateways)
        if result.score is None or result.low is None or result.high is None:
            raise TryAgainError(f"no battle of {player} against {against} could be finished: try again")
        level = Level(
            temperature=temperature, score=result.score, low=result.low, high=result.high, battles=result.battles
        )
        on_level(level)
        measured.append(level)
    levels = tuple(sorted(measured, key=lambda level: (level.score, -level.temperature)))
    return Levels(policy=stored, format=format_id, against=without_store(against), seed=seed, levels=levels)


def stored_policy(reference: PolicyReference) -> tuple[ObjectStore, BarePolicyId]:
    """Return the store and the id of the policy whose levels are meant.

    Raises:
        ConfigurationError: it is no single stored policy, or says how it plays.
    """
    found = resolve(reference)
    (policy, *others) = found.mixture
    if found.store is None or others or is_scripted(policy) or reference.searches or reference.temperature != SAMPLED:
        raise ConfigurationError(
            f"{str(reference)!r} is not one stored policy; expected one without '@', such as zoo:NAME or RUN#newest"
        )
    return found.store, PlayedPolicy.of(policy).policy


def read_levels(store: ObjectStore, policy: BarePolicyId) -> Levels | None:
    """Return the levels of a policy of ``store``, or None.

    Raises:
        DataError: they are wrong, or are another policy's.
    """
    key, remedy = keys.policy_levels(policy), "measure them again"
    return read_beside_policy(store, key, policy, Levels, holds="has the levels of", remedy=remedy)


def level_in_words(level: Level, against: str) -> str:
    """Return what a reader should know of a level."""
    score, low, high = (round(100 * value) for value in (level.score, level.low, level.high))
    return f"scores {score} % ({low} to {high}) against {against}"
