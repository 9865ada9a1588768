"""The readers, and valid inputs to begin with. A reader returns, or raises an error of nashdex."""

import base64
import gzip
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import numpy as safetensors

from nashdex.core.ids import AttemptId, PolicyId
from nashdex.core.manifest import Manifest, RunManifest, StoredObject
from nashdex.core.steps import StepName
from nashdex.games.legal import LegalActions
from nashdex.games.showdown.frames import HEADER, MAX_FRAME_BYTES
from nashdex.games.showdown.gateway import decode_message
from nashdex.games.showdown.replays import rename_players, replay_page
from nashdex.metagame.evidence.ledger import BattleRecord, ShardLedger
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import PolicyEntry, Population
from nashdex.policies.archive import read_weights, weights_bytes
from nashdex.policies.networks.actor_critic import make_network
from nashdex.policies.networks.slots.settings import SlotsSettings
from nashdex.runs.bundle import Bundle, unpack
from nashdex.settings.loading import load_settings
from nashdex.settings.run import RunSettings
from nashdex.solver import matrix_file
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import decode, encode
from support.spaces import tiny_space


@dataclass(frozen=True)
class Target:
    """One reader."""

    read: Callable[[bytes], object]
    seeds: Sequence[bytes]


ONE, OTHER = PolicyId("random"), PolicyId("first-action")
SMALL = SlotsSettings(embedding_size=2, entity_size=4, hidden_size=8, num_hidden_layers=1, critic_size=2)


def _episode() -> Episode:
    space = tiny_space()
    masks = np.ones((3, space.num_actions), np.bool_)
    return Episode(
        seed=1,
        seat=0,
        policy=ONE,
        opponent=OTHER,
        score=1.0,
        observations=np.zeros((3, space.observation_size), np.float32),
        legal=LegalActions.of_mask(masks),
        actions=np.zeros(3, np.int64),
        log_probs=np.zeros(3, np.float32),
    )


def _manifest() -> bytes:
    stored = StoredObject(key="iterations/0000/collect/00000/a/x", sha256="0" * 64, size_bytes=1)
    return Manifest(
        step=StepName.COLLECT,
        iteration=0,
        shard=0,
        attempt=AttemptId("20260101t000000-aaaaaaaa"),
        objects={"x": stored},
        counts={"battles": 5},
        seconds=1.0,
        nashdex_version="0",
    ).to_json()


def _plan() -> bytes:
    entry = PolicyEntry(id=ONE, kind="scripted", name="random", iteration=None, parent=None)
    return IterationPlan(
        iteration=0,
        oracle="clone",
        population=Population(policies=(entry,)),
        rule="initial",
        opponents={ONE: 1.0},
        learner=ONE,
    ).to_json()


def _ledger() -> bytes:
    record = BattleRecord(policies=(ONE, OTHER), pair=0, seed=1, teams=("0", "1"), winner=0, turns=3, decisions=6)
    return ShardLedger(
        battles=(record,), failures={}, rejected_choices=0, decisions=6, seconds=1.0, cpu_seconds=1.0
    ).to_json()


def _through_file(read: Callable[[Path], object], suffix: str) -> Callable[[bytes], object]:
    path = Path(tempfile.mkdtemp(prefix="nashdex-fuzz-")) / f"input{suffix}"

    def from_bytes(data: bytes) -> object:
        path.write_bytes(data)
        return read(path)

    return from_bytes


def _matrix(data: bytes) -> None:
    matrix = InteractionMatrix.from_json(data, "matrix")
    matrix.coverage()
    matrix.interval_widths()


def _frame(data: bytes) -> object:
    size, _ = HEADER.unpack(data[: HEADER.size].ljust(HEADER.size, b"\0"))
    return decode_message(memoryview(data[HEADER.size :])) if size <= MAX_FRAME_BYTES else None


def _replay(data: bytes) -> str:
    return replay_page(rename_players(data.decode(errors="replace"), ("A", "B")), "A against B", "gen1ou")


def targets() -> dict[str, Target]:
    """Return every reader by name."""
    space = tiny_space()
    network = make_network(space, SMALL)
    tables = {"policies": ["a", "b"], "payoffs": [[0, 1], [-1, 0]]}
    counts = {"policies": ["a", "b"], "wins": [[0, 1], [2, 0]], "draws": [[0, 0], [0, 0]], "games": [[0, 3], [3, 0]]}
    message = json.dumps({"type": "error", "code": "protocol", "message": "x"}).encode()
    settings = {"run": "small", "format": "kuhn_poker", "population": {"initial": ["random"]}}
    bundle = Bundle(settings=RunSettings.model_validate(settings), inputs={}).to_json()
    return {
        "manifest": Target(lambda data: Manifest.from_json(data, "m"), [_manifest()]),
        "run-manifest": Target(lambda data: RunManifest.from_json(data, "m"), [RunManifest(objects={}).to_json()]),
        "plan": Target(lambda data: IterationPlan.from_json(data, "p"), [_plan()]),
        "ledger": Target(lambda data: ShardLedger.from_json(data, "l"), [_ledger()]),
        "interaction-matrix": Target(_matrix, [SampledCounts.unplayed((ONE, OTHER)).to_json()]),
        "shard": Target(lambda data: decode(data, "s"), [encode([_episode()], space)]),
        "weights": Target(
            lambda data: read_weights(space, SMALL, data, "w"),
            [weights_bytes(network), safetensors.save({"x": np.zeros(2, np.float32)})],
        ),
        "settings": Target(
            _through_file(load_settings, ".toml"),
            [b'format = "kuhn_poker"\nseed = 1\n[train.oracle]\nkind = "ppo"\n[collect]\nbattles = 10\n'],
        ),
        "matrix-file": Target(
            _through_file(matrix_file.read, ".json"), [json.dumps(each).encode() for each in (tables, counts)]
        ),
        "bundle": Target(lambda data: unpack(data, "b"), [base64.b64encode(gzip.compress(bundle, mtime=0))]),
        "bundle-document": Target(lambda data: Bundle.from_json(data, "b"), [bundle]),
        "frame": Target(_frame, [HEADER.pack(len(message) + 4, 1) + message]),
        "replay": Target(_replay, [b"|player|p1|Red|\n|win|Red", b"</script><!--"]),
    }
