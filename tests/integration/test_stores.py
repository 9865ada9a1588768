"""One suite for every store: a directory, moto's S3 and, where NASHDEX_TEST_S3_URL names one, a real S3 server.

NASHDEX_TEST_S3_URL is ``s3://bucket/prefix`` (with AWS_ENDPOINT_URL beside it) or the server's own
``http://host:port/bucket``; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY come from the environment too.
"""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import boto3
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from moto.server import ThreadedMotoServer

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError, NashdexError, NoObjectError, TryAgainError
from nashdex.core.manifest import Manifest
from nashdex.core.steps import StepName
from nashdex.learning.actors import protocol
from nashdex.learning.actors.protocol import Request, Requests
from nashdex.learning.rounds.planned import NEWEST, RoundBattles
from nashdex.store import ObjectStore, open_store
from nashdex.store.attempt import Attempt, find_manifest, read_manifest, read_object
from nashdex.store.checked import find_object
from support.s3_proxy import s3_proxy

pytestmark = pytest.mark.integration

REAL_SERVER = os.environ.get("NASHDEX_TEST_S3_URL", "")
STORES = ["directory", "moto", *(["server"] if REAL_SERVER else [])]
ATOMIC = pytest.mark.parametrize("uri", [store for store in STORES if store != "moto"], indirect=True)
"""moto looks for an object and then writes, in two steps."""
STEP = StepName.COLLECT
ROUND = RoundBattles(
    round=1,
    seed=7,
    num_battles=4,
    opponents={NEWEST: 1.0},
    snapshots=(),
    snapshot_share=0.0,
    records_opponents=False,
    deadline_seconds=60.0,
)


