"""Valid objects that a learner, its actors and gateways exchange: what mutation begins with."""

import struct

from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.journal import Entry
from nashdex.core.manifest import StoredObject
from nashdex.games.space import Space
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.learning.rounds.planned import NEWEST, RoundBattles

SHA256 = "0" * 64
PART = StoredObject(key="iterations/0001/train/00000/actors/x", sha256=SHA256, size_bytes=9)


def request() -> bytes:
    """Return what a learner asks for."""
    battles = RoundBattles(
        round=1,
        seed=7,
        num_battles=40,
        opponents={NEWEST: 0.5, PolicyId("random"): 0.5},
        snapshots=(),
        snapshot_share=0.0,
        records_opponents=True,
        deadline_seconds=60.0,
    )
    return Request(battles=battles, chunk_battles=8, space=SHA256, weights={NEWEST: PART}, again={2: 1}).to_json()


def chunk() -> bytes:
    """Return a chunk's manifest."""
    return Chunk(
        request="00000001-round-0123456789abcdef",
        version=1,
        chunk=3,
        actor=0,
        attempt=AttemptId("20260101t000000-aaaaaaaa"),
        episodes=(PART,),
        battles=8,
        decisions=200,
        cpu_seconds=1.5,
    ).to_json()


def entry() -> bytes:
    """Return a round of the journal."""
    return Entry(
        round=1,
        request="00000001-round-0123456789abcdef",
        weights_sha256=SHA256,
        episodes_sha256=SHA256,
        battles=40,
        learned_decisions=900,
        chunks_by_actor={0: 5},
        waited_seconds=1.0,
        read_seconds=0.1,
        staleness_seconds=0.0,
        staleness_versions=0.0,
        round_seconds=4.0,
        actors_seconds=3.0,
        actors_waited_seconds=0.0,
    ).to_json()


def decisions(space: Space) -> bytes:
    """Return a gateway's frame of two decisions with two legal actions each."""
    counts, battles, ends = struct.pack("<II", 2, 4), struct.pack("<II", 7, 8), struct.pack("<II", 2, 4)
    return counts + battles + ends + bytes(4) + bytes(8 * space.observation_size) + struct.pack("<4H", 0, 1, 0, 1)
