"""One error root. The exit code says what a caller should do next.

| code | meaning |
|---|---|
| 0 | done, or already done |
| 64 | the configuration is wrong: do not retry |
| 65 | the data is wrong: do not retry |
| 70 | nashdex itself broke: a defect to report |
| 75 | try again: something outside was not there |
| 130 | interrupted by Ctrl-C: try again |
| 143 | stopped by a signal after saving: try again |
"""

from enum import IntEnum
from typing import ClassVar


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
    """What nashdex raises on purpose. The message says what was wrong, what was expected and what to do."""

    exit_code: ClassVar[ExitCode]


class ConfigurationError(NashdexError):
    """A setting, argument or name is wrong. Trying again cannot help."""

    exit_code = ExitCode.CONFIGURATION


class DataError(NashdexError):
    """A file or object is missing, altered or does not say what it should."""

    exit_code = ExitCode.DATA


class InternalError(NashdexError):
    """A part of nashdex broke in a way that nobody planned for."""

    exit_code = ExitCode.INTERNAL


class TryAgainError(NashdexError):
    """Something outside (a store, a gateway) was not there. The same command may succeed later."""

    exit_code = ExitCode.TRY_AGAIN


class StoppedError(NashdexError):
    """The process was asked to stop and saved what it had."""

    exit_code = ExitCode.STOPPED


class InterruptedByUserError(StoppedError):
    """The person at the terminal pressed Ctrl-C; everything was stopped in order."""

    exit_code = ExitCode.INTERRUPTED
