"""The plug-in of ``nashdex.replay_readers``: how runs of Showdown's formats store raw replays, and learn from them."""

from typing import Final

from nashdex.trajectory.replay_readers import ReplayReader
from nashdex_replays.collecting import ShowdownReplays
from nashdex_replays.packing import pack

SHOWDOWN: Final = ReplayReader(pack=pack, open=ShowdownReplays)
