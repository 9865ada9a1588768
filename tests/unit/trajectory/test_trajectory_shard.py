"""The shard codec: what goes in comes out, and nothing damaged does."""

import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import numpy as safetensors

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.steps import StepName
from nashdex.games.legal import LegalActions
from nashdex.games.space import Space
from nashdex.store import open_store
from nashdex.store.attempt import Attempt
from nashdex.trajectory import shard as shard_module
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import ShardMetadata, ShardWriter, decode, encode, part_name, read_shards
from support.spaces import tiny_space

KEY = "iterations/0000/collect/00000/abc/trajectories-00000.safetensors.lz4"


def make_episode(length: int, seed: int, space: Space) -> Episode:
    rng = np.random.default_rng(seed)
    actions = rng.integers(0, space.num_actions, length)
    masks = rng.random((length, space.num_actions)) < 0.5
    masks[np.arange(length), actions] = True
    return Episode(
        seed=2**64 - 1 - seed,
        seat=seed % 2,
        policy=PolicyId(f"p{seed % 3}"),
        opponent=PolicyId("random"),
        score=(0.0, 0.5, 1.0)[seed % 3],
        observations=rng.normal(size=(length, space.observation_size)).astype(np.float32),
        legal=LegalActions.of_mask(masks),
        actions=actions,
        log_probs=-rng.random(length).astype(np.float32),
    )


def assert_same(one: Episode, other: Episode) -> None:
    for field in dataclasses.fields(Episode):
        if field.name != "legal":
            np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name), field.name)
    assert one.legal.num_actions == other.legal.num_actions
    np.testing.assert_array_equal(one.legal.offsets, other.legal.offsets)
    np.testing.assert_array_equal(one.legal.actions, other.legal.actions)


@given(lengths=st.lists(st.integers(0, 12), max_size=6), num_actions=st.sampled_from([2, 3, 8, 300, 11_449]))
def test_episodes_survive_a_round_trip(lengths: list[int], num_actions: int) -> None:
    space = tiny_space(num_actions)
    episodes = [make_episode(length, i, space) for i, length in enumerate(lengths)]
    found_space, found = decode(encode(episodes, space), KEY)
    assert found_space == space
    assert len(found) == len(episodes)
    for one, other in zip(episodes, found, strict=True):
        assert_same(one, other)


def test_a_part_is_truncated_or_altered_anywhere() -> None:
    """Every cut and every flipped byte is an error that names the key."""
    space = tiny_space()
    frame = encode([make_episode(5, 1, space)], space)
    damaged = [frame[:cut] for cut in range(0, len(frame), 7)]
    damaged += [frame[:at] + bytes([frame[at] ^ 0x10]) + frame[at + 1 :] for at in range(0, len(frame), 5)]
    for data in damaged:
        with pytest.raises(DataError, match="trajectories-00000"):
            decode(data, KEY)


