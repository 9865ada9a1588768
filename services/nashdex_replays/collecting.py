"""Episodes from the raw replays that are stored with a run: what people saw and chose, in the run's own space."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from typing import Final

import numpy as np

from nashdex.core import keys
from nashdex.core.ids import replayed_policy
from nashdex.core.stopping import check_stop
from nashdex.games.legal import LegalActions
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.names import DOUBLES
from nashdex.games.showdown.protocol import Seat
from nashdex.settings.oracles import ReplaySettings
from nashdex.store.checked import read_described, read_root
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress
from nashdex.trajectory.episode import Episode
from nashdex_replays.doubles.reconstruction import JointView, joint_views
from nashdex_replays.following import Follower
from nashdex_replays.joint_file import battle_seed, episode_of
from nashdex_replays.packing import PackedReplays, unpack
from nashdex_replays.reconstruction import View, views
from nashdex_replays.replay import RawReplay, is_wanted
from nashdex_replays.requests import NO_ACTION

_BLOCK: Final = 16
"""Battles that are followed side by side."""
_SEATS: Final[tuple[Seat, Seat]] = (0, 1)
_REMEDY: Final = "Restore it, or begin the run again under another id"


class ShowdownReplays:
    """A shard's part of the run's raw replays.

    Raises DataError if they are missing or altered.
    """

    def __init__(self, store: ObjectStore, settings: ReplaySettings, num_shards: int, shard: int) -> None:
        self._store = store
        self._settings = settings
        self._document = PackedReplays.from_json(read_root(store, keys.REPLAYS), f"{store.uri}/{keys.REPLAYS}")
        self._numbers = range(shard, self._document.replays, num_shards)
        self.counts: Counter[str] = Counter()
        """Replays, refused ones, and decisions whose action the log does not show, or not for every slot."""

    def __len__(self) -> int:
        return len(self._numbers)

    def episodes(self, progress: Progress) -> Iterator[Episode]:
        """Yield the episodes of the wanted players, in the order of the replays.

        Raises:
            DataError: a part is missing or altered.
            TryAgainError: the gateway is gone.
            StoppedError: the process was asked to stop.
        """
        if self._document.format in DOUBLES:
            with closing(Gateway(self._document.format)) as gateway:
                for block in self._blocks(progress):
                    joint, refused = joint_views(block, gateway)
                    self._count(len(joint), refused)
                    for seats in joint:
                        yield from (self._joint_episode(view, gateway) for view in seats if self._is_wanted(view))
            return
        with Follower(self._document.format) as follower:
            for block in self._blocks(progress):
                pairs, refused = views(block, follower)
                self._count(len(pairs), refused)
                yield from (self._episode(view) for pair in pairs for view in pair if self._is_wanted(view))

    def _blocks(self, progress: Progress) -> Iterator[list[RawReplay]]:
        """Yield this shard's replays, some at a time."""
        mine = islice(self._replays(), self._numbers.start, None, self._numbers.step)
        while block := list(islice(mine, _BLOCK)):
            check_stop()
            yield block
            progress.advance(len(block))

    def _count(self, num_replays: int, refused: Counter[str]) -> None:
        self.counts["replays"] += num_replays
        self.counts["refused_replays"] += refused.total()

    def _replays(self) -> Iterator[RawReplay]:
        for part in self._document.parts:
            yield from unpack(read_described(self._store, part, _REMEDY), part.key)

    def _is_wanted(self, view: View | JointView) -> bool:
        return is_wanted(
            view.replay,
            view.seat,
            min_rating=self._settings.min_rating,
            winners_only=self._settings.winners_only,
        )

    def _joint_episode(self, view: JointView, gateway: Gateway) -> Episode:
        """Return all decisions: what is known of each restricts it."""
        self.counts["unnamed_decisions"] += sum(any(causes) for causes in view.causes)
        return episode_of(view, gateway.space)

    def _episode(self, view: View) -> Episode:
        """Return the decisions whose action is known."""
        replay, followed = view.replay, view.followed
        actions = np.array(view.actions, np.int64)
        known = np.flatnonzero(actions != NO_ACTION)
        self.counts["unnamed_decisions"] += len(actions) - len(known)
        return Episode(
            seed=battle_seed(replay),
            seat=view.seat,
            policy=replayed_policy(replay.rating_band(view.seat)),
            opponent=replayed_policy(replay.rating_band(1 - view.seat)),
            score=0.5 if replay.winner is None else float(replay.winner == view.seat),
            observations=np.stack(followed.observations)[known],
            legal=LegalActions.of_mask(np.stack(followed.masks)[known]),
            actions=actions[known],
            log_probs=np.zeros(len(known), np.float32),
        )
