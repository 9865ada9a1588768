"""One parsed replay: an lz4 frame of JSON ``{"states": [T+1 states], "actions": [T+1 integers]}``.

Action t is taken in state t; −1 means unknown, and the last one, in the battle's end, is always −1.
"""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import lz4.frame

from nashdex.core.errors import DataError
from nashdex.core.user_input import shorten
from nashdex_metamon.actions import DEFAULT_ACTIONS, UNKNOWN_ACTION
from nashdex_metamon.state import NUM_MOVES, BattleState
from nashdex_replays.refusal import RefusedReplayError

MAX_FILE_BYTES = 1 << 26
"""Largest replay after decompression. A battle of 1,000 turns has about 20 MB."""
_MAGIC = b"\x04\x22\x4d\x18"
_KEYS_OF_NEWER_FILES: Final = ("tera_type", "base_species", "can_tera", "opponent_teampreview")


@dataclass(frozen=True, slots=True)
class ParsedReplay:
    """One seat's view of one battle."""

    states: tuple[BattleState, ...]
    """T decisions and the end."""
    actions: tuple[int, ...]
    """Actions, one for each state, each 0 to 12 or −1."""
    adapted: Counter[str] = field(default_factory=Counter, compare=False)
    """Counts, by name, of missing or superfluous parts of an old or odd file."""

    @property
    def num_decisions(self) -> int:
        """Decisions: all states but the last."""
        return len(self.states) - 1

    @property
    def num_unnamed(self) -> int:
        """Decisions whose action is unknown."""
        return self.actions[:-1].count(UNKNOWN_ACTION)


def encode(replay: ParsedReplay) -> bytes:
    """Return the file's content: one lz4 frame."""
    compressed: bytes = lz4.frame.compress(json_text(replay))
    return compressed


def json_text(replay: ParsedReplay) -> bytes:
    """Return the JSON as metamon writes it."""
    states = [state.to_json() for state in replay.states]
    return json.dumps({"states": states, "actions": list(replay.actions)}).encode()


def write(path: Path, replay: ParsedReplay) -> None:
    """Write a replay's file, as ``write_whole`` does."""
    write_whole(path, encode(replay))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, then rename it: readers of the folder see whole files only."""
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary name, which becomes ``path`` at the block's end; nothing stays where the block fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def decode(content: bytes, source: str) -> ParsedReplay:
    """Return the replay in ``content``, an lz4 frame or plain JSON; ``source`` names it in errors.

    Raises:
        RefusedReplayError: it is not a parsed replay.
    """
    text = _decompressed(content, source) if content.startswith(_MAGIC) else content
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RefusedReplayError("not-json", f"{source} holds no JSON: {error}") from error
    if not isinstance(given, dict) or not all(isinstance(given.get(key), list) for key in ("states", "actions")):
        raise RefusedReplayError(
            "not-a-replay", f"{source} is not a parsed replay: expected lists 'states' and 'actions'"
        )
    try:
        states = tuple(BattleState.from_json(state) for state in given["states"])
    except DataError as error:
        raise RefusedReplayError("not-a-replay", f"{source} is not a parsed replay: {error}") from error
    actions = tuple(given["actions"])
    for action in actions:
        if type(action) is not int or not UNKNOWN_ACTION <= action < DEFAULT_ACTIONS.num_actions:
            raise RefusedReplayError(
                "action", f"{source} has action {shorten(action)}; expected −1 to {DEFAULT_ACTIONS.num_actions - 1}"
            )
    if len(states) != len(actions) or len(states) < 2:  # noqa: PLR2004 - one decision and the end
        raise RefusedReplayError(
            "lengths",
            f"{source} has {len(states)} states and {len(actions)} actions; expected equally many, at least 2",
        )
    if actions[-1] != UNKNOWN_ACTION:
        raise RefusedReplayError(
            "last-action", f"{source} has action {actions[-1]} after the battle's end; expected −1"
        )
    return ParsedReplay(states, actions, _adapted(given["states"]))


def _decompressed(content: bytes, source: str) -> bytes:
    decompressor = lz4.frame.LZ4FrameDecompressor()
    try:
        text: bytes = decompressor.decompress(content, max_length=MAX_FILE_BYTES)
    except RuntimeError as error:
        raise RefusedReplayError("not-lz4", f"{source} is no lz4 frame: {error}") from error
    if not decompressor.eof:
        if len(text) >= MAX_FILE_BYTES:
            raise RefusedReplayError("too-large", f"{source} holds more than {MAX_FILE_BYTES:,} bytes")
        raise RefusedReplayError("not-lz4", f"{source} is no lz4 frame: it ends early")
    return text


def _adapted(states: list[dict[str, Any]]) -> Counter[str]:
    """Count what the models completed or cut. ``states`` are valid."""
    counts: Counter[str] = Counter()
    for state in states:
        pokemon = [state["player_active_pokemon"], state["opponent_active_pokemon"], *state["available_switches"]]
        for key in _KEYS_OF_NEWER_FILES[:2]:
            counts[f"no-{key}"] += any(key not in each for each in pokemon)
        for key in _KEYS_OF_NEWER_FILES[2:]:
            counts[f"no-{key}"] += key not in state
        counts["more-than-four-moves"] += any(len(each["moves"]) > NUM_MOVES for each in pokemon)
    return +counts
