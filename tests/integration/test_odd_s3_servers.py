"""S3 servers that answer wrongly, late or not at all."""

import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product

import boto3
import pytest
from botocore.config import Config

from nashdex.core.errors import ConfigurationError, DataError, NashdexError, NoObjectError, TryAgainError
from nashdex.store.s3 import PATIENCE_SECONDS, SILENCE_SECONDS, S3Store
from support.http_servers import JsonHandler, served_by

ACCESS_KEY = "AKIAIOSFODNN7EXAMPLE"


@dataclass
class Answer:
    """What the server says to the next requests."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    silent_seconds: float = 0.0
    num_times: int | None = None
    """Requests that it is the answer to; later ones succeed."""
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def answer() -> Answer:
    return Answer()


@pytest.fixture
def url(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    class Handler(JsonHandler):
        protocol_version = "HTTP/1.1"

        def answer_anything(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer.requests.append(self.command)
            time.sleep(answer.silent_seconds)
            if answer.num_times is not None and len(answer.requests) > answer.num_times:
                answer.status, answer.body = 200, b""
            body = answer.body  # the test may go on as soon as it has the headers
            self.send_response(answer.status)
            for name, value in ({"Content-Length": str(len(body))} | dict(answer.headers)).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                with suppress(BrokenPipeError):  # a client that was kept waiting has gone
                    self.wfile.write(body)

        do_GET = do_PUT = do_HEAD = do_DELETE = answer_anything  # noqa: N815 - http.server's names

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret-of-enough-characters")
    with served_by(Handler) as url:
        yield url


@pytest.fixture
def store(url: str) -> S3Store:
    return _store_at(url, read_seconds=600.0)


@pytest.fixture
def hasty(url: str) -> S3Store:
    """A store that soon gives up an answer that does not arrive."""
    return _store_at(url, read_seconds=0.3)


def _store_at(url: str, read_seconds: float) -> S3Store:
    config = Config(retries={"mode": "standard", "total_max_attempts": 1}, read_timeout=read_seconds)
    return S3Store("bucket", "run", boto3.client("s3", endpoint_url=url, region_name="us-east-1", config=config))


def calls(store: S3Store) -> list[Callable[[], object]]:
    return [
        lambda: store.get("key"),
        lambda: store.get_if_changed("key", "tag"),
        lambda: store.exists("key"),
        lambda: store.put("key", b"data"),
        lambda: store.put_if_absent("key", b"data"),
        lambda: store.delete("key"),
        lambda: list(store.list("")),
        lambda: list(store.folders()),
    ]


def error_document(code: str) -> bytes:
    return f"<Error><Code>{code}</Code><Message>The key {ACCESS_KEY} is wrong</Message></Error>".encode()


def failure(call: Callable[[], object]) -> NashdexError | None:
    try:
        call()
    except NashdexError as error:
        return error
    return None


@pytest.mark.slow
def test_no_answer_is_a_traceback_or_shows_the_access_key(store: S3Store, answer: Answer) -> None:
    bodies = [b"", b"<Error><Code/></Error>", b"<a"]
    bodies += [b"<ListBucketResult><KeyCount>x</KeyCount></ListBucketResult>"]
    headers: list[dict[str, str]] = [{}, {"Location": "http://127.0.0.1:1/", "x-amz-bucket-region": ""}]
    for answer.status, answer.body, answer.headers in product((200, 400, 403), bodies, headers):
        for call in calls(store):
            error = failure(call)
            assert error is None or ACCESS_KEY not in "".join(traceback.format_exception(error))


@pytest.mark.parametrize("body", [b"", b"<?xml version='1.0'?><Error><Co", b"<Error></Error>"])
def test_an_answer_that_an_object_is_missing_needs_no_body(store: S3Store, answer: Answer, body: bytes) -> None:
    answer.status, answer.body = 404, body
    with pytest.raises(NoObjectError):
        store.get("a/key")


def test_an_expired_token_is_one_on_every_request(store: S3Store, answer: Answer) -> None:
    """HEAD has no body to say so."""
    answer.status, answer.body = 400, error_document("ExpiredToken")
    for call in calls(store):
        with pytest.raises(TryAgainError, match="ExpiredToken"):
            call()


@pytest.mark.parametrize(("status", "code"), [(429, "TooManyRequests"), (408, ""), (503, "SlowDown")])
def test_a_server_that_limits_requests_asks_to_try_again(
    store: S3Store, answer: Answer, status: int, code: str
) -> None:
    answer.status, answer.body = status, error_document(code)
    for call in calls(store):
        with pytest.raises(TryAgainError, match=f"{status}.*try again"):
            call()


@pytest.mark.parametrize(("status", "code"), [(404, "NoSuchKey"), (409, "ExistingObjectIsDirectory")])
def test_a_write_whose_folder_is_removed_meanwhile_is_repeated(
    store: S3Store, answer: Answer, status: int, code: str
) -> None:
    """A server over a folder removes a directory with its last object, also under another request's write."""
    answer.status, answer.body, answer.num_times = status, error_document(code), 2
    store.put("a/key", b"data")
    assert answer.requests == ["PUT"] * 3
    answer.status, answer.body, answer.num_times = status, error_document(code), 4
    assert store.put_if_absent("a/key", b"data")
    assert answer.requests == ["PUT"] * 5


