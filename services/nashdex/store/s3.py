"""Objects in an S3 bucket, of AWS or of any server that answers ``If-None-Match: *`` on a put with 412.

Credentials, region and endpoint come from the sources of every AWS tool (environment, ``~/.aws``, web identity):
``AWS_ENDPOINT_URL_S3`` or ``AWS_ENDPOINT_URL`` name another server. This is the only module that imports boto3.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, TypedDict

import boto3
from botocore import exceptions as botocore_errors
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from tenacity import retry, retry_if_exception_type, stop_after_attempt, stop_after_delay, wait_random_exponential

from nashdex.core.errors import ConfigurationError, NashdexError, NoObjectError, TryAgainError
from nashdex.store.naming import check_key, check_prefix, too_large

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_BROKEN_BODY = (
    botocore_errors.IncompleteReadError,
    botocore_errors.ResponseStreamingError,
    botocore_errors.ReadTimeoutError,
    botocore_errors.FlexibleChecksumError,
)
"""A body that ends early, stops or differs from its checksum. botocore retries requests, but not bodies."""
_UNREACHABLE = (
    *_BROKEN_BODY,
    botocore_errors.HTTPClientError,
    botocore_errors.ConnectionError,
    botocore_errors.CredentialRetrievalError,
    botocore_errors.MetadataRetrievalError,
)
_TRANSIENT_CODES = {
    "ExpiredToken",
    "ExpiredTokenException",
    "OperationAborted",
    "ConditionalRequestConflict",
    "RequestTimeout",
    "SlowDown",
}
_TRANSIENT_STATUSES = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}
"""Servers other than AWS's limit requests by 429, with various codes, and the answer to HEAD has none."""
_NO_OBJECT = {"NoSuchKey", "NotFound"}
_SERVER_ERROR = 500
SILENCE_SECONDS = 30
"""Longest wait for a server to send anything."""
PATIENCE_SECONDS = 40
"""No body is asked for again after this."""

_REMEDIES = {
    "NoSuchBucket": "the bucket does not exist: create it, or check the URI",
    "InvalidAccessKeyId": "unknown access key: check the credentials and the endpoint",
    "XAdminUserNotFound": "unknown access key: check the credentials and the endpoint",  # versitygw
    "SignatureDoesNotMatch": "the secret key does not match the access key: check the credentials",
    "InvalidToken": "the session token is wrong: check the credentials",
    "PermanentRedirect": "the bucket is in another region: check AWS_REGION",
    "AuthorizationHeaderMalformed": "the bucket is in another region: check AWS_REGION",
    "RequestTimeTooSkewed": "this machine's clock is wrong",
}
_REMEDIES_BY_STATUS: dict[int, str] = {
    HTTPStatus.BAD_REQUEST: "check AWS_REGION, then the URI",  # the only answer to HEAD from another region's bucket
    HTTPStatus.UNAUTHORIZED: "check the credentials",
    HTTPStatus.FORBIDDEN: "the credentials are wrong or lack permission: check them and the bucket's policy",
    HTTPStatus.NOT_IMPLEMENTED: "the server lacks a needed feature, such as conditional writes (If-None-Match)",
}


class _Conditions(TypedDict, total=False):
    """Conditions of a GET."""

    IfNoneMatch: str


class _ConflictError(TryAgainError):
    """Another write or deletion of the same key, or beside it, is in progress; the client is to retry.

    S3 answers 409 to a conditional write. A server over a folder answers 409 or 404 to any write whose folder another
    request removes as empty.
    """


_write = retry(
    retry=retry_if_exception_type(_ConflictError),
    stop=stop_after_attempt(8),
    wait=wait_random_exponential(multiplier=0.05, max=2),
    reraise=True,
)
"""Repeats a write while it meets another one."""