@pytest.fixture(scope="module")
def moto_endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(params=STORES)
def uri(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the URI of an empty store."""
    if request.param == "directory":
        return str(tmp_path / "runs" / "run")
    if request.param == "moto":
        monkeypatch.setenv("AWS_ENDPOINT_URL", request.getfixturevalue("moto_endpoint"))
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing-secret")
        bucket, prefix = "runs", ""
    elif REAL_SERVER.startswith("s3://"):
        bucket, prefix = urlsplit(REAL_SERVER).netloc, urlsplit(REAL_SERVER).path.strip("/")
    else:
        parts = urlsplit(REAL_SERVER)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"{parts.scheme}://{parts.netloc}")
        bucket, _, prefix = parts.path.strip("/").partition("/")
        bucket = bucket or "nashdex-test"
    client = boto3.session.Session().client("s3", region_name="us-east-1")
    if bucket not in [found["Name"] for found in client.list_buckets()["Buckets"]]:
        client.create_bucket(Bucket=bucket)
    return "/".join(part for part in ("s3:/", bucket, prefix, f"test-{uuid4().hex}") if part)


@pytest.fixture
def store(uri: str) -> ObjectStore:
    return open_store(uri)


segments = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.=+@-]{0,30}", fullmatch=True)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(path=st.lists(segments, min_size=1, max_size=4), data=st.binary(max_size=5000))
def test_any_key_returns_the_bytes_put_under_it(store: ObjectStore, path: list[str], data: bytes) -> None:
    key = "/".join([uuid4().hex, *path])
    assert not store.exists(key)
    assert store.put_if_absent(key, data)
    assert store.exists(key)
    assert store.get(key) == data
    assert list(store.list(key)) == [key]
    assert store.at(key.partition("/")[0]).get("/".join(path)) == data
    store.put(key, data[::-1])
    assert store.get(key) == data[::-1]
    store.delete(key)
    assert not store.exists(key)


def test_put_if_absent_leaves_what_is_there(store: ObjectStore) -> None:
    assert store.put_if_absent("a/b.json", b"first")
    assert not store.put_if_absent("a/b.json", b"second")
    assert store.get("a/b.json") == b"first"


def test_an_object_is_read_again_only_when_it_changes(store: ObjectStore) -> None:
    store.put("other", b"")
    with pytest.raises(DataError, match=r"a/b\.json does not exist"):
        store.get_if_changed("a/b.json", "")
    tag = ""
    for data in (b"first", b"other", b""):
        store.put("a/b.json", data)
        found = store.get_if_changed("a/b.json", tag)
        assert found is not None
        assert found[0] == data
        tag = found[1]
        assert store.get_if_changed("a/b.json", tag) is None
    assert store.get_if_changed("a/b.json", "") == (b"", tag)
    store.put("a/b.json", b"too large")
    with pytest.raises(DataError, match="expected 5 at most"):
        store.get_if_changed("a/b.json", tag, 5)
    store.delete("a/b.json")
    with pytest.raises(DataError, match=r"a/b\.json does not exist"):
        store.get_if_changed("a/b.json", tag)


@pytest.mark.parametrize("uri", ["moto"], indirect=True)
def test_a_look_for_a_request_without_news_moves_no_body(
    uri: str, moto_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 actors look every two seconds: what they read must not grow with that."""
    moved = list[int]()
    with s3_proxy(moto_endpoint, share=0.0, seed=0) as (url, proxy):
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        store = open_store(uri, observe=lambda *observed: moved.append(observed[2]))
        key = protocol.request_key(1, 0)
        requests = Requests(store, 1)
        assert requests.of(0) is None
        for version in (1, 2):
            wanted = Request(
                battles=ROUND.model_copy(update={"round": version}), chunk_battles=2, space="0" * 64, weights={}
            )
            store.put(key, wanted.to_json())
            assert (found := requests.of(0))
            assert found.id == wanted.id
            before_bytes = proxy.content_bytes
            moved.clear()
            for _ in range(3):
                assert requests.of(0) == found
            assert moved == [0, 0, 0]
            assert proxy.content_bytes == before_bytes
        assert proxy.answers["GET 304"] == 6
        assert proxy.answers["GET 200"] == 3, "two versions, and a look for the bucket"
        assert proxy.answers["HEAD 404"] == 1
        assert proxy.answers["HEAD 200"] == 1
        store.delete(key)
        assert requests.of(0) is None


@ATOMIC
def test_of_many_racing_writers_exactly_one_wins(store: ObjectStore, uri: str) -> None:
    num_writers = 12
    stores = [open_store(uri) for _ in range(num_writers)]
    together = threading.Barrier(num_writers)

    def write(writer: int) -> list[bool]:
        won = []
        for number in range(10):
            together.wait(timeout=500)
            won.append(stores[writer].put_if_absent(f"race/{number}", f"writer {writer}".encode() * 500))
        return won

    with ThreadPoolExecutor(num_writers) as pool:
        wins = list(pool.map(write, range(num_writers)))
    for number in range(10):
        winners = [writer for writer in range(num_writers) if wins[writer][number]]
        assert len(winners) == 1
        assert store.get(f"race/{number}") == f"writer {winners[0]}".encode() * 500


def test_a_reader_never_sees_half_an_object(store: ObjectStore) -> None:
    versions = [bytes([letter]) * 400_000 for letter in b"abc"]
    store.put("big", versions[0])
    stop = threading.Event()

    def read() -> set[bytes]:
        seen = set()
        while not stop.is_set():
            seen.add(store.get("big"))
        return seen

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for _ in range(10):
            for version in versions:
                store.put("big", version)
        stop.set()
        seen = set().union(*(reader.result() for reader in readers))
    assert seen <= set(versions)


def test_list_gives_keys_in_the_order_of_their_bytes(store: ObjectStore) -> None:
    wanted = ["a-b", "a/b", "a/b.c", "a/b/d", "a0", "b/c", "B", "_x"]
    for key in wanted:
        if key != "a/b":  # a directory cannot hold an object where others hang below
            store.put(key, b"")
    wanted.remove("a/b")
    assert list(store.list("")) == sorted(wanted)
    assert list(store.list("a")) == ["a-b", "a/b.c", "a/b/d", "a0"]
    assert list(store.list("a/")) == ["a/b.c", "a/b/d"]
    assert list(store.list("a/b/")) == ["a/b/d"]
    assert list(store.at("a").list("b")) == ["b.c", "b/d"]
    assert list(store.list("nothing/here")) == []


def test_folders_are_first_segments_of_keys_that_have_several(store: ObjectStore) -> None:
    assert list(store.folders()) == []
    for key in ("b/c", "a/b/c", "a/b/d", "top", "B/x"):
        store.put(key, b"")
    assert list(store.folders()) == ["B", "a", "b"]
    assert list(store.at("a").folders()) == ["b"]


@pytest.mark.slow
def test_list_goes_beyond_one_page_of_s3(store: ObjectStore) -> None:
    wanted = [f"many/{number:04d}" for number in range(1005)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda key: store.put(key, b""), wanted))
    assert list(store.list("many/")) == wanted


