"""Raw logs of double battles, as ``nashdex data import`` reads them, and the files that it writes."""

import atexit
import gzip
from pathlib import Path

import numpy as np

from nashdex.core.errors import DataError, TryAgainError
from nashdex.games.showdown.gateway import Gateway
from nashdex_replays import joint_file
from nashdex_replays.doubles.reconstruction import JointView, joint_views
from nashdex_replays.replay import parse

FORMAT = "gen9vgc2023regc"
_BATTLES = Path(__file__).parents[1] / "data" / "vgc" / f"real-{FORMAT}.jsonl.gz"


class DoubleLogs:
    """Reads a replay's JSON to both players' joint decisions, with the players' input and from the lines alone."""

    def __init__(self) -> None:
        self._gateway = Gateway(FORMAT)  # its process has no share in the memory limit of inputs
        atexit.register(self._close)

    def seeds(self) -> list[bytes]:
        """Return the shortest battles."""
        return sorted(gzip.decompress(_BATTLES.read_bytes()).splitlines(), key=len)[:3]

    def read(self, data: bytes) -> None:
        """Read a replay, write its files, and read those again."""
        replay = parse(data, "replay")
        if replay.format != FORMAT:
            return
        for use_inputs in (True, False):
            try:
                pairs, _ = joint_views([replay], self._gateway, use_inputs=use_inputs)
            except TryAgainError as error:
                self._gateway = Gateway(FORMAT)
                raise AssertionError("a log ended the gateway") from error
            for pair in pairs:
                for view in pair:
                    self._check(view)

    def _check(self, view: JointView) -> None:
        space = self._gateway.space
        episode, words = joint_file.episode_of(view, space), joint_file.JointReplay.of(view)
        for legal, agreeing in zip(view.legal, view.agreeing, strict=True):
            assert len(agreeing) > 0, "no action agrees"
            assert np.isin(agreeing, legal).all(), "an action agrees that is not legal"
        try:
            _, again, words_again = joint_file.read(joint_file.write(episode, words, space), "file")
        except DataError as error:
            raise AssertionError("a file that was just written cannot be read") from error
        assert words_again == words
        assert np.array_equal(again.actions, episode.actions)

    def _close(self) -> None:
        self._gateway.close()
