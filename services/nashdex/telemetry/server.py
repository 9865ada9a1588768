"""A process's telemetry: logs, labels, and /metrics and /healthz from a background thread."""

import json
import socket
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Self

import prometheus_client
from prometheus_client.exposition import choose_encoder

from nashdex.core.errors import ConfigurationError
from nashdex.settings.process import load_telemetry_settings
from nashdex.telemetry.logging import configure_logging
from nashdex.telemetry.metric import identify_process
from nashdex.telemetry.progress import seconds_since_beat


class _Server(ThreadingHTTPServer):
    """Without a host it listens on every address of the machine: a pod may have one of IPv4, of IPv6, or of both."""

    daemon_threads = True

    def __init__(self, host: str, port: int, handler: "type[_Handler]") -> None:
        if not host and socket.has_dualstack_ipv6():
            self.address_family = socket.AF_INET6
        super().__init__((host, port), handler)

    def server_bind(self) -> None:
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


class TelemetryServer:
    """Serves until it is closed or the process ends. /healthz returns 503 after ``stale_seconds`` without progress.

    Raises:
        ConfigurationError: the process cannot listen on the port.
    """

    def __init__(self, port: int, *, stale_seconds: float, host: str = "") -> None:
        class Handler(_Handler):
            healthy_for_seconds = stale_seconds

        try:
            self._server = _Server(host, port, Handler)
        except OSError as error:
            raise ConfigurationError(
                f"NASHDEX_METRICS_PORT {port}: cannot listen on this port ({error.strerror}); choose another port"
            ) from error
        self._thread = Thread(target=self._server.serve_forever, name="telemetry", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port that was bound."""
        return self._server.server_port

    def close(self) -> None:
        """Stop serving and free the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Handler(BaseHTTPRequestHandler):
    healthy_for_seconds: float

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/metrics":
            encode, content_type = choose_encoder(self.headers.get("Accept", ""))
            self._answer(HTTPStatus.OK, content_type, encode(prometheus_client.REGISTRY))
        elif path == "/healthz":
            idle_seconds = seconds_since_beat()
            healthy = idle_seconds <= self.healthy_for_seconds
            body = {
                "status": "ok" if healthy else "stalled",
                "seconds_since_advance": round(idle_seconds, 1),
                "stale_after_seconds": self.healthy_for_seconds,
            }
            status = HTTPStatus.OK if healthy else HTTPStatus.SERVICE_UNAVAILABLE
            self._answer(status, "application/json", json.dumps(body).encode() + b"\n")
        else:
            self._answer(
                HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", b"not found; this server has /metrics and /healthz\n"
            )

    def _answer(self, status: HTTPStatus, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Log nothing: probes come every few seconds."""


def start_telemetry(*, component: str, run: str = "", format: str = "") -> None:  # noqa: A002 - the label's name
    """Configure logs, set the process's labels and, if NASHDEX_METRICS_PORT is set, serve metrics and health.

    Raises:
        ConfigurationError: an environment variable is wrong or the port is taken.
    """
    settings = load_telemetry_settings()
    configure_logging(settings)
    identify_process(run=run, component=component, format=format)
    if settings.metrics_port is not None:
        TelemetryServer(settings.metrics_port, stale_seconds=settings.health_stale_seconds)
