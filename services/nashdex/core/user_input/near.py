"""Names that a user may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str], most: int = 3, similarity: float = 0.6) -> str:
    """Return a question with at most ``most`` of the ``known`` names that are near ``name``, and a space; or nothing.

    Args:
        name: what the user wrote.
        known: names to choose from.
        most: names in the question.
        similarity: from 0 to 1, as ``difflib`` measures it; names below are not near.
    """
    near = get_close_matches(name.lower(), list(known), most, similarity)
    if not near:
        return ""
    *others, last = near
    return f"did you mean {', '.join(others)} or {last}? " if others else f"did you mean {last}? "
