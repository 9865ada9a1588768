"""``nashdex.open_run``: what a run has measured, as typed rows and pandas frames."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from html import escape
from itertools import permutations
from os import PathLike
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from nashdex.core import keys
from nashdex.core.arguments import check_type
from nashdex.core.errors import ConfigurationError
from nashdex.core.extras import required
from nashdex.core.ids import PolicyId
from nashdex.core.steps import StepName
from nashdex.core.user_input import shorten
from nashdex.report.cells import PayoffCells
from nashdex.report.document import NUM_DRAWN_ITERATIONS, IterationRow, Report
from nashdex.report.sources import newest_report, read_ledgers, read_manifests
from nashdex.runs.creation import Run as StoredRun
from nashdex.runs.creation import open_run as open_stored_run
from nashdex.settings.run import RunSettings
from nashdex.store.documents import read_published, read_written

if TYPE_CHECKING:
    import pandas as pd


class PolicyRow(NamedTuple):
    """A member of the population."""

    policy: PolicyId
    name: str
    kind: str
    iteration: int | None
    """Iteration that trained it; None for the initial population."""
    parent: PolicyId | None
    is_anchor: bool
    games: int
    """Battles in the ledgers."""


class PayoffRow(NamedTuple):
    """The score of ``policy`` against ``opponent``: from battles, or exact."""

    policy: PolicyId
    opponent: PolicyId
    value: float
    """Mean score from 0 to 1; where payoffs are exact, the payoff in the game's units."""
    low: float
    high: float
    wins: int | None
    """None where payoffs are exact, like ``draws`` and ``losses``."""
    draws: int | None
    losses: int | None


class RatingRow(NamedTuple):
    """A Bradley–Terry rating after the newest iteration, in Elo."""

    policy: PolicyId
    elo: float
    low: float
    high: float
    standard_error: float


class MixtureRow(NamedTuple):
    """A policy's probability in the meta-strategy of an iteration."""

    iteration: int
    policy: PolicyId
    probability: float
    low: float
    high: float


class ExploitabilityRow(NamedTuple):
    """One estimate of exploitability. Different estimators are never compared."""

    iteration: int
    estimator: str
    value: float
    low: float
    high: float


class CurveRow(NamedTuple):
    """One measured value after one optimiser step of a training."""

    iteration: int
    policy: PolicyId
    name: str
    update: int
    value: float


class BattleRow(NamedTuple):
    """One finished battle of a tournament."""

    iteration: int
    first: PolicyId
    """Policy at seat 0."""
    second: PolicyId
    pair: int
    """Side-swapped pair within the two policies' cell."""
    seed: int
    winner: int | None
    """Seat; None for a draw."""
    turns: int
    decisions: int
    """Decisions of both seats."""


Row = TypeVar("Row", bound=NamedTuple)


class Table(tuple[Row, ...]):
    """Rows of one kind. ``frame`` returns them as a pandas frame, which the extra ``pandas`` brings."""

    __slots__ = ()

    def frame(self, columns: Sequence[str] | None = None) -> "pd.DataFrame":
        """Return a frame with one column for each field.

        Args:
            columns: fields to keep; all by default. Name them where there may be no rows.

        Raises:
            ConfigurationError: pandas is not installed, or a row has no such field.
        """
        if columns is not None:
            check_type("columns", columns, (list | tuple, "a list of fields, or None"))
            fields = self[0]._fields if self else columns
            if unknown := [name for name in columns if name not in fields]:
                raise ConfigurationError(f"columns has {shorten(unknown[0])}: expected some of {', '.join(fields)}")
        data_frame: type[pd.DataFrame] = required("pandas:DataFrame", extra="pandas", needed_by="a frame")
        return data_frame.from_records([row._asdict() for row in self], columns=columns)


_HEIGHT_PIXELS: Final = 340
_RENDER_PICTURE: Final = "nashdex.report.page.render:render_picture"


class Picture:
    """A picture of ``Run.draw``. Notebooks show it; ``html`` is a page for a file."""

    def __init__(self, html: str) -> None:
        self.html = html
        """A whole page that loads nothing."""

    def _repr_html_(self) -> str:
        """Return the page in a frame, so that its style stays inside."""
        return f'<iframe width="100%" height="{_HEIGHT_PIXELS}" frameborder="0" srcdoc="{escape(self.html)}"></iframe>'


def open_run(uri: str | PathLike[str]) -> "Run":
    """Open a run by the URI that ``nashdex run`` prints: a path, ``file://…`` or ``s3://…``.

    Raises:
        ConfigurationError: ``uri`` is none.
        DataError: there is no run, it was altered, or its first iteration is not finished.
        TryAgainError: the store is unreachable.
    """
    check_type("uri", uri, (str | PathLike, "the URI of a run, as `nashdex run` prints it, or its path"))
    return Run(open_stored_run(str(uri)))