def test_missing_objects_are_errors_of_their_own_that_name_them(store: ObjectStore) -> None:
    store.put("there", b"content")
    for key in ("not/there", "there/not"):
        with pytest.raises(NoObjectError, match=key):
            store.get(key)
        assert find_object(store, key) is None
    assert find_object(store, "there", 7) == b"content"
    with pytest.raises(DataError, match="7 bytes, expected 6") as too_large:
        find_object(store, "there", 6)
    assert not isinstance(too_large.value, NoObjectError)
    assert not store.exists("not/there")
    store.delete("not/there")


@pytest.mark.parametrize(
    "key",
    ["", "/etc/passwd", "../up", "a/../../up", "a//b", "a/", ".hidden", "a/./b", "a\\b", "a\nb", "a b", "é", "x" * 901],
)
def test_keys_that_lead_elsewhere_are_refused(store: ObjectStore, key: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: store.get(key),
        lambda: store.get_if_changed(key, ""),
        lambda: store.exists(key),
        lambda: store.put(key, b""),
        lambda: store.put_if_absent(key, b""),
        lambda: store.delete(key),
        lambda: store.at(key),
    ]
    for call in calls:
        with pytest.raises(ConfigurationError, match="not a usable key"):
            call()


def test_a_shard_is_done_only_when_its_manifest_is_there(store: ObjectStore) -> None:
    died = Attempt(store, 3, STEP, 1)
    died.write("part", b"half of it")
    assert find_manifest(store, 3, STEP, 1) is None
    with pytest.raises(DataError, match=r"nashdex step collect .*--iteration 3 --shard 1"):
        read_manifest(store, 3, STEP, 1)

    again = Attempt(store, 3, STEP, 1)
    again.write("part", b"all of it")
    manifest = again.finish({"battles": 5})
    assert find_manifest(store, 3, STEP, 1) == manifest == read_manifest(store, 3, STEP, 1)
    assert manifest.attempt == again.id != died.id
    assert manifest.counts == {"battles": 5}
    assert read_object(store, manifest, "part") == b"all of it"
    assert find_manifest(store, 3, STEP, 0) is None


@ATOMIC
def test_of_racing_attempts_at_a_shard_one_wins_and_all_learn_which(store: ObjectStore, uri: str) -> None:
    together = threading.Barrier(4)

    def work(number: int) -> Manifest:
        attempt = Attempt(open_store(uri), 0, STEP, 0)
        attempt.write("result.json", f"{number}".encode())
        together.wait(timeout=500)
        return attempt.finish({"number": number})

    with ThreadPoolExecutor(4) as pool:
        manifests = list(pool.map(work, range(4)))
    final = read_manifest(store, 0, STEP, 0)
    assert manifests == [final] * 4
    assert read_object(store, final, "result.json") == f"{final.counts['number']}".encode()


def test_altered_objects_are_found(store: ObjectStore) -> None:
    attempt = Attempt(store, 0, STEP, 0)
    attempt.write("part", b"0123456789")
    manifest = attempt.finish({})
    key = manifest.objects["part"].key
    store.put(key, b"0123456780")
    with pytest.raises(DataError, match=f"{key} has sha256"):
        read_object(store, manifest, "part")
    store.put(key, b"01234")
    with pytest.raises(DataError, match=f"{key} has sha256 .*: it was altered or truncated"):
        read_object(store, manifest, "part")
    store.delete(key)
    with pytest.raises(DataError, match=f"{key} does not exist"):
        read_object(store, manifest, "part")
    with pytest.raises(DataError, match="has no object 'other'"):
        read_object(store, manifest, "other")


