"""The errors that nashdex raises on purpose, and the exit codes of its commands.

| code | meaning |
|---|---|
| 0 | done, or already done |
| 64 | the configuration is wrong: do not retry |
| 65 | the data is wrong: do not retry |
| 70 | unexpected error: please report the bug |
| 75 | something outside was unavailable: try again |
| 130 | interrupted by Ctrl-C: try again |
| 143 | stopped by a signal after saving: try again |
"""

from enum import IntEnum
from typing import ClassVar

from nashdex.core.redaction import redacted


class ExitCode(IntEnum):
    """Exit codes of every nashdex command (64, 65, 70 and 75 as in BSD's sysexits.h)."""

    OK = 0
    CONFIGURATION = 64
    DATA = 65
    INTERNAL = 70
    TRY_AGAIN = 75
    INTERRUPTED = 130
    STOPPED = 143


class NashdexError(Exception):
    """Root of the errors that nashdex raises on purpose. Messages say what was wrong, expected, and to be done.

    ``str`` gives the message without secrets: logs, verdicts, reports and terminals all take it from there.
    """

    exit_code: ClassVar[ExitCode]

    def __str__(self) -> str:
        return redacted(super().__str__())


class ConfigurationError(NashdexError):
    """A setting, argument or name is wrong. Do not retry."""

    exit_code = ExitCode.CONFIGURATION


class DataError(NashdexError):
    """A file or object is missing, altered or invalid. Do not retry."""

    exit_code = ExitCode.DATA


class NoObjectError(DataError):
    """A store has no object under a key."""


class InternalError(NashdexError):
    """A bug in nashdex."""

    exit_code = ExitCode.INTERNAL


class TryAgainError(NashdexError):
    """Something outside (a store, a gateway) was unavailable. The same command may succeed later."""

    exit_code = ExitCode.TRY_AGAIN


class StoppedError(NashdexError):
    """The process received a signal to stop, and saved its work."""

    exit_code = ExitCode.STOPPED


class InterruptedByUserError(StoppedError):
    """The user pressed Ctrl-C; every process was stopped cleanly."""

    exit_code = ExitCode.INTERRUPTED
