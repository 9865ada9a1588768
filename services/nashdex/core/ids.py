"""Ids as types. Each is a string that is safe in a key, a label and a file name."""

import re
import uuid
from typing import Annotated, NewType

from pydantic import StringConstraints

from nashdex.core.errors import ConfigurationError

ID_PATTERN = r"^[a-z0-9][a-z0-9.-]{0,62}$"
"""Lower-case letters, digits, dots and dashes; at most 63 characters, as a Kubernetes label allows."""

RunId = NewType("RunId", str)
PolicyId = NewType("PolicyId", str)
AttemptId = NewType("AttemptId", str)

RunIdField = Annotated[RunId, StringConstraints(pattern=ID_PATTERN)]
PolicyIdField = Annotated[PolicyId, StringConstraints(pattern=ID_PATTERN)]
AttemptIdField = Annotated[AttemptId, StringConstraints(pattern=ID_PATTERN)]


def run_id(text: str) -> RunId:
    """Return ``text`` as a run id.

    Raises:
        ConfigurationError: it holds characters that a key or label cannot.
    """
    return RunId(_checked(text, "run id"))


def policy_id(text: str) -> PolicyId:
    """Return ``text`` as a policy id.

    Raises:
        ConfigurationError: it holds characters that a key or label cannot.
    """
    return PolicyId(_checked(text, "policy id"))


def _checked(text: str, what: str) -> str:
    if not re.fullmatch(ID_PATTERN, text):
        raise ConfigurationError(
            f"{what} {text!r} is invalid: expected lower-case letters, digits, '.' and '-', at most 63 characters"
        )
    return text


def new_attempt_id() -> AttemptId:
    """Return a random id for one attempt at a shard."""
    return AttemptId(uuid.uuid4().hex[:12])
