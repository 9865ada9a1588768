"""Files of people's double battles: one seat's decisions, with the slots whose choice is unknown.

A file is one part of a shard (``trajectory.shard``) with one episode, and beside it the document ``JointReplay``: who
played, and each decision in words. Files are named like replays in metamon's layout, with another ending, so that
one reader takes the facts from both.
"""

import hashlib
from typing import Final, Literal

import numpy as np
from pydantic import Field, NonNegativeInt

from nashdex.core.documents import Document, Model
from nashdex.core.errors import DataError
from nashdex.core.ids import replayed_policy
from nashdex.games.space import Space
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import decode_with_notes, encode
from nashdex_replays.doubles.reconstruction import JointView
from nashdex_replays.replay import RawReplay

SUFFIX: Final = ".joint.lz4"
MAX_FILE_BYTES: Final = 1 << 25
_NOTE: Final = "battle"


class SlotRecord(Model):
    """What one slot chose."""

    pokemon: str = Field("", description="Name of the Pokémon in the slot.")
    asked: bool = Field(description="Whether it had anything to choose. Only then does it count.")
    choice: str = Field("", description="Such as 'move protect' or 'move surf +1 terastallize'; empty if unknown.")
    action: int | None = Field(description="The choice's number among the slot's actions; null if unknown.")
    cause: str = Field("", description="Why the choice is unknown.")


class DecisionRecord(Model):
    """One joint decision."""

    asks: Literal["leads", "bench", "move", "switch", "revival"]
    turn: NonNegativeInt
    slots: tuple[SlotRecord, SlotRecord]


class JointReplay(Document):
    """One seat's view of a double battle, in words."""

    schema_version: int = 1
    battle: str
    format: str
    seat: Literal[0, 1]
    rating: int | None
    end: str
    source: Literal["input", "lines"] = Field(
        description="Whether the choices are the player's own or read from lines."
    )
    decisions: tuple[DecisionRecord, ...]

    @property
    def num_decisions(self) -> int:
        """Joint decisions of the seat."""
        return len(self.decisions)

    @property
    def num_unnamed(self) -> int:
        """Joint decisions with a slot whose choice is unknown."""
        return sum(any(slot.cause for slot in decision.slots) for decision in self.decisions)

    @classmethod
    def of(cls, view: JointView) -> "JointReplay":
        """Return the words for a view."""
        decisions = tuple(
            DecisionRecord(
                asks=row.asks,
                turn=row.turn,
                slots=(_record(view, number, 0), _record(view, number, 1)),
            )
            for number, row in enumerate(view.asked)
        )
        return cls(
            battle=view.replay.battle,
            format=view.replay.format,
            seat=view.seat,
            rating=view.replay.ratings[view.seat],
            end=view.replay.end,
            source="input" if view.has_inputs else "lines",
            decisions=decisions,
        )


def _record(view: JointView, number: int, slot: int) -> SlotRecord:
    choice, action = view.asked[number].choices[slot], view.slots[number][slot]
    return SlotRecord(
        pokemon=choice.active,
        asked=choice.asked,
        choice=choice.text if action >= 0 else "",
        action=action if action >= 0 else None,
        cause=view.causes[number][slot],
    )


def battle_seed(replay: RawReplay) -> int:
    """Return the number that all episodes of a replay share, from its id."""
    return int.from_bytes(hashlib.sha256(replay.battle.encode()).digest()[:8], "big") >> 1


def episode_of(view: JointView, space: Space) -> Episode:
    """Return the decisions of a view. Where a choice is not wholly known, ``actions`` has the first that agrees."""
    replay, agreeing = view.replay, view.agreeing_actions(space.num_actions)
    return Episode(
        seed=battle_seed(replay),
        seat=view.seat,
        policy=replayed_policy(replay.rating_band(view.seat)),
        opponent=replayed_policy(replay.rating_band(1 - view.seat)),
        score=0.5 if replay.winner is None else float(replay.winner == view.seat),
        observations=np.stack(view.observations),
        legal=view.legal_actions(space.num_actions),
        actions=agreeing.actions[agreeing.offsets[:-1]].astype(np.int64),
        log_probs=np.zeros(len(view.asked), np.float32),
        agreeing=agreeing,
    )


def write(episode: Episode, replay: JointReplay, space: Space) -> bytes:
    """Return the content of a file."""
    return encode([episode], space, {_NOTE: replay.model_dump_json()})


def read(content: bytes, source: str) -> tuple[Space, Episode, JointReplay]:
    """Return what a file holds. ``source`` names it in errors.

    Raises:
        DataError: it is none, or damaged.
    """
    space, episodes, notes = decode_with_notes(content, source)
    if len(episodes) != 1 or _NOTE not in notes:
        raise DataError(f"{source} is no file of a double battle: it has {len(episodes)} episodes; import it again")
    replay = JointReplay.from_json(notes[_NOTE].encode(), source)
    if len(replay.decisions) != len(episodes[0]):
        raise DataError(
            f"{source} has words for {len(replay.decisions)} decisions of {len(episodes[0])}; import it again"
        )
    return space, episodes[0], replay
