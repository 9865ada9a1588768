"""Shards of episodes: a safetensors blob of concatenated decisions inside one lz4 frame.

| tensor | dtype and shape | what |
|---|---|---|
| ``observations`` | f32 (D, F) | the decisions of all episodes, one episode after another |
| ``actions`` | u16 (D,) | the executed actions |
| ``legal_counts`` | u16 (D,) | number of legal actions of each decision |
| ``legal`` | u16 (L,) | the legal actions of all decisions, one decision after another, each in ascending order |
| ``log_probs`` | f32 (D,) | log π(action) of the acting policy |
| ``lengths`` | u32 (E,) | decisions of each episode |
| ``seeds``, ``seats``, ``scores`` | u64, u8, f32 (E,) | the battle's seed, the seat, from 0 for a loss to 1 for a win |
| ``policies``, ``opponents`` | u16 (E,) | indices into the metadata's policy ids |
| ``agreeing_counts``, ``agreeing`` | u16 (D,), u16 (K,) | only where some actions are not wholly known: the legal
  actions that agree with what is, as ``legal`` has them; ``actions`` has the first |

The blob's metadata holds one JSON document, :class:`ShardMetadata`, under ``shard``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from nashdex.core import frames
from nashdex.core.documents import Document
from nashdex.core.errors import DataError
from nashdex.core.frames import FrameReader, Tensors
from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.core.manifest import Manifest
from nashdex.games.legal import LegalActions
from nashdex.games.space import Space
from nashdex.store.attempt import read_object
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.episode import Episode

PART_PREFIX = "trajectories-"
MAX_PART_BYTES = 1 << 26
"""No part may hold more than this when decompressed. Reading takes up to ten times as much."""
MAX_PART_EPISODES = 1 << 17
"""No part may hold more: an episode takes 700 bytes of Python objects, however short it is."""
MAX_HEADER_BYTES = 1 << 22
"""Largest header of a blob. The space in it takes about 100 KB in real games."""
PART_BYTES = 8 * 1024 * 1024
"""Default size of a part before compression: few objects per shard, and small enough to hold two in memory."""

_METADATA_KEY = "shard"
_DTYPES = {
    "observations": np.float32,
    "actions": np.uint16,
    "legal_counts": np.uint16,
    "legal": np.uint16,
    "log_probs": np.float32,
    "lengths": np.uint32,
    "seeds": np.uint64,
    "seats": np.uint8,
    "scores": np.float32,
    "policies": np.uint16,
    "opponents": np.uint16,
}
_OPTIONAL_DTYPES = {"agreeing_counts": np.uint16, "agreeing": np.uint16}


class ShardMetadata(Document):
    """The metadata of a part. Version 1 had masks and actions of one byte."""

    schema_version: int = 2
    space: Space
    policies: tuple[PolicyIdField, ...] = Field(description="Ids that the episode table's indices mean.")


def part_name(part: int) -> str:
    """Return the name of a shard's part, such as ``trajectories-00000.safetensors.lz4``."""
    return f"{PART_PREFIX}{part:05d}.safetensors.lz4"


def encode(episodes: Sequence[Episode], space: Space, notes: Mapping[str, str] | None = None) -> bytes:
    """Return ``episodes`` as one compressed part. ``notes`` are texts for its readers, by name.

    Observations, which are nearly all of the data, are compressed in place: concatenating them first would use several
    times the part's size of fresh memory, which costs more than compression.
    """
    ids = sorted({e.policy for e in episodes} | {e.opponent for e in episodes})
    index = {policy: i for i, policy in enumerate(ids)}
    legal = LegalActions.joined([e.legal for e in episodes], space.num_actions)
    observations = [np.ascontiguousarray(e.observations, np.float32) for e in episodes]
    tensors: dict[str, Sequence[NDArray[Any]]] = {
        "seeds": [np.array([e.seed for e in episodes], np.uint64)],
        "observations": observations or [np.zeros((0, space.observation_size), np.float32)],
        "log_probs": [_concatenate([e.log_probs for e in episodes], (0,), np.float32)],
        "scores": [np.array([e.score for e in episodes], np.float32)],
        "lengths": [np.array([len(e) for e in episodes], np.uint32)],
        "policies": [np.array([index[e.policy] for e in episodes], np.uint16)],
        "opponents": [np.array([index[e.opponent] for e in episodes], np.uint16)],
        "actions": [_concatenate([e.actions for e in episodes], (0,), np.uint16)],
        "legal_counts": [legal.counts.astype(np.uint16)],
        "legal": [legal.actions.astype(np.uint16, copy=False)],
        "seats": [np.array([e.seat for e in episodes], np.uint8)],
    }
    if any(e.agreeing is not None for e in episodes):
        agreeing = LegalActions.joined([e.known_actions for e in episodes], space.num_actions)
        tensors["agreeing_counts"] = [agreeing.counts.astype(np.uint16)]
        tensors["agreeing"] = [agreeing.actions.astype(np.uint16, copy=False)]
    metadata = ShardMetadata(space=space, policies=tuple(ids))
    return frames.encode(tensors, {**(notes or {}), _METADATA_KEY: metadata.model_dump_json()})


