"""The definition of a view of metamon: every word, number and action by name, in order, and the vocabulary's hash.

Its fingerprint is part of an imported policy's document, so a nashdex with other spaces refuses the policy instead of
playing it wrongly.
"""

import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from nashdex.core.documents import Model
from nashdex.games.interface import ViewIdentity
from nashdex_metamon.actions import FIRST_SWITCH, FIRST_TERA, action_space
from nashdex_metamon.observations import ObservationSpace, observation_space
from nashdex_metamon.state import NUM_MOVES, NUM_SWITCHES, TEAM_SIZE

_VERSION: Final = "1"
"""Changes whenever an entry of a definition means something else under the same name."""
_ACTIVE_WORDS: Final = ("name", "item", "ability", "type-1", "type-2", "effect", "status")
_ACTIVE_NUMBERS: Final = (
    "hp",
    "level",
    *(f"base-{stat}" for stat in ("atk", "spa", "def", "spd", "spe", "hp")),
    *(f"boost-{stat}" for stat in ("atk", "spa", "def", "spd", "spe", "accuracy", "evasion")),
)


class ViewDefinition(Model):
    """What a policy of metamon's world reads and answers."""

    name: str
    version: str = _VERSION
    words: tuple[str, ...]
    numbers: tuple[str, ...]
    actions: tuple[str, ...]
    vocabulary_sha256: str
    reward: str

    @property
    def identity(self) -> ViewIdentity:
        """The name, with 16 hex digits over all of it."""
        content = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return ViewIdentity(name=self.name, fingerprint=hashlib.sha256(content.encode()).hexdigest()[:16])


@lru_cache(maxsize=64)
def view_definition(observation: str, actions: str, reward: str, vocabulary_sha256: str) -> ViewDefinition:
    """Return the view of metamon's spaces and reward of these names.

    Raises:
        ConfigurationError: there is no space of that name.
    """
    space = observation_space(observation)
    return ViewDefinition(
        name=f"metamon/{observation}/{actions}",
        words=tuple(_words(space)),
        numbers=tuple(_numbers(space)),
        actions=tuple(_actions(action_space(actions).num_actions)),
        vocabulary_sha256=vocabulary_sha256,
        reward=reward,
    )


def _words(space: ObservationSpace) -> Iterator[str]:
    tera = ("tera-type",) if space.expanded else ()
    yield from ("format", "choice")
    yield from _of("player", (*_ACTIVE_WORDS, *tera))
    for move in range(NUM_MOVES):
        yield from _of(f"move-{move}", ("name", "type") if space.opponent_moves else ("name", "type", "category"))
    for place in range(NUM_SWITCHES):
        moves = (f"move-{move}" for move in range(NUM_MOVES))
        yield from _of(f"switch-{place}", ("name", "item", "ability", "moveset", *moves, *tera))
    yield from _of("opponent", (*_ACTIVE_WORDS, *tera))
    if space.opponent_moves:
        yield from (f"opponent/move-{move}" for move in range(NUM_MOVES))
    yield from _of("conditions", ("weather", "player", "opponent"))
    yield from _of("player-previous", ("move",))
    yield from _of("opponent-previous", ("move",))
    if space.expanded:
        yield from (f"seen-{place}" for place in range(TEAM_SIZE))
    if space.preview:
        yield from (f"preview-{place}" for place in range(TEAM_SIZE))


def _numbers(space: ObservationSpace) -> Iterator[str]:
    yield "opponents-remaining"
    yield from (f"player/{name}" for name in _ACTIVE_NUMBERS)
    for move in range(NUM_MOVES):
        pp = ("pp-level",) if space.expanded else ()
        yield from (f"move-{move}/{name}" for name in ("base-power", "accuracy", "priority", *pp))
    yield from (f"switch-{place}/hp" for place in range(NUM_SWITCHES))
    yield from (f"opponent/{name}" for name in _ACTIVE_NUMBERS)
    if space.expanded:
        yield from ("opponent-asleep", "opponent-frozen", "can-tera")


def _actions(num_actions: int) -> Iterator[str]:
    for action in range(num_actions):
        if action < FIRST_SWITCH:
            yield f"move-{action}"
        elif action < FIRST_TERA:
            yield f"switch-{action - FIRST_SWITCH}"
        else:
            yield f"terastallize-move-{action - FIRST_TERA}"


def _of(block: str, words: tuple[str, ...]) -> Iterator[str]:
    yield block
    yield from (f"{block}/{word}" for word in words)
