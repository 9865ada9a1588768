"""What ``nashdex bench calibration --json`` measured of a critic, as the board states it."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from nashdex.core.documents import describe_problems
from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, BarePolicyIdField

_MOST_BYTES = 1 << 16


class _Measured(BaseModel):
    """The parts that the board states."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    policy_id: BarePolicyIdField
    is_self_play: bool
    battles: NonNegativeInt
    decisions: NonNegativeInt
    error: float = Field(ge=0, le=1)
    error_low: float = Field(ge=0, le=1)
    error_high: float = Field(ge=0, le=1)


def read_calibrations(files: Iterable[Path]) -> dict[BarePolicyId, str]:
    """Return a sentence for readers by policy.

    Raises:
        DataError: a file cannot be read, or is not what ``nashdex bench calibration --json`` prints.
    """
    return {measured.policy_id: _sentence(measured) for measured in map(_read, files)}


def _read(file: Path) -> _Measured:
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise DataError(f"{file} cannot be read ({error.strerror}); name another --calibration") from error
    if len(content) > _MOST_BYTES:
        raise DataError(f"{file} has more than {_MOST_BYTES:,} bytes; expected what bench calibration --json prints")
    try:
        return _Measured.model_validate_json(content)
    except ValidationError as error:
        raise DataError(
            f"{file} is not what `nashdex bench calibration --json` prints: {describe_problems(error)}"
        ) from error


def _sentence(measured: _Measured) -> str:
    against = "itself" if measured.is_self_play else "another policy"
    error, low, high = (100 * value for value in (measured.error, measured.error_low, measured.error_high))
    return (
        f"In {measured.battles:,} other battles against {against}, {measured.decisions:,} decisions, the expected "
        f"calibration error of that probability is {error:.1f} % ({low:.1f} to {high:.1f})."
    )
