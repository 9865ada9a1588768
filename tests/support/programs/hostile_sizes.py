"""Reads what claims or holds far more than it may, in a process of its own, and prints the most memory that took.

Standard output is JSON: for each attack the error's text and the growth of the peak resident size in MiB.
"""

import hashlib
import json
import resource
import sys
from collections.abc import Callable

import lz4.frame
import numpy as np
from safetensors import numpy as safetensors

from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.games.space import ObservationBlock, ObservationField, Space
from nashdex.policies.archive import load_network
from nashdex.policies.document import UNSET_ID, PolicyDocument
from nashdex.settings.networks import SlotsSettings
from nashdex.trajectory.shard import ShardMetadata, decode
from support.memory_store import MemoryStore
from support.spaces import tiny_space

MEBIBYTE = 1 << 20


def declaring(frame: bytes, size_bytes: int) -> bytes:
    """Return a frame that declares another size of its content, with a header checksum that fits."""
    head = frame[:6] + size_bytes.to_bytes(8, "little")
    for checksum in range(256):
        altered = head + bytes([checksum]) + frame[15:]
        try:
            lz4.frame.get_frame_info(altered)
        except RuntimeError:
            continue
        return altered
    raise AssertionError("one of the checksums fits")


def more_than_declared() -> None:
    """A frame that declares 1 MiB and holds 1 GiB."""
    piece = bytes(MEBIBYTE)
    compressor = lz4.frame.LZ4FrameCompressor()
    frame = compressor.begin(source_size=1024 * MEBIBYTE)
    frame += b"".join(compressor.compress(piece) for _ in range(1024)) + compressor.flush()
    decode(declaring(frame, MEBIBYTE), "a part")


def crowd() -> None:
    """A small frame of two million episodes without a decision."""
    number = 2_000_000
    tensors = {
        name: np.zeros(number, dtype)
        for name, dtype in {
            "lengths": np.uint32,
            "seeds": np.uint64,
            "seats": np.uint8,
            "scores": np.float32,
            "policies": np.uint16,
            "opponents": np.uint16,
        }.items()
    }
    space = tiny_space()
    tensors["observations"] = np.zeros((0, space.observation_size), np.float32)
    for name in ("legal_counts", "legal", "actions"):
        tensors[name] = np.zeros(0, np.uint16)
    tensors["log_probs"] = np.zeros(0, np.float32)
    metadata = ShardMetadata(space=space, policies=(BarePolicyId(PolicyId("p1")),))
    decode(lz4.frame.compress(safetensors.save(tensors, {"shard": metadata.model_dump_json()})), "a part")


def header() -> None:
    """A frame whose header names forty million actions."""
    text = b'{"__metadata__":{"shard":"' + b'\\"\\",' * (12 * MEBIBYTE) + b'"}}'
    decode(lz4.frame.compress(len(text).to_bytes(8, "little") + text), "a part")


def vast_network() -> None:
    """A policy of the largest sizes that settings allow, 6 GB of weights, with a kilobyte stored."""
    field = ObservationField(name="hp", offset=0, size=1024, kind="number")
    space = Space(
        game="test",
        format="test",
        version="1",
        observation_size=1024,
        num_actions=2,
        actions=("a", "b"),
        vocabularies={},
        blocks=(ObservationBlock(name="all", offset=0, rows=1, stride=1024, fields=(field,)),),
    )
    store = MemoryStore()
    weights = safetensors.save({"actor.weight": np.zeros((2, 2), np.float32)})
    document = PolicyDocument(
        id=UNSET_ID,
        name="vast",
        format="test",
        space=space,
        architecture="entity-mlp-1",
        network=SlotsSettings(
            hidden_size=8192, num_hidden_layers=16, entity_size=4096, critic_size=8192, embedding_size=512
        ),
        parent=None,
        iteration=0,
        oracle="ppo",
        reward="win-loss",
        reward_version="1",
        num_parameters=1,
        weights_sha256=hashlib.sha256(weights).hexdigest(),
        weights_bytes=len(weights),
    )
    document = document.model_copy(update={"id": document.content_id()})
    store.put(f"policies/{document.id}/weights.safetensors", weights)
    store.put(f"policies/{document.id}/policy.json", document.to_json())
    load_network(store, BarePolicyId(document.id), space)


def peak_mebibytes() -> float:
    """Return the most resident memory so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Try each attack."""
    attacks: tuple[Callable[[], None], ...] = (more_than_declared, crowd, header, vast_network)
    found = {}
    for attack in attacks:
        before = peak_mebibytes()
        try:
            attack()
            error = None
        except DataError as refused:
            error = str(refused)
        found[attack.__name__] = {"error": error, "mebibytes": peak_mebibytes() - before}
    json.dump(found, sys.stdout)


main()
