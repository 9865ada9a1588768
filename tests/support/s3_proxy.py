"""A proxy in front of an S3 server that fails some requests, as networks and servers do."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Literal
from urllib.parse import urlsplit

Fault = Literal["refused", "server error", "lost answer", "truncated", "slow"]
"""Closed before the request is passed on; 500 instead of passing it on; passed on, and closed; half the body; late."""
FAULTS: tuple[Fault, ...] = ("refused", "server error", "lost answer", "truncated", "slow")
_SLOW_SECONDS = 0.3


class S3Proxy:
    """Faults drawn from a seed: each request has one with probability ``share``."""

    def __init__(self, endpoint: str, share: float, seed: int) -> None:
        self.endpoint = urlsplit(endpoint)
        self.injected: Counter[str] = Counter()
        """Faults by ``METHOD fault``."""
        self.answers: Counter[str] = Counter()
        """Answers that were passed on, by ``METHOD status``."""
        self.content_bytes = 0
        """Of the bodies of these answers."""
        self._share = share
        self._generator = random.Random(seed)
        self._lock = Lock()

    def count(self, method: str, status: int, content: bytes) -> None:
        """Count an answer."""
        with self._lock:
            self.answers[f"{method} {status}"] += 1
            self.content_bytes += len(content)

    def draw(self, method: str) -> Fault | None:
        """Return the fault of the next request, and count it."""
        with self._lock:
            if self._generator.random() >= self._share:
                return None
            fault = self._generator.choice(FAULTS)
            self.injected[f"{method} {fault}"] += 1
            return fault


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, proxy: S3Proxy) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.server.proxy.draw(self.command)
        if fault == "refused":
            self.close_connection = True
            return
        if fault == "server error":
            self.answer(500, [], b"<Error><Code>InternalError</Code><Message>try again</Message></Error>")
            return
        if fault == "slow":
            time.sleep(_SLOW_SECONDS)
        response, content = self.ask(body)
        if fault == "lost answer":
            self.close_connection = True
            return
        self.server.proxy.count(self.command, response.status, content)
        self.answer(response.status, response.getheaders(), content, cut=fault == "truncated")

    def ask(self, body: bytes) -> tuple[HTTPResponse, bytes]:
        endpoint = self.server.proxy.endpoint
        connection = HTTPConnection(str(endpoint.hostname), endpoint.port)
        try:
            connection.request(self.command, self.path, body, dict(self.headers))
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()

    def answer(self, status: int, headers: list[tuple[str, str]], content: bytes, *, cut: bool = False) -> None:
        self.send_response_only(status)
        kept = [
            each for each in headers if each[0].lower() not in {"content-length", "connection", "transfer-encoding"}
        ]
        length = next((value for name, value in headers if name.lower() == "content-length"), str(len(content)))
        for name, value in [*kept, ("Content-Length", length if self.command == "HEAD" else str(len(content)))]:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if cut else content)
        self.close_connection = self.close_connection or cut

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = pass_on  # noqa: N815 - the base class's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


@contextmanager
def s3_proxy(endpoint: str, share: float, seed: int) -> Iterator[tuple[str, S3Proxy]]:
    """Serve a proxy of ``endpoint``; yield its URL, and itself."""
    proxy = S3Proxy(endpoint, share, seed)
    server = _Server(proxy)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
