"""The interface of a meta-solver. K policies of one population; M against N of two; D drawn matrices."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from nashdex.core.section import KIND, Choice
from nashdex.metagame.equilibria import Floats
from nashdex.metagame.evidence.estimates import DrawnColumns

Status = Literal["optimal", "imprecise", "converged", "not-converged", "closed-form"]
"""``optimal``: solved to machine precision. ``imprecise``: the payoffs differ too much in size for that. ``converged``:
an iteration ended with its residual within the solver's tolerance; ``not-converged``: above it. ``closed-form``:
there was nothing to solve, and the residual is 0."""

_BATCH_SIZE = 100
"""Matrices solved side by side: enough to hide numpy's overhead, few enough to stop soon and to fit into a cache."""

S = TypeVar("S", bound=Choice)


@dataclass(frozen=True, slots=True)
class Solution:
    """The mixture of one population."""

    strategy: Floats
    """Shape (K,), a probability vector."""
    value: float
    """σᵀAσ, which antisymmetry makes 0."""
    residual: float
    """Distance of the mixture from its solver's promise (``MetaSolver.promise``), in payoff or in probability."""
    status: Status
    unique: bool = True
    """False where many mixtures keep the promise; nash then answers with the mixture of maximum entropy."""
    parameters: Mapping[str, float] = field(default_factory=dict)
    """Final values of the solver's own parameters, such as the last α of a sweep or the number of iterations."""


@dataclass(frozen=True, slots=True)
class PairSolution:
    """The mixtures of two populations."""

    row: Floats
    """Shape (M,), a probability vector."""
    column: Floats
    """Shape (N,), a probability vector."""
    value: float
    """pᵀMq: what the row player gets."""
    residual: float
    """Residual as in ``Solution``; if it is a gain, the sum over both players."""
    status: Status
    unique: bool = True
    parameters: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class MetaSolver(Generic[S]):
    """One way to choose a mixture, an entry of the group ``nashdex.meta_solvers``. This is the whole of the surface.

    All functions are pure. They take payoffs and the settings. Results follow policies, not their places in the matrix
    (unless ``by_age``), and never hold NaN: an unsolvable game is an error, and a solution says if it has not
    converged.
    """

    settings: type[S]
    """Its section of a run's settings. The field ``kind`` is a ``Literal`` with the name of the solver as default."""
    summary: str
    """Description of the mixture in one line, for help and docs."""
    promise: str
    """Quantity measured by the residual, in a few words."""
    one_population: Callable[[Floats, S], Solution]
    """Takes antisymmetric payoffs of shape (K, K); any square ones where ``bimatrix`` is not None."""
    two_populations: Callable[[Floats, S], PairSolution] | None = None
    """Takes the row player's payoffs of a zero-sum game, shape (M, N). A run needs ``one_population`` alone."""
    bimatrix: Callable[[Floats, Floats, S], PairSolution] | None = None
    """Takes the payoffs of both players, (M, N) each; None where a general-sum game has no such mixture."""
    batched: Callable[[Floats, S], Floats] | None = None
    """Returns mixtures (D, K) of antisymmetric payoffs (D, K, K) at once, where that is quicker than one by one."""
    of_columns: Callable[[DrawnColumns, Iterable[int], int, Callable[[], None]], Floats | None] | None = None
    """Returns mixtures (D, K) of draws of a large game from the columns that matter, beginning with the given ones;
    None where those do not suffice. Arguments are as in ``nash.nash_of_columns``."""
    by_age: bool = False
    """Whether only the places in the population decide, oldest first. Then a policy that joined twice has two
    places."""

    def __post_init__(self) -> None:
        kind = self.settings.model_fields.get(KIND)
        if kind is None or not isinstance(kind.default, str):
            raise TypeError(f"{self.settings.__name__} has no field `kind` whose default is the name of the solver")

    @property
    def name(self) -> str:
        """The name that settings use."""
        return str(self.settings.model_fields[KIND].default)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its settings, without ``kind``."""
        return tuple(name for name in self.settings.model_fields if name != KIND)


@dataclass(frozen=True, slots=True)
class ConfiguredSolver:
    """A meta-solver together with its settings."""

    solver: MetaSolver[Any]
    settings: Choice

    @property
    def name(self) -> str:
        """The name of the meta-solver."""
        return self.solver.name

    @property
    def by_age(self) -> bool:
        """Whether places alone decide, oldest first."""
        return self.solver.by_age

    def one_population(self, payoffs: Floats) -> Solution:
        """Return the mixture of one population; payoffs of shape (K, K)."""
        return self.solver.one_population(payoffs, self.settings)

    def two_populations(self, payoffs: Floats) -> PairSolution:
        """Return the mixtures of two populations; the row player's payoffs of a zero-sum game, shape (M, N)."""
        assert self.solver.two_populations is not None, f"{self.name} is not defined for two populations"
        return self.solver.two_populations(payoffs, self.settings)

    def bimatrix(self, row_payoffs: Floats, column_payoffs: Floats) -> PairSolution:
        """Return the mixtures of two populations of a general-sum game; payoffs of both players, (M, N) each."""
        assert self.solver.bimatrix is not None, f"{self.name} is not defined for bimatrix games"
        return self.solver.bimatrix(row_payoffs, column_payoffs, self.settings)

    def one_population_of_many(self, payoffs: Floats, tick: Callable[[], object] = lambda: None) -> Floats:
        """Return the mixture of each matrix of ``payoffs`` of shape (D, K, K), as an array of shape (D, K).

        For intervals: an iterating solver takes fewer or coarser steps here than for a single matrix (see its module);
        the error stays far below the sampling error of the payoffs.

        ``tick`` is called D times in all, and may raise to stop.
        """
        strategies = np.empty(payoffs.shape[:2])
        batched = self.solver.batched
        size = 1 if batched is None else _BATCH_SIZE
        for start in range(0, len(payoffs), size):
            batch = payoffs[start : start + size]
            if batched is None:
                strategies[start] = self.one_population(batch[0]).strategy
            else:
                strategies[start : start + size] = batched(batch, self.settings)
            for _ in batch:
                tick()
        return strategies