def test_a_write_that_meets_others_again_and_again_asks_to_try_again(store: S3Store, answer: Answer) -> None:
    answer.status, answer.body = 409, error_document("ConditionalRequestConflict")
    with pytest.raises(TryAgainError, match="run/a/key: another write or deletion is in progress"):
        store.put_if_absent("a/key", b"data")


def test_an_object_that_another_request_deletes_meanwhile_is_deleted(store: S3Store, answer: Answer) -> None:
    answer.status, answer.body = 404, error_document("NoSuchKey")
    store.delete("a/key")
    answer.body = error_document("NoSuchBucket")
    with pytest.raises(ConfigurationError, match="the bucket does not exist"):
        store.delete("a/key")


def test_hidden_files_of_a_server_over_a_folder_are_not_listed(store: S3Store, answer: Answer) -> None:
    keys = ("run/a/.part.lz4.sgwtmp.17", "run/a/part.lz4", "run/.hidden/part.lz4")
    listed = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in keys)
    answer.body = f"<ListBucketResult>{listed}</ListBucketResult>".encode()
    assert list(store.list("")) == ["a/part.lz4"]


def test_a_body_that_differs_from_its_checksum_is_asked_for_again(store: S3Store, answer: Answer) -> None:
    answer.body, answer.headers = b"corrupted", {"x-amz-checksum-crc32": "AAAAAA=="}
    with pytest.raises(TryAgainError, match="checksum"):
        store.get("key")
    assert len(answer.requests) == 3


def test_a_body_that_stops_is_asked_for_again(hasty: S3Store, answer: Answer) -> None:
    answer.body, answer.headers = b"half of it", {"Content-Length": "20"}
    with pytest.raises(TryAgainError):
        hasty.get("key")
    assert len(answer.requests) == 3


def test_a_silent_server_ends_in_under_two_minutes(hasty: S3Store, answer: Answer) -> None:
    answer.silent_seconds = 1.0
    with pytest.raises(TryAgainError):
        hasty.get("key")
    attempts = 3
    assert attempts * SILENCE_SECONDS < 120, "of botocore, before the first answer"
    assert PATIENCE_SECONDS + attempts * SILENCE_SECONDS < 150


def test_an_object_larger_than_expected_is_not_read(store: S3Store, answer: Answer) -> None:
    answer.body = b"0123456789"
    with pytest.raises(DataError, match="has 10 bytes, expected 5 at most"):
        store.get("key", 5)
    assert store.get("key", 10) == answer.body


def test_a_server_without_etags_is_read_each_time(store: S3Store, answer: Answer) -> None:
    answer.body = b"data"
    assert store.get_if_changed("key", "") == (b"data", "")
    assert store.get_if_changed("key", "old") == (b"data", "")
    with pytest.raises(DataError, match="has 4 bytes, expected 3 at most"):
        store.get_if_changed("key", "old", 3)


def test_a_redirect_without_a_region_is_a_wrong_configuration(store: S3Store, answer: Answer) -> None:
    answer.status, answer.body = 301, b"<Error><Code></Code></Error>"
    with pytest.raises(ConfigurationError):
        store.get("key")
