"""JSON documents: frozen pydantic models with a schema version, unknown keys refused."""

from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from nashdex.core.errors import DataError

_MOST_PROBLEMS = 8


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
        try:
            document = cls.model_validate_json(data)
        except ValidationError as error:
            raise DataError(f"{source} is not a valid {cls.__name__}: {describe_problems(error)}") from error
        known = cls.model_fields["schema_version"].default
        if document.schema_version != known:
            raise DataError(f"{source} has schema version {document.schema_version}; this nashdex reads {known}")
        return document


def describe_problems(error: ValidationError) -> str:
    """Return the first problems that pydantic found, as one line: key, problem and the given value."""
    parts = []
    problems = error.errors(include_url=False)
    for problem in problems[:_MOST_PROBLEMS]:
        where = ".".join(str(part) for part in problem["loc"]) or "the document"
        given = problem.get("input")
        shown = "" if isinstance(given, dict | list | bytes) or problem["type"] == "missing" else f" (got {given!r})"
        what = "no such key" if problem["type"] == "extra_forbidden" else problem["msg"]
        parts.append(f"{where}: {what}{shown}")
    if len(problems) > _MOST_PROBLEMS:
        parts.append(f"and {len(problems) - _MOST_PROBLEMS} more problems")
    return "; ".join(parts)
