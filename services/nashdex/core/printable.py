"""Text from elsewhere on a terminal, which obeys control characters and may show others in another order."""

import re

from nashdex.core.redaction import redacted

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters but tab and newline, separators of lines, and what changes the direction of text."""


def printable(text: str) -> str:
    r"""Return ``text`` with an escape, such as ``\u001b``, for every character that a terminal would obey.

    JSON means the same afterwards.
    """
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def clean(text: str) -> str:
    """Return ``text`` as people may see it: without secrets and without what a terminal would obey."""
    return printable(redacted(text))
