"""Showdown replays: one HTML file a battle, in the layout that Showdown's own "download replay" writes.

With a network the official player animates it. Without one, the log below the player is readable.

The player changes without a version and loads further scripts, so the page cannot name its hash. A policy of the page
allows that one host alone: nothing is sent or loaded elsewhere, and no script of the battle's text runs.
"""

import base64
import hashlib
from html import escape

PLAYER_HOST = "https://play.pokemonshowdown.com"
PLAYER_URL = f"{PLAYER_HOST}/js/replay-embed.js"
"""The official replay player. It reads the script block of class ``battle-log-data``."""

_STYLE = """
html, body { margin: 0; padding: 0; font: 10pt Verdana, sans-serif; background: white; color: black; }
body { padding: 12px 0; }
h1 { font-weight: normal; font-size: 14pt; text-align: center; }
details { max-width: 1180px; margin: 24px auto; padding: 0 12px; }
summary { cursor: pointer; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 9pt/1.45 ui-monospace, Menlo, Consolas, monospace; }
"""

# Undoes `script_data`, then shows the log as plain text. Does not wait for the player, which may never load.
_READ_LOG = (
    'document.querySelector(".battle-log-text").textContent = '
    r'document.querySelector(".battle-log-data").textContent.replace(/\\\//g, "/");'
)

_POLICY = "; ".join(
    [
        "default-src 'none'",
        f"script-src {PLAYER_HOST} 'sha256-{base64.b64encode(hashlib.sha256(_READ_LOG.encode()).digest()).decode()}'",
        f"style-src {PLAYER_HOST} 'unsafe-inline'",
        *(f"{what}-src {PLAYER_HOST} data:" for what in ("img", "font", "media")),
        "base-uri 'none'",
        "form-action 'none'",
    ]
)


def rename_players(log: str, players: tuple[str, str]) -> str:
    """Return ``log`` with the players called ``players``, by seat, where the log introduces them and names the winner.

    Battles run under neutral names, so that a name cannot influence them. A name's line ends and bars become spaces:
    it is one field of one line.
    """
    shown = [" ".join(name.replace("|", " ").split()) for name in players]
    renamed: dict[str, str] = {}
    lines = []
    for line in log.split("\n"):
        match line.split("|"):
            case ["", "player", ("p1" | "p2") as seat, name, *rest]:
                renamed[name] = shown[seat == "p2"]
                lines.append("|".join(["", "player", seat, renamed[name], *rest]))
            case ["", "win", name] if name in renamed:
                lines.append(f"|win|{renamed[name]}")
            case _:
                lines.append(line)
    return "\n".join(lines)


def script_data(log: str) -> str:
    r"""Return ``log`` escaped for the ``battle-log-data`` block.

    Every ``/`` becomes ``\/``, which the player undoes: the log cannot close the block. ``<!--`` cannot be written
    so that the player restores it, and may make a browser look past the block's end: it becomes ``<\!--``.
    """
    return log.replace("/", r"\/").replace("<!--", r"<\!--")


def replay_page(log: str, title: str, format: str) -> str:  # noqa: A002 - the project's word for it everywhere
    """Return the HTML page that replays ``log``."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<!-- version 1 -->
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(format)} replay: {escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<div class="wrapper replay-wrapper" style="max-width:1180px;margin:0 auto">
<input type="hidden" name="replayid" value="{escape(format)}">
<div class="battle"></div><div class="battle-log"></div>
<div class="replay-controls"></div><div class="replay-controls-2"></div>
<h1><strong>{escape(format)}</strong><br>{escape(title)}</h1>
<script type="text/plain" class="battle-log-data">{script_data(log)}</script>
</div>
<details open>
<summary>The whole battle as text (the player above needs a network)</summary>
<pre class="battle-log-text"></pre>
</details>
<script>{_READ_LOG}</script>
<script async src="{PLAYER_URL}"></script>
</body>
</html>
"""
