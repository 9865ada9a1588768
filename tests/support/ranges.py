"""The ends of the ranges of settings."""

from collections.abc import Iterator
from typing import cast

from annotated_types import Ge, Gt, Le, Lt, MultipleOf
from pydantic.fields import FieldInfo


def ends(field: FieldInfo, *, most: int) -> Iterator[float]:
    """Yield each end of a number's range that is in it, or the nearest value that is.

    Args:
        field: of a section of the settings.
        most: of a whole number, so that no test counts to a billion.
    """
    whole = field.annotation is int
    steps = [cast("float", part.multiple_of) for part in field.metadata if isinstance(part, MultipleOf)]
    step = steps[0] if steps else 1 if whole else 1e-9
    for bound in field.metadata:
        match bound:
            case Ge(ge=end) | Le(le=end):
                value = cast("float", end)
            case Gt(gt=end):
                value = cast("float", end) + step
            case Lt(lt=end):
                value = cast("float", end) - step
            case _:
                continue
        yield min(int(value), most) if whole else value
