"""One drawing as inline SVG."""

from collections.abc import Sequence

from markupsafe import Markup


def svg(label: str, parts: Sequence[Markup], width: int, height: int) -> Markup:
    """Return ``parts`` as one drawing; ``label`` describes it to screen readers."""
    return Markup('<svg role="img" aria-label="{}" viewBox="0 0 {} {}">{}</svg>').format(
        label, width, height, Markup("").join(parts)
    )
