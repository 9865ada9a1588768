"""JSON documents: frozen pydantic models with a schema version, unknown keys refused."""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from nashdex.core.errors import DataError
from nashdex.core.user_input import did_you_mean, shorten

_MOST_PROBLEMS = 8
_WORDS: Final = {
    "extra_forbidden": "no such key",
    "int_parsing": "expected an integer",
    "int_from_float": "expected an integer",
    "float_parsing": "expected a number",
    "bool_parsing": "expected true or false",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "missing": "missing; expected a value",
    "union_tag_not_found": "missing; expected a value",
}
"""Clearer messages for some of pydantic's types of problems."""
_MOST_DIGITS: Final = 20
"""Most digits of an integer of 64 bits."""
_LONG_RUN: Final = b"0" * (_MOST_DIGITS + 1)
_DIGITS_AS_ZEROS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_INTEGER: Final = re.compile(rb"[\[:,\s-]\d{%d}" % (_MOST_DIGITS + 1))
_OF_KINDS: Final = ("union_tag_invalid", "union_tag_not_found")
"""Types of problems with the key that chooses the kind of a section."""


class Model(BaseModel):
    """A part of a document: frozen, unknown keys refused, NaN and infinity refused."""

    # Built on first use: a process imports dozens of documents and reads a few.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Document(Model):
    """A whole JSON document. A subclass that changes its meaning raises ``schema_version``'s default."""

    schema_version: int = 1

    def to_json(self) -> bytes:
        """Return the document as indented UTF-8 JSON with a final newline."""
        return self.model_dump_json(indent=2).encode() + b"\n"

    @classmethod
    def from_json(cls, data: bytes, source: str) -> Self:
        """Parse ``data``; ``source`` names it in errors.

        Raises:
            DataError: it is not JSON, has another schema version, or does not match the model.
        """
        _refuse_long_integers(data, source)
        try:
            document = cls.model_validate_json(data)
        except ValidationError as error:
            raise DataError(f"{source} is not a valid {cls.__name__}: {describe_problems(error)}") from error
        known = cls.model_fields["schema_version"].default
        if document.schema_version != known:
            raise DataError(f"{source} has schema version {document.schema_version}; this nashdex reads {known}")
        return document


class SealedDocument(Document):
    """A document that holds the hash of its own content, so that one changed value shows.

    Manifests are sealed: they name every other object with its hash, and nothing names them.
    """

    content_sha256: str | None = Field(
        None, pattern=r"^[0-9a-f]{64}$", description="Hash of all other keys and values."
    )

    _seal: ClassVar = "content_sha256"

    def to_json(self) -> bytes:
        """Return the document as indented UTF-8 JSON with its seal and a final newline."""
        content = self.model_dump(mode="json", exclude={self._seal})
        return json.dumps({**content, self._seal: _digest(content)}, indent=2, ensure_ascii=False).encode() + b"\n"

    @classmethod
    def from_json(cls, data: bytes, source: str) -> Self:
        """Parse ``data`` and check its seal; ``source`` names it in errors.

        Raises:
            DataError: it is not JSON, has another schema version, does not match the model, or was altered.
        """
        document = super().from_json(data, source)
        content = json.loads(data)
        expected = content.pop(cls._seal, None)
        digest = _digest(content)
        if digest != expected:
            raise DataError(f"{source} was altered: the hash of its content is {digest}, it says {expected}")
        return document


def _refuse_long_integers(data: bytes, source: str) -> None:
    """Refuse integers that neither a float nor an array holds, before anything computes with them.

    Raises:
        DataError: ``data`` has one of more than ``_MOST_DIGITS`` digits.
    """
    # Cheap first, for documents of megabytes. A hash holds many digits too, but not after what begins a number.
    if _LONG_RUN not in data.translate(_DIGITS_AS_ZEROS) or not _LONG_INTEGER.search(data):
        return

    def read(digits: str) -> int:
        if len(digits.removeprefix("-")) > _MOST_DIGITS:
            raise DataError(f"{source} has an integer of {len(digits)} digits; expected {_MOST_DIGITS} at most")
        return int(digits)

    with suppress(ValueError, RecursionError):  # not JSON, which the parser explains better
        json.loads(data, parse_int=read)


def nearest_keys(known: Collection[str]) -> Callable[[ErrorDetails], str]:
    """Return a hint for ``describe``: the ``known`` keys that are near an unknown one."""

    def hint(problem: ErrorDetails) -> str:
        if problem["type"] != "extra_forbidden":
            return ""
        near = did_you_mean(str(problem["loc"][-1]), known, most=1)
        return f"; {near.rstrip()}" if near else ""

    return hint


def _digest(content: dict[str, Any]) -> str:
    """Return the sha256 of JSON values, whatever their order and spacing in the file."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _where(problem: ErrorDetails) -> str:
    """Return the key of ``problem`` with a colon; nothing where a message of our own is about the whole document."""
    parts = [str(part) for part in problem["loc"]]
    if problem["type"] in _OF_KINDS:
        discriminator = str(problem["ctx"]["discriminator"])  # such as 'kind', quotes included
        parts += [discriminator.strip("'")] if discriminator.startswith("'") else []
    if not parts and problem["type"] == "value_error":
        return ""
    return f"{'.'.join(parts) or 'the document'}: "


def _what(problem: ErrorDetails) -> str:
    """Return ``problem`` as the rest of a sentence about its key."""
    facts = problem.get("ctx", {})
    match problem["type"]:
        case "too_short":
            return f"expected at least {_counted(facts['min_length'], 'item')}, not {facts['actual_length']}"
        case "string_too_short":
            return f"expected at least {_counted(facts['min_length'], 'character')}"
        case "union_tag_invalid":
            return f"{'' if facts['tag'] else 'missing; '}expected one of {facts['expected_tags']}"
    plain = problem["msg"].removeprefix("Value error, ").replace("Input should be", "must be", 1)
    if plain.startswith("must be a valid dictionary"):  # or a class's name, of values that are no JSON
        return "expected a table of keys and values"
    return _WORDS.get(problem["type"], plain)


def _follows_from_items(problem: ErrorDetails, problems: Sequence[ErrorDetails]) -> bool:
    """Say whether a list is too short only because some of its items have problems: pydantic counts the others."""
    place = problem["loc"]
    return problem["type"] == "too_short" and any(
        len(one["loc"]) > len(place) and one["loc"][: len(place)] == place for one in problems
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _given(problem: ErrorDetails) -> str:
    """Return the value that was given, where it is short."""
    given = problem.get("input")
    if problem["type"] == "union_tag_invalid":
        given = problem["ctx"]["tag"] or {}
    return "" if isinstance(given, dict | list | bytes) or problem["type"] == "missing" else f" (got {shorten(given)})"


def describe_problems(error: ValidationError) -> str:
    """Return the first problems that pydantic found, as one line: key, problem and the given value."""
    return describe(error.errors(include_url=False))


def describe(problems: Sequence[ErrorDetails], hint: Callable[[ErrorDetails], str] = lambda _problem: "") -> str:
    """Return the first of ``problems`` as one line: key, problem, the given value and a hint."""
    problems = [one for one in problems if not _follows_from_items(one, problems)]
    parts = [f"{_where(one)}{_what(one)}{_given(one)}{hint(one)}" for one in problems[:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        parts.append(f"and {len(problems) - _MOST_PROBLEMS} more problems")
    return "; ".join(parts)