class S3Store:
    """An ObjectStore below a prefix of a bucket. Safe to share between threads.

    botocore retries failed requests with backoff (AWS_MAX_ATTEMPTS attempts, three by default). So ``put_if_absent``
    can return False although an earlier attempt of the same call wrote the object and only its response was lost. A
    caller that needs to know compares the stored object with its own.
    """

    def __init__(self, bucket: str, prefix: str, client: "S3Client | None" = None) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._bucket_seen = False
        try:
            self._client = client or _new_client()
        except (BotoCoreError, ValueError) as error:
            raise ConfigurationError(f"{self.uri}: the S3 client's configuration is wrong: {error}") from error

    @property
    def uri(self) -> str:
        """``s3://bucket/prefix``."""
        return f"s3://{self._bucket}/{self._prefix}".rstrip("/")

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        """Return an object. Raises NoObjectError if there is none, DataError if it is larger: it is not read whole."""
        with self._explained(key):
            return self._read(key, max_bytes, {})[0]

    def get_if_changed(self, key: str, tag: str, max_bytes: int | None = None) -> tuple[bytes, str] | None:
        """Return an object and its ETag; None if that is still ``tag``. Then the server answers 304 without a body.

        From a server without ETags, or one that ignores ``If-None-Match`` on a GET, every call reads the object.
        """
        with self._explained(key):
            try:
                return self._read(key, max_bytes, {"IfNoneMatch": tag} if tag else {})
            except ClientError as error:
                if _status(error) == HTTPStatus.NOT_MODIFIED:
                    return None
                raise

    def _read(self, key: str, max_bytes: int | None, conditions: _Conditions) -> tuple[bytes, str]:
        """Return an object and its ETag, "" if it has none."""
        place = self._place(key)

        # botocore repeats requests, not bodies. A server that goes silent costs less than two minutes.
        @retry(
            retry=retry_if_exception_type(_BROKEN_BODY),
            stop=stop_after_attempt(3) | stop_after_delay(PATIENCE_SECONDS),
            wait=wait_random_exponential(multiplier=0.2, max=5),
            reraise=True,
        )
        def fetch() -> tuple[bytes, str]:
            answer = self._client.get_object(Bucket=self._bucket, Key=place, **conditions)
            if max_bytes is not None and answer["ContentLength"] > max_bytes:
                answer["Body"].close()
                raise too_large(f"{self.uri}/{key}", answer["ContentLength"], max_bytes)
            return answer["Body"].read(), answer.get("ETag", "")

        return fetch()

    def exists(self, key: str) -> bool:
        """Say whether there is an object."""
        place = self._place(key)
        with self._explained(key):
            try:
                self._client.head_object(Bucket=self._bucket, Key=place)
            except ClientError as error:
                if _status(error) == HTTPStatus.BAD_REQUEST:
                    # A HEAD response has no body, so an expired token looks like a wrong region: ask in another way.
                    self._client.list_objects_v2(Bucket=self._bucket, Prefix=place, MaxKeys=1)
                if _status(error) != HTTPStatus.NOT_FOUND:
                    raise
            else:
                return True
            # For the same reason a missing bucket looks like a missing object: check once.
            if not self._bucket_seen:
                self._client.list_objects_v2(Bucket=self._bucket, Prefix=place, MaxKeys=1)
                self._bucket_seen = True
            return False

    @_write
    def put(self, key: str, data: bytes) -> None:
        """Write an object, replacing what was there."""
        place = self._place(key)
        with self._explained(key):
            try:
                self._client.put_object(Bucket=self._bucket, Key=place, Body=data)
            except ClientError as error:
                raise self._conflict(error, key) or error from None

    @_write
    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object unless there is one; return whether this call wrote it."""
        place = self._place(key)
        with self._explained(key):
            try:
                self._client.put_object(Bucket=self._bucket, Key=place, Body=data, IfNoneMatch="*")
            except ClientError as error:
                if _status(error) == HTTPStatus.PRECONDITION_FAILED:
                    return False
                raise self._conflict(error, key) or error from None
        return True

    def _conflict(self, error: ClientError, key: str) -> _ConflictError | None:
        """Return the error to retry, if a write failed because another request was in progress."""
        if _status(error) == HTTPStatus.CONFLICT or _code(error) in _NO_OBJECT:
            return _ConflictError(f"{self.uri}/{key}: another write or deletion is in progress; try again")
        return None

    def delete(self, key: str) -> None:
        """Remove an object; one that does not exist is no error."""
        place = self._place(key)
        with self._explained(key):
            try:
                self._client.delete_object(Bucket=self._bucket, Key=place)
            except ClientError as error:
                if _code(error) not in _NO_OBJECT:  # a server over a folder says so when two requests delete at once
                    raise

    def delete_folder(self, folder: str) -> None:
        """Remove every object whose key begins with ``folder`` and a slash."""
        for key in [*self.list(f"{check_key(folder)}/")]:
            self.delete(key)

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in the order of their bytes."""
        base = f"{self._prefix}/" if self._prefix else ""
        place = base + check_prefix(prefix)
        with self._explained(prefix):
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=place):
                keys = [entry["Key"].removeprefix(base) for entry in page.get("Contents", [])]
                # Consoles create empty objects whose keys end in '/' to represent folders. A server over a folder may
                # list the hidden files that it is writing.
                yield from (key for key in keys if not key.endswith("/") and "/." not in f"/{key}")

    def folders(self) -> Iterator[str]:
        """Yield the first segment of every key that has several, once each and in the order of their bytes."""
        base = f"{self._prefix}/" if self._prefix else ""
        with self._explained(""):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=base, Delimiter="/"
            )
            for page in pages:
                yield from (entry["Prefix"].removeprefix(base).rstrip("/") for entry in page.get("CommonPrefixes", []))

    def at(self, prefix: str) -> "S3Store":
        """Return the same store rooted at ``prefix``."""
        return S3Store(self._bucket, self._place(prefix), self._client)

    def _place(self, key: str) -> str:
        return f"{self._prefix}/{check_key(key)}" if self._prefix else check_key(key)

    @contextmanager
    def _explained(self, key: str) -> Iterator[None]:
        """Turn botocore's exceptions into nashdex errors. Messages never contain credentials."""
        try:
            yield
        except ClientError as error:
            # Without its cause: a traceback would show its text, and the text can quote the access key.
            raise self._explain(error, key) from None
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError, ResponseParserError) as error:
            # botocore reads fields that the answer need not have, such as a redirect's region.
            raise ConfigurationError(
                f"{self._where()}: the server's answer is not S3's ({type(error).__name__}: {error}); check the "
                "endpoint and AWS_REGION"
            ) from error
        except botocore_errors.SSLError as error:
            raise ConfigurationError(f"{self._where()}: the server's certificate is not trusted: {error}") from error
        except _UNREACHABLE as error:
            raise TryAgainError(f"{self._where()} cannot be reached: {error}") from error
        except BotoCoreError as error:
            raise ConfigurationError(f"{self._where()}: {error}; check the variables AWS_… and ~/.aws") from error

    def _explain(self, error: ClientError, key: str) -> NashdexError:
        """Return the error behind a response. Its own text is left out because it can quote the access key."""
        code, status = _code(error), _status(error)
        has_no_code = not code or code.isdigit()  # the body with the code may be lost, and some servers send none
        is_missing = has_no_code and status == HTTPStatus.NOT_FOUND and error.operation_name == "GetObject"
        if is_missing or code in _NO_OBJECT:
            return NoObjectError(f"{self.uri}/{key} does not exist")
        named = "" if has_no_code else f" {code}"
        where = f"{self._where()} refused a request about {key!r} ({status}{named})"
        is_transient = code in _TRANSIENT_CODES or status in _TRANSIENT_STATUSES
        if is_transient or (status >= _SERVER_ERROR and status != HTTPStatus.NOT_IMPLEMENTED):
            return TryAgainError(f"{where}; try again")
        return ConfigurationError(f"{where}; {_REMEDIES.get(code) or _REMEDIES_BY_STATUS.get(status, 'check the URI')}")

    def _where(self) -> str:
        return f"{self.uri} at {self._client.meta.endpoint_url}"


def _new_client() -> "S3Client":
    config = Config(
        retries={"mode": "standard"},  # AWS_MAX_ATTEMPTS sets the number of attempts
        connect_timeout=5,
        read_timeout=SILENCE_SECONDS,
        max_pool_connections=32,
        user_agent_extra="nashdex",
    )
    # boto3 reads AWS_DEFAULT_REGION only; other AWS tools and pod identity set AWS_REGION.
    region = os.environ.get("AWS_REGION") or None
    return boto3.session.Session(region_name=region).client("s3", config=config)


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code") or "")


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") or 0)