def test_altered_manifests_are_found(store: ObjectStore) -> None:
    attempt = Attempt(store, 0, STEP, 0)
    attempt.write("part", b"0123456789")
    manifest = attempt.finish({})
    stolen = manifest.objects["part"].model_copy(update={"key": "config.json"})
    with pytest.raises(DataError, match="points outside its shard"):
        read_object(store, manifest.model_copy(update={"objects": {"part": stolen}}), "part")
    store.put(keys.manifest(0, STEP, 7), manifest.to_json())
    with pytest.raises(DataError, match="shard 0; it was moved or altered"):
        read_manifest(store, 0, STEP, 7)
    store.put(keys.manifest(0, STEP, 0), manifest.to_json()[:50])
    with pytest.raises(DataError, match="is not a valid Manifest"):
        read_manifest(store, 0, STEP, 0)


def test_an_attempt_writes_a_name_once(store: ObjectStore) -> None:
    attempt = Attempt(store, 0, STEP, 0)
    attempt.write("part", b"1")
    with pytest.raises(ValueError, match="already written 'part'"):
        attempt.write("part", b"2")


def test_an_observer_hears_of_every_operation(uri: str) -> None:
    heard: list[tuple[str, int]] = []

    def observe(operation: str, seconds: float, size_bytes: int, failed: bool) -> None:  # noqa: FBT001 - the observer's type
        assert seconds >= 0
        assert not failed, "that there is no such object is an answer"
        heard.append((operation, size_bytes))

    store = open_store(uri, observe=observe).at("below")
    store.put("a", b"123")
    assert store.put_if_absent("b", b"12345")
    assert not store.put_if_absent("a", b"12345")
    assert store.get("a") == b"123"
    assert list(store.list("")) == ["a", "b"]
    with pytest.raises(DataError):
        store.get("missing")
    assert heard == [("put", 3), ("put_if_absent", 5), ("put_if_absent", 0), ("get", 3), ("list", 0), ("get", 0)]


def s3_calls(store: ObjectStore) -> list[Callable[[], object]]:
    return [
        lambda: store.get("key"),
        lambda: store.get_if_changed("key", "tag"),
        lambda: store.exists("key"),
        lambda: store.put("key", b""),
        lambda: store.put_if_absent("key", b""),
        lambda: store.delete("key"),
        lambda: list(store.list("")),
    ]


def expect_everywhere(store: ObjectStore, error: type[NashdexError], match: str) -> list[str]:
    messages = []
    for call in s3_calls(store):
        with pytest.raises(error, match=match) as caught:
            call()
        messages.append(str(caught.value))
    return messages


def test_an_unreachable_endpoint_asks_to_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "something")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    failed: list[bool] = []
    store = open_store("s3://bucket/run", observe=lambda *told: failed.append(told[-1]))
    expect_everywhere(store, TryAgainError, r"s3://bucket/run at http://127\.0\.0\.1:9 cannot be reached")
    assert failed
    assert all(failed)


def test_a_missing_bucket_is_a_wrong_configuration(moto_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", moto_endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing-secret")
    expect_everywhere(open_store("s3://no-such-bucket/run"), ConfigurationError, "s3://no-such-bucket/run at .* bucket")


def test_absent_credentials_are_a_wrong_configuration(
    moto_endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", moto_endpoint)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    expect_everywhere(open_store("s3://bucket/run"), ConfigurationError, "s3://bucket/run at .* credentials")


@pytest.mark.parametrize("uri", [store for store in STORES if store == "server"], indirect=True)
@pytest.mark.parametrize("wrong", ["AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"])
def test_wrong_credentials_are_a_wrong_configuration_and_stay_secret(
    uri: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(wrong, "a-wrong-credential")
    for message in expect_everywhere(open_store(uri), ConfigurationError, "check (them|the credentials)"):
        assert "a-wrong-credential" not in message
        assert os.environ["AWS_SECRET_ACCESS_KEY"] not in message
        assert os.environ["AWS_ACCESS_KEY_ID"] not in message