def _concatenate(arrays: Sequence[NDArray[Any]], empty: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(arrays, dtype=dtype, casting="unsafe") if arrays else np.zeros(empty, dtype)


def decode(frame: bytes, key: str) -> tuple[Space, list[Episode]]:
    """Return the space and the episodes of a part; their arrays share one buffer. ``key`` names it in errors.

    Raises:
        DataError: the part is truncated, altered, too large or malformed.
    """
    space, episodes, _ = decode_with_notes(frame, key)
    return space, episodes


def decode_with_notes(frame: bytes, key: str) -> tuple[Space, list[Episode], dict[str, str]]:
    """Return the same as ``decode``, and the texts that were written beside the episodes.

    Raises:
        DataError: as ``decode``.
    """
    reader = FrameReader("trajectory part", _METADATA_KEY, "collect the shard again", MAX_PART_BYTES, MAX_HEADER_BYTES)
    tensors, document, notes = reader.decode(frame, key)
    try:
        metadata = ShardMetadata.from_json(document, key)
    except DataError as error:
        raise DataError(f"{error}; collect the shard again") from error
    _check_shapes(tensors, metadata.space, key)
    return metadata.space, list(_split(tensors, metadata, key)), notes


def _check_shapes(tensors: Tensors, space: Space, key: str) -> None:
    """Check that each tensor exists, with the right dtype and a shape that fits the space and the other tensors."""
    missing = sorted(_DTYPES.keys() - tensors.keys())
    if missing:
        raise DataError(f"{key} has no {', '.join(missing)}; expected {', '.join(_DTYPES)}")
    num_decisions, num_episodes = len(tensors["actions"]), len(tensors["lengths"])
    if num_episodes > MAX_PART_EPISODES:
        raise DataError(f"{key} holds {num_episodes} episodes; expected {MAX_PART_EPISODES} at most")
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(_DTYPES, (num_episodes,)) | {
        "observations": (num_decisions, space.observation_size),
        "actions": (num_decisions,),
        "legal_counts": (num_decisions,),
        "legal": (int(tensors["legal_counts"].sum(dtype=np.int64)),),
        "log_probs": (num_decisions,),
    }
    dtypes = dict(_DTYPES)
    if _OPTIONAL_DTYPES.keys() <= tensors.keys():
        dtypes |= _OPTIONAL_DTYPES
        shapes |= {
            "agreeing_counts": (num_decisions,),
            "agreeing": (int(tensors["agreeing_counts"].sum(dtype=np.int64)),),
        }
    for name, dtype in dtypes.items():
        tensor = tensors[name]
        if tensor.dtype != dtype or tensor.shape != shapes[name]:
            raise DataError(
                f"{key}: {name} is {tensor.dtype} {tensor.shape}, expected {np.dtype(dtype)} {shapes[name]}"
            )
    total = int(tensors["lengths"].sum(dtype=np.int64))
    if total != num_decisions:
        raise DataError(f"{key}: its episodes have {total} decisions in all, its tensors {num_decisions}")


def _split(tensors: Tensors, metadata: ShardMetadata, key: str) -> Iterable[Episode]:
    """Yield the episodes after checking that every action is legal and every number is finite."""
    num_actions, ids = metadata.space.num_actions, metadata.policies
    legal = LegalActions.of_counts(tensors["legal_counts"], tensors["legal"].astype(np.uint16, copy=False), num_actions)
    problem = legal.problem()
    if problem is not None:
        raise DataError(f"{key}: {problem}; collect the shard again")
    actions = tensors["actions"].astype(np.int64)
    if (legal.places_of(actions) < 0).any():
        raise DataError(f"{key}: an action is not among its decision's legal ones; collect the shard again")
    agreeing = _checked_agreeing(tensors, legal, actions, key)
    for name in ("observations", "log_probs", "scores"):
        if not np.isfinite(tensors[name]).all():
            raise DataError(f"{key}: {name} holds a number that is not finite; collect the shard again")
    if max(tensors["policies"].max(initial=0), tensors["opponents"].max(initial=0)) >= max(len(ids), 1):
        raise DataError(f"{key}: an episode names a policy beyond the {len(ids)} of the metadata")
    ends = tensors["lengths"].cumsum(dtype=np.int64)
    for i, (end, length) in enumerate(zip(ends, tensors["lengths"], strict=True)):
        rows = slice(int(end) - int(length), int(end))
        yield Episode(
            seed=int(tensors["seeds"][i]),
            seat=int(tensors["seats"][i]),
            policy=PolicyId(ids[tensors["policies"][i]]),
            opponent=PolicyId(ids[tensors["opponents"][i]]),
            score=float(tensors["scores"][i]),
            observations=tensors["observations"][rows],
            legal=legal.take(rows),
            actions=actions[rows],
            log_probs=tensors["log_probs"][rows],
            agreeing=None if agreeing is None else agreeing.take(rows),
        )


def _checked_agreeing(
    tensors: Tensors, legal: LegalActions, actions: NDArray[np.int64], key: str
) -> LegalActions | None:
    """Return the actions that agree with what is known after checking them; None if all actions are known."""
    if not _OPTIONAL_DTYPES.keys() <= tensors.keys():
        return None
    numbers = tensors["agreeing"].astype(np.uint16, copy=False)
    agreeing = LegalActions.of_counts(tensors["agreeing_counts"], numbers, legal.num_actions)
    problem = agreeing.problem()
    if problem is None and (agreeing.places_of(actions) < 0).any():
        problem = "an action is not among those that agree with it"
    if problem is None and not np.isin(agreeing.keys, legal.keys).all():
        problem = "an action that agrees with what is known is not legal"
    if problem is not None:
        raise DataError(f"{key}: {problem}; collect the shard again")
    return agreeing


class ShardWriter:
    """Writes episodes as parts of at most ``max_part_bytes`` each before compression.

    One background thread encodes and writes a part while the next one fills (lz4 and the store release the
    interpreter lock), so at most two parts are held. ``add`` and ``close`` raise what writing raised. As a context
    manager, it closes itself; after an exception it only ends the thread, and what was not yet written is dropped.
    """

    def __init__(self, write: Callable[[str, bytes], None], space: Space, max_part_bytes: int = PART_BYTES) -> None:
        if not 0 < max_part_bytes <= MAX_PART_BYTES // 2:
            raise ValueError(f"max_part_bytes is {max_part_bytes}, expected 1 to {MAX_PART_BYTES // 2}")
        self._write = write
        self._space = space
        self._max_part_bytes = max_part_bytes
        self._decision_bytes = space.observation_size * 4 + 2 + 2 + 4
        self._episodes: list[Episode] = []
        self._held_bytes = 0
        self._num_parts = 0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="shard-writer")
        self._pending: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self._thread.shutdown()

    def add(self, episode: Episode) -> None:
        """Record an episode. Waits only while a whole part is full and the one before it is still being written."""
        if self._pending is not None and self._pending.done():
            self._pending.result()
        size_bytes = len(episode) * self._decision_bytes + episode.legal.actions.nbytes
        is_full = self._held_bytes + size_bytes > self._max_part_bytes or len(self._episodes) >= MAX_PART_EPISODES
        if self._episodes and is_full:
            self._flush()
        self._episodes.append(episode)
        self._held_bytes += size_bytes

    def close(self) -> None:
        """Write what is left and wait for it. A shard without episodes has one empty part, which states its space."""
        try:
            if self._episodes or not self._num_parts:
                self._flush()
            self._wait()
        finally:
            self._thread.shutdown()

    def _flush(self) -> None:
        self._wait()
        self._pending = self._thread.submit(self._write_part, part_name(self._num_parts), self._episodes)
        self._num_parts += 1
        self._episodes, self._held_bytes = [], 0

    def _wait(self) -> None:
        if self._pending is not None:
            self._pending.result()

    def _write_part(self, name: str, episodes: list[Episode]) -> None:
        self._write(name, encode(episodes, self._space))


def read_shards(store: ObjectStore, manifests: Iterable[Manifest]) -> tuple[Space, list[Episode]]:
    """Return the episodes of all parts that ``manifests`` name, ordered by seed and seat, and the space they share.

    Raises:
        DataError: a part is missing, damaged or of another space, or there is none.
    """
    first: tuple[Space, str] | None = None
    episodes: list[Episode] = []
    for manifest in manifests:
        for name in sorted(n for n in manifest.objects if n.startswith(PART_PREFIX)):
            key = manifest.objects[name].key
            space, part = decode(read_object(store, manifest, name), key)
            first = first or (space, key)
            if space.fingerprint != first[0].fingerprint:
                raise DataError(
                    f"{key} is of {space.format} version {space.version} ({space.fingerprint}), {first[1]} of "
                    f"{first[0].format} version {first[0].version} ({first[0].fingerprint}); collect both again"
                )
            episodes.extend(part)
    if first is None:
        raise DataError("the collect manifests name no trajectory part; collect the shards again")
    # Battles end in an order that depends on the machine's load.
    episodes.sort(key=lambda episode: (episode.seed, episode.seat))
    return first[0], episodes
