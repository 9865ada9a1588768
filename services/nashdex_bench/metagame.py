"""What solving costs: each meta-solver on games of known size, in CPU-seconds."""

import time
from collections.abc import Iterator

import numpy as np
from pydantic import NonNegativeFloat, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.solving import EmpiricalGame, solve_game
from nashdex.metagame.evidence.estimates import Floats
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.solvers.registry import META_SOLVERS, meta_solver

_NUM_MEMBERS = 20
_GAMES_PER_PAIR = 200


class SolverTime(Model):
    """What one solver took."""

    meta_solver: str
    matrix_cpu_seconds: NonNegativeFloat
    """One matrix of ``num_policies``."""
    posterior_cpu_seconds: NonNegativeFloat
    """The whole of solving 20 policies: draws, mixtures, ratings and their bootstrap."""


class MetagameBench(Model):
    """Times of all solvers."""

    num_policies: PositiveInt
    num_draws: PositiveInt
    solvers: tuple[SolverTime, ...]


def bench_metagame(num_policies: int = 100, num_draws: int = 500) -> Iterator[SolverTime]:
    """Measure each solver: one random antisymmetric matrix, and a counted game with its posterior."""
    payoffs = _random_game(num_policies, seed=0)
    members = _random_counts(_NUM_MEMBERS, seed=1)
    for name in META_SOLVERS.names:
        solver = meta_solver(name)
        began = time.process_time()
        solver.one_population(payoffs)
        between = time.process_time()
        solve_game(EmpiricalGame(members), solver, num_draws=num_draws, seed=0)
        yield SolverTime(
            meta_solver=name,
            matrix_cpu_seconds=between - began,
            posterior_cpu_seconds=time.process_time() - between,
        )


def _random_game(size: int, seed: int) -> Floats:
    upper = np.triu(np.random.default_rng(seed).normal(size=(size, size)), k=1)
    payoffs: Floats = upper - upper.T
    return payoffs


def _random_counts(size: int, seed: int) -> SampledCounts:
    scores = 0.5 + 0.2 * np.tanh(_random_game(size, seed))
    wins = np.triu(np.random.default_rng(seed).binomial(_GAMES_PER_PAIR, scores), k=1)
    games = _GAMES_PER_PAIR * (1 - np.eye(size, dtype=np.int64))
    wins += np.triu(games - wins, k=1).T
    tally = Tally.of_single_battles(wins, np.zeros_like(games), games)
    return SampledCounts.of([PolicyId(f"p{index}") for index in range(size)], tally)
