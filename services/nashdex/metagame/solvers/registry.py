"""Meta-solvers: from a payoff matrix to the mixture that is shipped and answered. Looked up by name.

Pure functions over arrays of payoffs to the row player: antisymmetric (K, K) for one population, (M, N) for two. Every
result follows the policy, not its place; ``last``, ``last-k`` and ``recency`` alone mean places, so their caller says
what the order is (oldest first). None returns NaN or a guess: what cannot be solved is an error, and what has not
converged says so. ``nash`` and most others have no mixture for general-sum games; ``prd`` and ``alpha-rank`` do.
"""

from collections.abc import Callable
from functools import partial

from nashdex.core.errors import ConfigurationError
from nashdex.metagame.solvers import alpha_rank, magnet, nash, rectified_nash, regret_matching, replicator
from nashdex.metagame.solvers.baselines import baseline, equal, newest, recent
from nashdex.metagame.solvers.parameters import SolverParameters
from nashdex.metagame.solvers.solution import MetaSolver

__all__ = ["META_SOLVERS", "MetaSolver", "SolverParameters", "meta_solver"]

META_SOLVERS: dict[str, Callable[[SolverParameters], MetaSolver]] = {
    "nash": lambda _: nash.solver(),
    "regret-matching": lambda given: regret_matching.solver(given.num_iterations),
    "prd": lambda given: replicator.solver(given.num_iterations),
    "alpha-rank": lambda given: alpha_rank.solver(given.alpha, given.population_size),
    "magnet": lambda given: magnet.solver(given.temperature, given.num_iterations),
    "rectified-nash": lambda _: rectified_nash.solver(),
    "uniform": lambda _: baseline("uniform", equal),
    "last": lambda _: baseline("last", partial(newest, count=1)),
    "last-k": lambda given: baseline("last-k", partial(newest, count=given.last_k), "last_k"),
    "recency": lambda given: baseline(
        "recency", partial(recent, temperature=given.recency_temperature), "recency_temperature"
    ),
}


_DEFAULTS = SolverParameters()


def meta_solver(name: str, parameters: SolverParameters = _DEFAULTS) -> MetaSolver:
    """Return the meta-solver called ``name`` with its parameters bound.

    Raises:
        ConfigurationError: there is none.
    """
    if name not in META_SOLVERS:
        raise ConfigurationError(f"there is no meta-solver {name!r}; expected one of {', '.join(META_SOLVERS)}")
    return META_SOLVERS[name](parameters)