class Run:
    """A run as its newest finished iteration reports it. Open it again to see later iterations."""

    def __init__(self, run: StoredRun) -> None:
        self._run = run
        self._manifest = newest_report(run.store)

    def __repr__(self) -> str:
        return f"<nashdex.Run {self.uri}, iteration {self.iteration}>"

    @property
    def uri(self) -> str:
        """URI of the run."""
        return self._run.store.uri

    @property
    def settings(self) -> RunSettings:
        """The run's frozen settings."""
        return self._run.settings

    @property
    def iteration(self) -> int:
        """The newest finished iteration."""
        return self._manifest.iteration

    @cached_property
    def report(self) -> Report:
        """The report's document: every number that its page shows.

        Raises:
            DataError: it is missing or altered.
        """
        return read_written(self._run.store, self._manifest, keys.REPORT, Report)

    @property
    def policies(self) -> Table[PolicyRow]:
        """Members of the population by falling rating."""
        return Table(
            PolicyRow(row.id, row.name, row.kind, row.iteration, row.parent, row.anchor, row.games)
            for row in self.report.policies
        )

    @property
    def payoffs(self) -> Table[PayoffRow]:
        """Scores of each policy against each other one that it has met.

        Raises:
            DataError: the report's part with all pairs is missing or altered.
        """
        return Table(self._payoffs())

    @property
    def ratings(self) -> Table[RatingRow]:
        """Ratings by falling Elo."""
        rows = ((row.id, row.rating) for row in self.report.policies)
        return Table(RatingRow(policy, r.elo.value, r.elo.low, r.elo.high, r.standard_error) for policy, r in rows)

    @property
    def mixtures(self) -> Table[MixtureRow]:
        """Meta-strategies of all iterations."""
        return Table(
            MixtureRow(row.iteration, each.policy, each.probability.value, each.probability.low, each.probability.high)
            for row in self.report.iterations
            for each in row.meta_strategy
        )

    @property
    def exploitabilities(self) -> Table[ExploitabilityRow]:
        """Estimates of exploitability of all iterations."""
        return Table(
            ExploitabilityRow(row.iteration, each.estimator, each.value, each.low, each.high)
            for row in self.report.iterations
            for each in row.exploitability
        )

    @property
    def curves(self) -> Table[CurveRow]:
        """Learning curves of all trainings, as short as the report draws them.

        Raises:
            DataError: an earlier report, which holds the older curves, is missing or altered.
        """
        return Table(
            CurveRow(row.iteration, training.policy, curve.name, update, value)
            for row in self._rows_with_curves()
            for training in row.training
            for curve in training.curves
            for update, value in zip(curve.updates, curve.values, strict=True)
        )

    @cached_property
    def battles(self) -> Table[BattleRow]:
        """Every battle of the tournaments, from the ledgers; none where payoffs are exact.

        Raises:
            DataError: a ledger is missing or altered.
        """
        return Table(self._battles())

    def draw(self, name: str) -> Picture:
        """Return a picture of the report, ``meta-strategy`` or ``exploitability``, as the report's page has it.

        Raises:
            ConfigurationError: there is no such picture, or the run has nothing to draw in it.
        """
        render_picture = required(_RENDER_PICTURE, extra="local", needed_by="a picture")
        return Picture(render_picture(self.report, name))

    def _rows_with_curves(self) -> Iterator[IterationRow]:
        """Yield every iteration from a report that holds its curves."""
        for newest in range(self.iteration % NUM_DRAWN_ITERATIONS, self.iteration + 1, NUM_DRAWN_ITERATIONS):
            report = self.report
            if newest < self.iteration:
                report = read_published(self._run.store, newest, keys.REPORT, Report)
            yield from report.iterations[-NUM_DRAWN_ITERATIONS:]

    def _payoffs(self) -> Iterator[PayoffRow]:
        if keys.REPORT_CELLS in self._manifest.objects:
            yield from _rows_of_cells(read_written(self._run.store, self._manifest, keys.REPORT_CELLS, PayoffCells))
            return
        payoffs = self.report.payoffs
        for i, policy in enumerate(payoffs.policies):
            for j, opponent in enumerate(payoffs.policies):
                if i == j:
                    continue
                if payoffs.exact is not None:
                    value = payoffs.exact[i][j]
                    yield PayoffRow(policy, opponent, value, value, value, None, None, None)
                elif payoffs.cells is not None and (cell := payoffs.cells[i][j]) is not None:
                    rate = cell.rate
                    counts = (cell.wins, cell.draws, cell.losses)
                    yield PayoffRow(policy, opponent, rate.value, rate.low, rate.high, *counts)

    def _battles(self) -> Iterator[BattleRow]:
        if self.report.payoffs.exact is not None:
            return
        for iteration in range(self.iteration + 1):
            manifests = read_manifests(self._run.store, self.settings, iteration)
            assert StepName.EVALUATE in manifests.by_step, "a reported iteration has been evaluated"
            for shard in read_ledgers(self._run.store, manifests):
                for r in shard.ledger.battles:
                    yield BattleRow(iteration, *r.policies, r.pair, r.seed, r.winner, r.turns, r.decisions)


def _rows_of_cells(cells: PayoffCells) -> Iterator[PayoffRow]:
    for (i, policy), (j, opponent) in permutations(enumerate(cells.policies), 2):
        if cells.exact:
            value = cells.payoff(i, j)
            yield PayoffRow(policy, opponent, value, value, value, None, None, None)
        elif (cell := cells.cell(i, j)) is not None:
            rate, counts = cell.rate, (cell.wins, cell.draws, cell.losses)
            yield PayoffRow(policy, opponent, rate.value, rate.low, rate.high, *counts)
