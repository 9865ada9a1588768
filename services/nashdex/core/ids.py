"""Ids as types. Each is a string that is safe in a key and a file name; run and attempt ids also in a label."""

import re
import uuid
from dataclasses import dataclass
from typing import Annotated, Final, NewType

from pydantic import AfterValidator, StringConstraints

from nashdex.core.errors import ConfigurationError

_BARE = "[a-z0-9][a-z0-9.-]{0,62}"
ID_PATTERN = f"^{_BARE}$"
"""Lower-case letters, digits, dots and dashes; at most 63 characters, as a Kubernetes label allows."""

# One spelling for each temperature above 0 and below 100, and none for 1: no trailing zero, at most three decimals.
_DECIMALS = r"\.[0-9]{0,2}[1-9]"
_TEMPERATURE = rf"(?:0{_DECIMALS}|1{_DECIMALS}|(?:[2-9]|[1-9][0-9])(?:{_DECIMALS})?)"
_NAMESPACE = "(?:[a-z0-9-]{1,20}:)?"
"""Namespace of a kind of scripted policies or of another package, such as ``search:``."""
_POLICY_PATTERN = rf"^{_NAMESPACE}{_BARE}(?:@greedy|@T{_TEMPERATURE})?$"

RunId = NewType("RunId", str)
PolicyId = NewType("PolicyId", str)
"""A policy and how it plays, such as ``p0123``, ``p0123@greedy`` or ``p0123@T0.5``; see ``PlayedPolicy``."""
BarePolicyId = NewType("BarePolicyId", PolicyId)
"""A policy id without a suffix: what a stored policy's keys and documents name."""
AttemptId = NewType("AttemptId", str)

SAMPLED: Final = 1.0
"""The temperature of a policy id without a suffix: actions are drawn from the policy's own distribution."""
_REPLAYS: Final = "replays:"
GREEDY: Final = 0.0
"""The temperature of ``@greedy``: the most probable action, the lowest number of equals."""


def _bare(text: str) -> str:
    if "@" in text:
        raise ValueError(f"{text!r} says how a policy plays; expected the policy itself, {text.partition('@')[0]!r}")
    return text


RunIdField = Annotated[RunId, StringConstraints(pattern=ID_PATTERN)]
PolicyIdField = Annotated[PolicyId, StringConstraints(pattern=_POLICY_PATTERN)]
BarePolicyIdField = Annotated[BarePolicyId, StringConstraints(pattern=_POLICY_PATTERN), AfterValidator(_bare)]
AttemptIdField = Annotated[AttemptId, StringConstraints(pattern=ID_PATTERN)]


@dataclass(frozen=True, slots=True)
class PlayedPolicy:
    """A policy id in its two parts: the policy, and the temperature at which it plays.

    A policy with probabilities p plays each legal action with a probability in proportion to p^(1/temperature).
    """

    policy: BarePolicyId
    temperature: float = SAMPLED
    """``GREEDY``, or above 0 and below 100 with at most three decimals."""

    def __post_init__(self) -> None:
        if "@" in self.policy or not re.fullmatch(_POLICY_PATTERN, self.id):
            raise ConfigurationError(f"{self.id!r} is not a policy id: expected {_EXPECTED_POLICY}")

    @classmethod
    def of(cls, policy: PolicyId) -> "PlayedPolicy":
        """Return the parts of ``policy``.

        Raises:
            ConfigurationError: it is not a policy id, or its suffix is none or not in its one spelling.
        """
        bare, at, style = policy_id(policy).partition("@")
        return cls(BarePolicyId(PolicyId(bare)), temperature_of(bare, style) if at else SAMPLED)

    @property
    def suffix(self) -> str:
        """``@greedy``, ``@T`` and the temperature, or nothing at temperature 1."""
        return style_suffix(self.temperature)

    @property
    def id(self) -> PolicyId:
        """The policy id that has these parts."""
        return PolicyId(f"{self.policy}{self.suffix}")


