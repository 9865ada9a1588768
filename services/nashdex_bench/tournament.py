"""What the adaptive schedule saves: synthetic games of seven families, played by both schedules at equal battles."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import numpy as np
from pydantic import NonNegativeInt, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.metagame.equilibria import symmetric_equilibrium
from nashdex.metagame.evidence.estimates import CONFIDENCE, EVEN, NORMAL_QUANTILE, Floats, Integers
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.plan import FurtherBattles
from nashdex.metagame.tournament.allocation import even_division
from nashdex.settings.run import EvaluateSettings
from nashdex.settings.solve import SolveSettings
from nashdex.solver.adaptive import further_battles

_FIRST_BATTLES: Final = 20
_MOST_BATTLES_A_CELL: Final = 1_000_000
_ROUNDS: Final = 3
_BATTLES_A_CELL: Final = 20
"""Further battles of a round, on average over the cells."""
_NUM_DRAWS: Final = 200


class FamilyResult(Model):
    """One family of games."""

    family: str
    policies: PositiveInt
    games: PositiveInt
    adaptive_loss: float
    """Mean over the games of what the mixture loses in the true game, max (Aσ), under the adaptive schedule."""
    even_loss: float
    saved_share: Estimate
    """1 − adaptive loss / even loss; its interval is of the games' paired differences."""
    adaptive_distance: float
    """Mean total variation distance of the mixture from the true equilibrium."""
    even_distance: float
    chosen: NonNegativeInt
    """Rounds in which the schedule divided battles unevenly."""


class TournamentBench(Model):
    """All families."""

    seed: NonNegativeInt
    confidence: float = CONFIDENCE
    families: tuple[FamilyResult, ...]
    all: FamilyResult
    """All games together."""


def _antisymmetric(upper: Floats) -> Floats:
    payoffs: Floats = np.triu(upper, 1) - np.triu(upper, 1).T
    return payoffs


def _dominated(core: Floats, size: int, generator: np.random.Generator) -> Floats:
    """Return ``core`` with policies that clearly lose to it, ``size`` in all."""
    payoffs = generator.uniform(-0.2, 0.2, (size, size))
    payoffs[: len(core), : len(core)] = core
    payoffs[: len(core), len(core) :] = generator.uniform(0.2, 0.45, (len(core), size - len(core)))
    return _antisymmetric(payoffs)


def _mixed(size: int, spread: float, generator: np.random.Generator) -> Floats:
    """Return a random game whose equilibrium plays every policy; ``size`` is odd, as it must be."""
    while True:
        payoffs = _antisymmetric(generator.uniform(-spread, spread, (size, size)))
        if symmetric_equilibrium(payoffs).row.min() > 0.3 / size:
            return payoffs


def _ladder(size: int, generator: np.random.Generator) -> Floats:
    strength = np.sort(generator.normal(scale=0.8, size=size))
    payoffs: Floats = 1 / (1 + np.exp(strength[None, :] - strength[:, None])) - EVEN
    return payoffs


FAMILIES: Final[Mapping[str, Callable[[np.random.Generator], Floats]]] = {
    "three in a cycle, five dominated": lambda g: _dominated(_mixed(3, 0.3, g), 8, g),
    "five in a cycle, nine dominated": lambda g: _dominated(_mixed(5, 0.3, g), 14, g),
    "two rivals, six dominated": lambda g: _dominated(_antisymmetric(g.uniform(0.02, 0.1, (2, 2))), 8, g),
    "all of five mixed": lambda g: _mixed(5, 0.3, g),
    "all of seven mixed, nearly even": lambda g: _mixed(7, 0.08, g),
    "a ladder of eight": lambda g: _ladder(8, g),
    "random, of ten": lambda g: _antisymmetric(g.uniform(-0.4, 0.4, (10, 10))),
}
"""By name: draws the payoffs A of a game."""


