"""Raw battle logs, as ``nashdex data import`` reads them: cut, rebuilt, and followed by the gateway's tracker."""

import atexit
import json
from typing import Any

from nashdex.core.errors import TryAgainError
from nashdex_metamon.data.parsing import parsed
from nashdex_replays.following import Follower
from nashdex_replays.reconstruction import views
from nashdex_replays.replay import RawReplay, parse
from nashdex_replays.sources import Source
from support.metamon_goldens import METAMON_DATA, golden

HUMAN = METAMON_DATA / "logs"
FORMATS = ("gen1ou", "gen4ou", "gen9ou")
"""Old rules, abilities without Team Preview, and everything since."""

TURNS = 6


class RawLogs:
    """Reads a log to both players' trajectories. The first byte of an input chooses its format."""

    def __init__(self) -> None:
        self._followers: dict[str, Follower] = {}
        self._follower(FORMATS[0])  # its process has no share in the memory limit of inputs
        atexit.register(self._close)

    def seeds(self) -> list[bytes]:
        """Return a whole battle of each format."""
        return [
            bytes([number]) + golden("battles", f"{name}-9000")["log"].encode() for number, name in enumerate(FORMATS)
        ]

    def read(self, data: bytes) -> None:
        """Read a plain log."""
        name = FORMATS[data[0] % len(FORMATS)] if data else FORMATS[0]
        self._follow(Source(f"{name}-1.log", data[1:], is_text=True).read())

    def _follow(self, replay: RawReplay) -> None:
        follower = self._follower(replay.format)
        try:
            pairs, _ = views([replay], follower)
        except TryAgainError as error:
            del self._followers[replay.format]
            raise AssertionError("a log ended the gateway") from error
        for pair in pairs:
            for view in pair:
                parsed(view, follower)

    def _follower(self, format_id: str) -> Follower:
        if format_id not in self._followers:
            self._followers[format_id] = Follower(format_id)
        return self._followers[format_id]

    def _close(self) -> None:
        for follower in self._followers.values():
            follower.__exit__()


def _shortened(battle: dict[str, Any]) -> bytes:
    begun = str(battle["log"]).partition(f"|turn|{TURNS + 1}\n")[0]
    return f"{begun}|win|{battle['players'][0]}\n".encode()


def raw_replays() -> list[bytes]:
    """Return replays as Showdown publishes them, one by people and one of an old log with choices."""
    published = [path.read_bytes() for path in sorted(HUMAN.glob("*.json"))[:2]]
    made = golden("battles", "gen3ou-9000")
    return [*published, json.dumps({name: made[name] for name in ("id", "formatid", "log", "uploadtime")}).encode()]


def read_replay(data: bytes) -> RawReplay:
    """Read a replay's JSON."""
    return parse(data, "replay")