def test_a_size_beyond_the_bound_is_refused_before_decompressing(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = lz4.frame.compress(bytes(1 << 20))
    monkeypatch.setattr(shard_module, "MAX_PART_BYTES", 1 << 16)
    monkeypatch.setattr(lz4.frame, "LZ4FrameDecompressor", lambda: pytest.fail("decompressed"))
    with pytest.raises(DataError, match="declares 1048576 bytes of content; expected 1 to 65536"):
        decode(bomb, KEY)


def test_a_frame_without_a_size_is_refused() -> None:
    with pytest.raises(DataError, match="declares 0 bytes of content"):
        decode(lz4.frame.compress(b"x" * 100, store_size=False), KEY)


def altered(change: Callable[[dict[str, np.ndarray]], None]) -> bytes:
    """Return a part whose tensors were changed by somebody who then made valid files of them."""
    space = tiny_space()
    blob = lz4.frame.decompress(encode([make_episode(5, 1, space), make_episode(3, 2, space)], space))
    tensors = {name: tensor.copy() for name, tensor in safetensors.load(blob).items()}
    change(tensors)
    metadata = ShardMetadata(space=space, policies=(PolicyId("p1"), PolicyId("p2"), PolicyId("random")))
    compressed: bytes = lz4.frame.compress(safetensors.save(tensors, {"shard": metadata.model_dump_json()}))
    return compressed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("log_probs"), "has no log_probs"),
        (lambda t: t["lengths"].__setitem__(0, 4), "have 7 decisions in all, its tensors 8"),
        (lambda t: t.update(observations=t["observations"][:, :-1].copy()), r"observations is float32 \(8, 6\)"),
        (lambda t: t.update(scores=t["scores"].astype(np.float64)), "scores is float64"),
        (lambda t: t["legal"].fill(0), "legal actions are not in ascending order"),
        (lambda t: t["legal"].fill(65_535), "action 65535 is beyond the 2 of the space"),
        (lambda t: t["legal_counts"].__setitem__(0, 7), r"legal is uint16 .*, expected uint16"),
        (lambda t: t["actions"].fill(200), "an action is not among its decision's legal ones"),
        (lambda t: t["observations"].fill(np.nan), "observations holds a number that is not finite"),
        (lambda t: t["opponents"].fill(3), "names a policy beyond the 3"),
    ],
)
def test_contents_that_contradict_each_other_are_named(
    change: Callable[[dict[str, np.ndarray]], None], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        decode(altered(change), KEY)


def test_a_part_of_an_older_release_is_refused() -> None:
    space = tiny_space()
    metadata = ShardMetadata(space=space, policies=()).model_copy(update={"schema_version": 1})
    old = {"masks": np.zeros((0, 1), np.uint8), "actions": np.zeros(0, np.uint8)}
    with pytest.raises(DataError, match="schema version 1; this nashdex reads 2; collect the shard again"):
        decode(lz4.frame.compress(safetensors.save(old, {"shard": metadata.model_dump_json()})), KEY)


def test_other_content_in_a_frame_is_no_part() -> None:
    for content in (b"hello, world", safetensors.save({"x": np.zeros(3)})):
        with pytest.raises(DataError, match="holds no trajectory part"):
            decode(lz4.frame.compress(content), KEY)


def test_parts_stay_below_their_size_and_keep_the_order() -> None:
    space = tiny_space()
    episodes = [make_episode(10, i, space) for i in range(20)]
    parts: dict[str, bytes] = {}
    writer = ShardWriter(parts.__setitem__, space, max_part_bytes=1000)
    for episode in episodes:
        writer.add(episode)
    writer.close()
    assert list(parts) == [part_name(i) for i in range(len(parts))]
    assert len(parts) == 10, "340 bytes an episode, so two fit"
    found = [episode for part in parts.values() for episode in decode(part, KEY)[1]]
    for one, other in zip(episodes, found, strict=True):
        assert_same(one, other)


def test_writing_happens_beside_the_caller_and_holds_two_parts_at_most() -> None:
    space = tiny_space()
    release = threading.Event()
    started = threading.Event()
    written: list[str] = []

    def write(name: str, data: bytes) -> None:
        del data
        started.set()
        assert release.wait(600)
        written.append(name)

    writer = ShardWriter(write, space, max_part_bytes=340)
    writer.add(make_episode(10, 0, space))
    writer.add(make_episode(10, 1, space))
    assert started.wait(600), "the first part is being written"
    assert not written, "and adding did not wait for it"
    adding = threading.Thread(target=writer.add, args=(make_episode(10, 2, space),))
    adding.start()
    adding.join(0.2)
    assert adding.is_alive(), "a third part waits for the first"
    release.set()
    adding.join()
    writer.close()
    assert len(written) == 3


def test_a_failure_of_the_store_reaches_the_caller() -> None:
    space = tiny_space()

    def write(name: str, data: bytes) -> None:
        del data
        raise OSError(28, f"no space left for {name}")

    writer = ShardWriter(write, space, max_part_bytes=340)
    writer.add(make_episode(10, 0, space))
    writer.add(make_episode(10, 1, space))
    with pytest.raises(OSError, match="no space left for trajectories-00000"):
        writer.add(make_episode(10, 2, space))
    with pytest.raises(OSError, match="no space left"):
        writer.close()


def test_after_an_exception_only_the_thread_ends() -> None:
    space = tiny_space()
    parts: dict[str, bytes] = {}

    def fail() -> None:
        with ShardWriter(parts.__setitem__, space, max_part_bytes=340) as writer:
            writer.add(make_episode(10, 0, space))
            raise RuntimeError("the arena is gone")

    threads = threading.active_count()
    with pytest.raises(RuntimeError, match="the arena is gone"):
        fail()
    assert parts == {}
    assert threading.active_count() == threads


def collect(folder: Path, shard: int, episodes: list[Episode], space: Space) -> Manifest:
    attempt = Attempt(open_store(str(folder)), 0, StepName.COLLECT, shard)
    writer = ShardWriter(attempt.write, space, max_part_bytes=600)
    for episode in episodes:
        writer.add(episode)
    writer.close()
    return attempt.finish({})


def test_episodes_are_read_in_the_order_of_their_seeds_however_battles_ended(tmp_path: Path) -> None:
    """Battles end in an order that depends on the machine's load, and training must not."""
    space = tiny_space()
    episodes = [make_episode(10, i, space) for i in range(6)]
    quiet, busy = (
        [collect(tmp_path / name, shard, order[shard::2], space) for shard in range(2)]
        for name, order in (("quiet", episodes), ("busy", episodes[::-1]))
    )
    read = [read_shards(open_store(str(tmp_path / n)), m)[1] for n, m in (("quiet", quiet), ("busy", busy))]
    for one, other in zip(*read, strict=True):
        assert_same(one, other)


def test_shards_are_read_with_their_space(tmp_path: Path) -> None:
    space = tiny_space()
    episodes = [make_episode(10, i, space) for i in range(6)]
    manifests = [
        collect(tmp_path, 0, episodes[:4], space),
        collect(tmp_path, 1, [], space),
        collect(tmp_path, 2, episodes[4:], space),
    ]
    found_space, found = read_shards(open_store(str(tmp_path)), manifests)
    assert found_space == space
    for one, other in zip(sorted(episodes, key=lambda e: e.seed), found, strict=True):
        assert_same(one, other)


def test_shards_of_two_spaces_do_not_mix(tmp_path: Path) -> None:
    manifests = [collect(tmp_path, i, [], tiny_space(num_actions=2 + i)) for i in range(2)]
    with pytest.raises(DataError, match=r"00001/.*is of tiny version 1 .*00000/.*collect both again"):
        read_shards(open_store(str(tmp_path)), manifests)
