"""The payoff matrix and the picture of its cyclic part."""

from collections.abc import Sequence

import numpy as np

from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.embedding import first_disc, transitive_part
from nashdex.metagame.evidence.estimates import EVEN, Floats
from nashdex.metagame.evidence.ledger import InteractionMatrix
from nashdex.metagame.ratings.bradley_terry import expected_scores_of
from nashdex.metagame.ratings.table import ELO_PER_STRENGTH
from nashdex.metagame.tournament.schedule import full_table_battles
from nashdex.report.assembly.iterations import wilson
from nashdex.report.document import MAX_PICTURED_POLICIES, Cell, Embedding, EmbeddingPoint, PayoffMatrix
from nashdex.report.sources import IterationSources
from nashdex.settings.run import RunSettings

_FEWEST_PICTURED = 3
"""A cycle has at least three policies."""


def exact_payoffs(matrix: InteractionMatrix) -> Floats:
    """Return the exact payoffs as an array of shape (K, K)."""
    return np.array(matrix.payoffs, dtype=np.float64).reshape(len(matrix.policies), len(matrix.policies))


def payoff_matrix(settings: RunSettings, last: IterationSources, order: Sequence[PolicyId]) -> PayoffMatrix:
    """Return the newest payoffs with rows and columns in ``order``."""
    ordered, size = last.matrix.restricted_to(order), range(len(order))
    exact = ordered.payoffs is not None
    return PayoffMatrix(
        policies=tuple(order),
        cells=None if exact else tuple(tuple(_cell(ordered, i, j) for j in size) for i in size),
        exact=ordered.payoffs,
        imputed=last.analysis.imputed_cells,
        battles=sum(map(sum, ordered.games)) // 2,
        full_table_battles=None
        if exact or settings.evaluate.schedule == "uniform"
        else full_table_battles(len(order), settings.evaluate),
    )


def _cell(matrix: InteractionMatrix, i: int, j: int) -> Cell | None:
    if not matrix.games[i][j]:
        return None
    wins, draws, losses = matrix.wins[i][j], matrix.draws[i][j], matrix.wins[j][i]
    return Cell(wins=wins, draws=draws, losses=losses, rate=wilson(wins, draws, losses))


def embedding(last: IterationSources, order: Sequence[PolicyId]) -> Embedding | None:
    """Return the disc of what ratings do not predict; None where sampling noise alone explains it."""
    analysis, matrix = last.analysis, last.matrix.restricted_to(order)
    if not _FEWEST_PICTURED <= len(order) <= MAX_PICTURED_POLICIES:
        return None
    if matrix.payoffs is not None:
        payoffs = exact_payoffs(matrix)
        transitive = transitive_part(payoffs)
    else:
        if analysis.intransitivity <= analysis.intransitivity_by_chance:
            return None
        transitive = expected_scores_of(np.array([analysis.ratings[p].elo for p in order]) / ELO_PER_STRENGTH) - EVEN
        wins, draws, games = matrix.arrays()
        # A pair without battles counts as if its ratings predicted it.
        payoffs = np.where(games > 0, (wins + draws / 2) / np.maximum(games, 1) - EVEN, transitive)
    disc = first_disc(order, payoffs, transitive)
    if disc is None:
        return None
    return Embedding(
        points=tuple(
            EmbeddingPoint(policy=policy, x=x, y=y)
            for policy, (x, y) in zip(order, disc.positions.tolist(), strict=True)
        ),
        share=disc.share,
    )
