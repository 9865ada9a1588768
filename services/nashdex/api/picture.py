"""One of the report's pictures, as notebooks show it."""

from html import escape
from typing import Final

_HEIGHT_PIXELS: Final = 340


class Picture:
    """A picture of ``Run.draw``. Notebooks show it; ``html`` is a page for a file."""

    def __init__(self, html: str) -> None:
        self.html = html
        """A whole page that loads nothing."""

    def _repr_html_(self) -> str:
        """Return the page in a frame, so that its style stays inside."""
        return f'<iframe width="100%" height="{_HEIGHT_PIXELS}" frameborder="0" srcdoc="{escape(self.html)}"></iframe>'
