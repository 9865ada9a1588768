"""Meta-solvers: from payoffs to the mixture that is published and answered, by name.

Installed packages add their own through the entry point group ``nashdex.meta_solvers``. Payoffs go to the row player:
antisymmetric (K, K) for one population, (M, N) for two.
"""

from typing import Any

from pydantic import ValidationError

from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError
from nashdex.core.plugins import Registry
from nashdex.core.section import Choice
from nashdex.metagame.solvers.interface import ConfiguredSolver, MetaSolver
from nashdex.settings.solve import META_SOLVER_KINDS

_HERE = "nashdex.metagame.solvers"

META_SOLVERS: Registry[MetaSolver[Any]] = Registry.of(
    META_SOLVER_KINDS,
    MetaSolver,
    {
        "nash": f"{_HERE}.nash:NASH",
        "regret-matching": f"{_HERE}.nash:REGRET_MATCHING",
        "prd": f"{_HERE}.prd:PRD",
        "alpha-rank": f"{_HERE}.alpha_rank:ALPHA_RANK",
        "magnet": f"{_HERE}.magnet:MAGNET",
        "rectified-nash": f"{_HERE}.nash:RECTIFIED_NASH",
        "uniform": f"{_HERE}.fixed_weights:UNIFORM",
        "last": f"{_HERE}.fixed_weights:LAST",
        "last-k": f"{_HERE}.fixed_weights:LAST_K",
        "recency": f"{_HERE}.fixed_weights:RECENCY",
    },
)
"""Every meta-solver by name."""


def configured(settings: Choice) -> ConfiguredSolver:
    """Return the meta-solver that ``settings``, one section ``[solve.meta_solver]``, belong to."""
    return ConfiguredSolver(META_SOLVERS[settings.kind], settings)


def meta_solver(name: str, **values: object) -> ConfiguredSolver:
    """Return the meta-solver called ``name`` with ``values`` for its settings and defaults for the rest.

    Raises:
        ConfigurationError: there is none, or a value does not fit.
    """
    solver = META_SOLVERS[name]
    try:
        return ConfiguredSolver(solver, solver.settings.model_validate(values))
    except ValidationError as error:
        takes = ", ".join(solver.parameters) or "no settings"
        raise ConfigurationError(f"meta-solver {name!r}: {describe_problems(error)}; {name} takes {takes}") from error