def run_id(text: str) -> RunId:
    """Return ``text`` as a run id.

    Raises:
        ConfigurationError: it holds characters that a key or label cannot.
    """
    if not re.fullmatch(ID_PATTERN, text):
        raise ConfigurationError(f"run id {text!r} is invalid: expected {_EXPECTED}")
    return RunId(text)


def policy_id(text: str) -> PolicyId:
    """Return ``text`` as a policy id.

    Raises:
        ConfigurationError: it holds characters that a key cannot, or its suffix is none or not in its one spelling.
    """
    if not re.fullmatch(_POLICY_PATTERN, text):
        hint = _hint(text) if re.fullmatch(_POLICY_PATTERN, text.partition("@")[0]) else ""
        raise ConfigurationError(f"policy id {text!r} is invalid: {hint or f'expected {_EXPECTED_POLICY}'}")
    return PolicyId(text)


def replayed_policy(band: str) -> PolicyId:
    """Return the id of whoever played a replay, by band of ratings, such as ``replays:1200-1399``."""
    return PolicyId(f"{_REPLAYS}{band}")


def is_replayed(policy: PolicyId) -> bool:
    """Say whether ``policy`` stands for the players of replays."""
    return policy.startswith(_REPLAYS)


def is_imported(policy: str) -> bool:
    """Say whether an id names a policy from another project, whatever its suffix."""
    return re.match(r"i[0-9a-f]{16}(@|$)", policy) is not None


def is_ensemble(policy: str) -> bool:
    """Say whether an id names an ensemble, whatever its suffix."""
    return re.match(r"e[0-9a-f]{16}(@|$)", policy) is not None


def id_of_text(text: str, max_length: int, otherwise: str) -> str:
    """Return an id made from a name for people; ``otherwise`` if no character of it fits an id."""
    fitting = "".join(c if c.isascii() and (c.isalnum() or c in ".-") else "-" for c in text.lower())
    return fitting.strip(".-")[:max_length] or otherwise


def new_attempt_id() -> AttemptId:
    """Return a random id for one attempt at a shard."""
    return AttemptId(uuid.uuid4().hex[:12])


def temperature_of(policy: str, style: str) -> float:
    """Return the temperature that ``style`` means, which follows ``@`` after ``policy``.

    Raises:
        ConfigurationError: it is not a way to play, or not in its one spelling.
    """
    if style == "greedy":
        return GREEDY
    if not re.fullmatch(f"T{_TEMPERATURE}", style):
        text = f"{policy}@{style}"
        raise ConfigurationError(f"{text!r}: {_hint(text) or f'expected {_EXPECTED_STYLE}'}")
    return float(style.removeprefix("T"))


def style_suffix(temperature: float) -> str:
    """Return ``@greedy``, ``@T`` and the temperature, or nothing at temperature 1."""
    if temperature == SAMPLED:
        return ""
    return "@greedy" if temperature == GREEDY else f"@T{temperature:.12g}"


_EXPECTED = "lower-case letters, digits, '.' and '-', at most 63 characters"
_EXPECTED_STYLE = "'@greedy' or a temperature such as '@T0.5', above 0 and below 100 with at most three decimals"
_EXPECTED_POLICY = f"{_EXPECTED}, and for another way to play {_EXPECTED_STYLE}"


def _hint(text: str) -> str:
    """Return how the suffix of ``text`` is spelled, if it means one; otherwise nothing."""
    bare, _, style = text.partition("@")
    if style.lower() == "greedy":
        style = f"{GREEDY}"
    try:
        temperature = float(style.removeprefix("T").removeprefix("t"))
    except ValueError:
        return ""
    suffix = style_suffix(temperature)
    return f"write {bare + suffix!r}" if re.fullmatch(f"(@greedy|@T{_TEMPERATURE})?", suffix) else ""
