"""The ends of the ranges of settings."""

from collections.abc import Iterator

from annotated_types import Ge, Gt, Le, Lt, MultipleOf
from pydantic.fields import FieldInfo


def ends(field: FieldInfo, *, most: int) -> Iterator[float]:
    """Yield each end of a number's range that is in it, or the nearest value that is.

    Args:
        field: of a section of the settings.
        most: of a whole number, so that no test counts to a billion.
    """
    whole = field.annotation is int
    step = next((part.multiple_of for part in field.metadata if isinstance(part, MultipleOf)), 1 if whole else 1e-9)
    for bound in field.metadata:
        match bound:
            case Ge(ge=end) | Le(le=end):
                value = end
            case Gt(gt=end):
                value = end + step
            case Lt(lt=end):
                value = end - step
            case _:
                continue
        yield min(int(value), most) if whole else value
