"""Why a file of people's battles is refused."""

from nashdex.core.errors import DataError


class RefusedReplayError(DataError):
    """A file that is not a replay, or one that cannot be used. ``cause`` is the word by which refusals are counted."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause
