"""What a view of metamon costs: its CPU time for a decision, over battles of random choices."""

import time
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyId
from nashdex.games.interface import Decisions, Viewed, ViewIdentity
from nashdex.games.registry import showdown_game
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.session import Session
from nashdex_metamon.tokens import Tokenizer
from nashdex_metamon.views.reading import MetamonView

_VIEWER: Final = PolicyId("viewer")
_BATTLES_AT_ONCE: Final = 16


class ViewBench(Model):
    """CPU time of this process, without the gateway's."""

    format: str
    view: str
    num_decisions: PositiveInt
    mean_microseconds: PositiveFloat = Field(description="For one decision.")
    median_microseconds: PositiveFloat = Field(description="The median over batches of the mean of each.")


class _TimedView:
    """Implements ``games.interface.View``: a view whose readings are timed."""

    def __init__(self, view: MetamonView) -> None:
        self._view = view
        self.batches: list[tuple[int, int]] = []
        """Decisions and nanoseconds of each."""

    @property
    def identity(self) -> ViewIdentity:
        return self._view.identity

    def read(self, decisions: Decisions) -> Viewed:
        began = time.process_time_ns()
        viewed = self._view.read(decisions)
        self.batches.append((len(decisions), time.process_time_ns() - began))
        return viewed

    def forget(self, battle: int, seat: int) -> None:
        self._view.forget(battle, seat)


class _Viewer:
    """Implements ``policies.interface.Policy``: looks through a view, and plays legal actions at random."""

    id = _VIEWER
    needs_lines = True
    needs_state = True

    def __init__(self, space: Space, view: _TimedView) -> None:
        self.view = view
        self._random = scripted_policy("random", space)

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        return self._random.act(decisions, uniforms)

    def forget(self, battle: int, seat: int) -> None:
        self._random.forget(battle, seat)


def bench_view(format_id: str, observations: str, actions: str, *, battles: int, seed: int = 0) -> ViewBench:
    """Play ``battles`` battles whose seats all look through metamon's spaces of these names.

    Raises:
        ConfigurationError: it is not a Showdown format, a name is unknown, or Node or the gateway's package is missing.
    """
    game = showdown_game(format_id)
    with Session(game.open_arena(num_gateways=1), min(battles, _BATTLES_AT_ONCE)) as session:
        view = _TimedView(
            MetamonView(
                session.space,
                Tokenizer({}),
                observations=observations,
                actions=actions,
                reward="DefaultShapedReward",
                vocabulary="",
            )
        )
        session.policies[_VIEWER] = _Viewer(session.space, view)
        paired = PairedBattles(seed, game.teams())
        for _ in session.play(paired.assignment(number, (_VIEWER, _VIEWER)) for number in range(battles)):
            pass
    sizes, nanoseconds = (sum(column) for column in zip(*view.batches, strict=True))
    return ViewBench(
        format=format_id,
        view=view.identity.name,
        num_decisions=sizes,
        mean_microseconds=nanoseconds / sizes / 1000,
        median_microseconds=median(spent / size for size, spent in view.batches) / 1000,
    )
