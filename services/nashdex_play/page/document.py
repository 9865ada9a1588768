"""What a page says of its policies, as the page's scripts read it, and the page's HTML."""

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Mapping
from typing import Any, Literal

from nashdex.core.documents import Model
from nashdex_play.page.bundle import Bundle

_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; script-src {script} blob: 'wasm-unsafe-eval'; "
    "worker-src blob:; style-src {style}"
)
"""Nothing is loaded: the engine's worker comes from the page itself, as a blob."""


class PageMixture(Model):
    """One policy of a mixture or of an ensemble, or what a search is around."""

    policy: str
    weight: float = 1.0


class PageChances(Model):
    """A map of its critic's chances (``nashdex_play.calibration``) against one opponent."""

    against: str | None
    """The opponent, as a battle names its players; None: the policy itself."""
    slope: float
    intercept: float


class PagePolicy(Model):
    """A policy that a page plays."""

    id: str
    name: str
    kind: Literal["network", "random", "max-power", "mixture", "ensemble", "search"]
    rating: str | None = None
    network: str | None = None
    """Name of its ONNX data."""
    temperature: float = 1.0
    memory_sizes: tuple[int, ...] = ()
    reward: str = ""
    """Reward predicted by its critic."""
    chances: tuple[PageChances, ...] = ()
    """Maps to calibrated chances, the policy itself first; empty where they were not measured."""
    calibration: str | None = None
    """Sentence on how far its critic's win probability can be believed; None where it was not measured."""
    level: int | None = None
    """Number of the level, the weakest first, of a temperature that was measured; None otherwise."""
    members: tuple[PageMixture, ...] = ()
    """Members of a mixture, which draws one for each battle; of an ensemble; or what a search is around."""
    is_part: bool = False
    """Whether it plays only as a member of an ensemble or inside a search."""
    nodes: int = 0
    """Budget of a search, in nodes."""
    milliseconds: float = 0.0
    """The same in milliseconds; 0: its nodes alone count."""


def page_halves(
    bundle: Bundle, policies: list[PagePolicy], networks: Mapping[str, bytes], teams: list[str]
) -> tuple[str, str]:
    """Return the page before and after the battle that it opens: a battle's text as JSON without ``<``, or null.

    A person plays against the first of ``policies`` until another is chosen. ``networks`` are ONNX by the policies'
    names for them. ``teams`` are empty where the simulator generates them.
    """
    data = {
        "format": bundle.format,
        "policies": [policy.model_dump(mode="json") for policy in policies],
        "networks": list(networks),
        "teams": teams,
    }
    policy = _CONTENT_SECURITY_POLICY.format(script=_source_of(bundle.script), style=_source_of(bundle.style))
    blocks = {"engine": bundle.engine, "runtime": bundle.runtime}
    blocks |= {f"network-{name}": onnx for name, onnx in networks.items()}
    title = f"Play {bundle.format} · nashdex"
    before = "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{html.escape(title)}</title><style>{bundle.style}</style></head><body>",
            f"<header><h1>{html.escape(title)}</h1></header>",
            '<main><p role="status">Opening the simulator and the policies …</p>',
            "<noscript><p>This page plays battles with JavaScript: allow it for this file.</p></noscript></main>",
            "<footer>Everything runs in this page: it sends nothing and loads nothing.</footer>",
            f'<script type="application/json" id="page">{as_data(data)}</script>',
            *(f'<script type="text/plain" id="{name}">{_packed(block)}</script>' for name, block in blocks.items()),
            '<script type="application/json" id="battle">',
        ]
    )
    return before, f"</script>\n<script>{bundle.script}</script></body></html>"


def _source_of(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def as_data(data: Any) -> str:  # noqa: ANN401
    """Return JSON that no HTML parser leaves early."""
    return json.dumps(data).replace("<", "\\u003c")


def _packed(block: bytes) -> str:
    return base64.b64encode(gzip.compress(block, mtime=0)).decode()
