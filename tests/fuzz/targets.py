"""The readers, and valid inputs to begin with. A reader returns, or raises an error of nashdex."""

import base64
import gzip
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import lz4.frame
import numpy as np
from safetensors import numpy as safetensors

from fuzz import commands, documents, double_logs, exchange, logs, stores
from nashdex.core import keys
from nashdex.core.ids import PolicyId
from nashdex.core.journal import Entry
from nashdex.games.legal import LegalActions
from nashdex.games.showdown.frames import HEADER, MAX_FRAME_BYTES
from nashdex.games.showdown.gateway import decode_decisions, decode_message
from nashdex.games.showdown.replays import rename_players, replay_page
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.policies.archive import read_weights, weights_bytes
from nashdex.policies.networks.actor_critic import make_network
from nashdex.report.cells import PayoffCells
from nashdex.settings.loading import load_settings, resolve
from nashdex.settings.networks import SlotsSettings
from nashdex.settings.run import RunSettings
from nashdex.solver import matrix_file
from nashdex.store.verdict import Phase, Verdict
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import decode, encode
from nashdex_cluster.bundle import Bundle, unpack
from nashdex_lab.costs import read_prices
from nashdex_lab.experiments.plan import read_plan
from nashdex_metamon.data import replay_file
from nashdex_metamon.tokens import Tokenizer
from support.memory_store import MemoryStore
from support.results import published
from support.spaces import tiny_space

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
CONFIGS = ROOT / "configs"


@dataclass(frozen=True)
class Target:
    """One reader."""

    read: Callable[[bytes], object]
    seeds: Sequence[bytes]


ONE, OTHER = PolicyId("random"), PolicyId("first-action")
SECOND = f"{keys.ITERATIONS}/0001/"
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


def _assignment(data: bytes) -> object:
    return resolve({"format": "kuhn_poker"}, "settings", [data.decode(errors="surrogateescape")])


class _StoredRun:
    """A run after its first iteration. One of its objects is replaced, and the second iteration follows.

    The first byte of an input is the number of the object, the rest its content. The run is refused, or ends with the
    results of the original.
    """

    def __init__(self) -> None:
        whole, self._go_on = documents.tabular_run()
        self._objects = {key: data for key, data in whole.objects.items() if not key.startswith(SECOND)}
        self._keys = sorted(key for key in self._objects if not key.endswith((".html", ".jsonl")))
        self._expected = self._results(whole)

    def _results(self, store: MemoryStore) -> object:
        return published(store, [1])

    def seeds(self) -> list[bytes]:
        return [bytes([number]) + self._objects[key] for number, key in enumerate(self._keys)]

    def read(self, data: bytes) -> None:
        key = self._keys[data[0] % len(self._keys)] if data else self._keys[0]
        store = MemoryStore(self._objects | {key: data[1:]})
        self._go_on(store)
        assert self._results(store) == self._expected, f"{key} was changed and believed"


def _payoff_cells() -> PayoffCells:
    counts, ends = (1, 2, 3), (0.25, 0.5, 0.75)
    policies = (ONE, OTHER, PolicyId("heuristic"))
    return PayoffCells(
        policies=policies,
        names=policies,
        wins=counts,
        draws=counts,
        losses=counts,
        low=ends,
        high=ends,
        effective_battles=ends,
    )


def _cells(data: bytes) -> None:
    cells = PayoffCells.from_json(data, "c")
    for row, column in permutations(range(len(cells.policies)), 2):
        if cells.exact:
            cells.payoff(row, column)
        else:
            cells.cell(row, column)


