"""Rows of one kind, as a tuple and as a pandas frame."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from nashdex.core.errors import ConfigurationError

if TYPE_CHECKING:
    import pandas as pd

Row = TypeVar("Row", bound=NamedTuple)


class Table(tuple[Row, ...]):
    """Rows of one kind. ``frame`` returns them as a pandas frame, which the extra ``pandas`` brings."""

    __slots__ = ()

    def frame(self, columns: Sequence[str] | None = None) -> "pd.DataFrame":
        """Return a frame with one column for each field.

        Args:
            columns: fields to keep; all by default. Name them where there may be no rows.

        Raises:
            ConfigurationError: pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415 - of the extra alone
        except ModuleNotFoundError as error:
            raise ConfigurationError("a frame needs pandas: pip install 'nashdex[pandas]'") from error
        return pd.DataFrame.from_records([row._asdict() for row in self], columns=columns)