def bench_tournament(games: int, seed: int = 0, on_game: Callable[[], None] = lambda: None) -> TournamentBench:
    """Play at least ``games`` games, as many of each family."""
    each = -(-games // len(FAMILIES))
    found: dict[str, list[tuple[int, Floats]]] = {}
    for family, draw in FAMILIES.items():
        for number in range(each):
            payoffs = draw(np.random.default_rng(derive_seed(seed, family, number)))
            found.setdefault(family, []).append((len(payoffs), _compare(payoffs, derive_seed(seed, "play", number))))
            on_game()
    results = [_result(family, games_of) for family, games_of in found.items()]
    everything = [game for games_of in found.values() for game in games_of]
    return TournamentBench(seed=seed, families=tuple(results), all=_result("all", everything))


def _compare(payoffs: Floats, seed: int) -> Floats:
    """Return loss and distance of both schedules, and the uneven rounds: shape (5,)."""
    equilibrium = symmetric_equilibrium(payoffs).row
    values = []
    uneven = 0
    for is_adaptive in (True, False):
        counts, rounds = _play(payoffs, seed, is_adaptive=is_adaptive)
        uneven += rounds
        mixture = symmetric_equilibrium(_estimate(counts)).row
        values += [float((payoffs @ mixture).max()), float(np.abs(mixture - equilibrium).sum()) / 2]
    return np.array([*values, uneven])


def _play(payoffs: Floats, seed: int, *, is_adaptive: bool) -> tuple[SampledCounts, int]:
    """Play a tournament; return its counts, and in how many rounds battles were divided unevenly."""
    size = len(payoffs)
    policies = [PolicyId(f"p{index:02d}") for index in range(size)]
    num_cells = size * (size - 1) // 2
    battles = num_cells * _BATTLES_A_CELL // 2 * 2
    solve = SolveSettings.model_validate({"meta_solver": "nash", "num_draws": _NUM_DRAWS})
    evaluate = EvaluateSettings(
        adaptive_battles=battles, battles_per_pair=_MOST_BATTLES_A_CELL, first_battles=_FIRST_BATTLES
    )
    wins = np.zeros((size, size), dtype=np.int64)
    games = np.zeros((size, size), dtype=np.int64)
    first = [
        FurtherBattles(a=policies[i], b=policies[j], battles=_FIRST_BATTLES)
        for i in range(size)
        for j in range(i + 1, size)
    ]
    _add(payoffs, wins, games, first, seed)
    uneven = 0
    for number in range(_ROUNDS):
        counts = _counts(policies, wins, games)
        even = even_division(policies, games, num_battles=battles, most_battles=_MOST_BATTLES_A_CELL)
        division = even
        if is_adaptive:
            division = list(
                further_battles(
                    counts, solve, evaluate, active=counts.policies, seed=derive_seed(seed, "round", number)
                )
            )
            uneven += division != even
        _add(payoffs, wins, games, division, seed)
    return _counts(policies, wins, games), uneven


def _add(payoffs: Floats, wins: Integers, games: Integers, cells: list[FurtherBattles], seed: int) -> None:
    """Play the cells' battles. Each cell has its own stream, so both schedules see the same luck in it."""
    for cell in cells:
        i, j = int(cell.a[1:]), int(cell.b[1:])
        uniforms = np.random.default_rng(derive_seed(seed, "cell", i, j)).random(int(games[i, j]) + cell.battles)
        won = int((uniforms[int(games[i, j]) :] < payoffs[i, j] + EVEN).sum())
        wins[i, j] += won
        wins[j, i] += cell.battles - won
        games[i, j] += cell.battles
        games[j, i] += cell.battles


def _counts(policies: list[PolicyId], wins: Integers, games: Integers) -> SampledCounts:
    return SampledCounts.of(policies, Tally.of_single_battles(wins.copy(), np.zeros_like(games), games.copy()))


def _estimate(counts: SampledCounts) -> Floats:
    tally = counts.tally
    payoffs: Floats = np.where(tally.games > 0, tally.scores / np.maximum(tally.games, 1), EVEN) - EVEN
    np.fill_diagonal(payoffs, 0.0)
    return payoffs


def _result(family: str, games: list[tuple[int, Floats]]) -> FamilyResult:
    values = np.array([each for _, each in games])
    adaptive, even = values[:, 0], values[:, 2]
    total = max(float(even.sum()), 1e-12)  # all mixtures may be right
    share = 1.0 - float(adaptive.sum()) / total
    # The error of a ratio of two sums (Cochran 1977, section 6.4), games as units.
    residuals = adaptive - (1.0 - share) * even
    error = float(np.sqrt((residuals**2).sum())) / total * float(np.sqrt(len(games) / max(1, len(games) - 1)))
    return FamilyResult(
        family=family,
        policies=max(size for size, _ in games),
        games=len(games),
        adaptive_loss=float(adaptive.mean()),
        even_loss=float(even.mean()),
        saved_share=Estimate(value=share, low=share - NORMAL_QUANTILE * error, high=share + NORMAL_QUANTILE * error),
        adaptive_distance=float(values[:, 1].mean()),
        even_distance=float(values[:, 3].mean()),
        chosen=int(values[:, 4].sum()),
    )


def lines(bench: TournamentBench) -> Iterator[str]:
    """Yield the table as text."""
    yield f"{'family':34} games  loss: adaptive   even   saved [95 %]            distance: adaptive  even  uneven"
    for each in (*bench.families, bench.all):
        saved = each.saved_share
        yield (
            f"{each.family:34} {each.games:5}          {each.adaptive_loss:.4f}  {each.even_loss:.4f}  "
            f"{saved.value:+.2f} [{saved.low:+.2f}, {saved.high:+.2f}]                {each.adaptive_distance:.3f}  "
            f"{each.even_distance:.3f}  {each.chosen}"
        )