def targets() -> dict[str, Target]:
    """Return every reader by name."""
    space = tiny_space()
    network = make_network(space, SMALL)
    tables = {"policies": ["a", "b"], "payoffs": [[0, 1], [-1, 0]]}
    counts = {"policies": ["a", "b"], "wins": [[0, 1], [2, 0]], "draws": [[0, 0], [0, 0]], "games": [[0, 3], [3, 0]]}
    message = json.dumps({"type": "error", "code": "protocol", "message": "x"}).encode()
    settings = {"run": "small", "format": "kuhn_poker", "population": {"initial": ["random"]}}
    bundle = Bundle(settings=RunSettings.model_validate(settings), inputs={}).to_json()
    replay = (DATA / "battle.log").read_bytes()[:4000]
    metamon = [path.read_bytes() for path in sorted((DATA / "metamon" / "replays").glob("*/*"))[:3]]
    verdict = Verdict(phase=Phase.FAILED, iteration=1, ended_timestamp_seconds=1.0, message="x")
    stored = documents.seeds()
    stored_run, raw_logs, doubles = _StoredRun(), logs.RawLogs(), double_logs.DoubleLogs()
    command = commands.Commands()
    store, store_of_parts = stores.Stores(), stores.Stores(most_listed=1)

    def document(name: str, reader: documents.Reader) -> Target:
        return Target(lambda data: reader(data, name), stored[name])

    return {
        **{name: document(name, reader) for name, (_, reader) in documents.READERS.items()},
        "ledger-content": Target(
            lambda data: documents.framed_ledger(data, "l"), [*map(lz4.frame.decompress, stored["ledger"])]
        ),
        "interaction-matrix": Target(_matrix, stored["interaction-matrix"]),
        "verdict": Target(lambda data: Verdict.from_json(data, "v"), [verdict.to_json()]),
        "stored-run": Target(stored_run.read, stored_run.seeds()),
        "store": Target(store.read, store.seeds()),
        "store-of-parts": Target(store_of_parts.read, store_of_parts.seeds()),
        "report-cells": Target(_cells, [_payoff_cells().to_json()]),
        "command": Target(command.read, command.seeds()),
        "shard": Target(lambda data: decode(data, "s"), [encode([_episode()], space)]),
        "weights": Target(
            lambda data: read_weights(space, SMALL, data, "w"),
            [weights_bytes(network), safetensors.save({"x": np.zeros(2, np.float32)})],
        ),
        "settings": Target(
            _through_file(load_settings, ".toml"),
            [b'format = "kuhn_poker"\nseed = 1\n[train.oracle]\nkind = "ppo"\n[collect]\nbattles = 10\n'],
        ),
        "assignment": Target(_assignment, [b"collect.battles=500", b"train.oracle={kind='ppo', decisions=1}"]),
        "prices": Target(_through_file(read_prices, ".toml"), [(ROOT / "configs" / "prices.toml").read_bytes()]),
        "experiment": Target(
            _through_file(read_plan, ".toml"), [(ROOT / "configs" / "experiments" / "start.toml").read_bytes()]
        ),
        "matrix-file": Target(
            _through_file(matrix_file.read, ".json"), [json.dumps(each).encode() for each in (tables, counts)]
        ),
        "bundle": Target(lambda data: unpack(data, "b"), [base64.b64encode(gzip.compress(bundle, mtime=0))]),
        "bundle-document": Target(lambda data: Bundle.from_json(data, "b"), [bundle]),
        "request": Target(lambda data: Request.from_json(data, "r"), [exchange.request()]),
        "chunk": Target(lambda data: Chunk.from_json(data, "c"), [exchange.chunk()]),
        "journal-entry": Target(lambda data: Entry.from_json(data, "e"), [exchange.entry()]),
        "decisions": Target(lambda data: decode_decisions(memoryview(data), space).mask, [exchange.decisions(space)]),
        "frame": Target(_frame, [HEADER.pack(len(message) + 4, 1) + message]),
        "replay": Target(_replay, [b"|player|p1|Red|\n|win|Red", b"</script><!--", replay]),
        "vocabulary": Target(lambda data: Tokenizer.from_json(data, "v"), [b'{"<unk>": 0, "a": 1}']),
        "raw-log": Target(raw_logs.read, raw_logs.seeds()),
        "double-log": Target(doubles.read, doubles.seeds()),
        "raw-replay": Target(logs.read_replay, logs.raw_replays()),
        "metamon-replay": Target(lambda data: replay_file.decode(data, "r"), metamon),
    }
