"""Why a file of people's battles is refused."""

from nashdex.core.errors import DataError


class RefusedReplayError(DataError):
    """A file that is no replay, or an unusable replay. ``cause`` is the word by which refusals are counted."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause
