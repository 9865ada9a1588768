"""Elo ratings of policies whose expected scores are known exactly: no battles, so no errors either.

A rating still assumes that strength is transitive. Exact payoffs need not be; the table's intransitivity measures the
difference.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from nashdex.core.errors import DataError
from nashdex.metagame.evidence.estimates import EVEN, Floats
from nashdex.metagame.evidence.intervals import Interval
from nashdex.metagame.ratings.bradley_terry import expected_scores_of, fit
from nashdex.metagame.ratings.table import BASE_ELO, ELO_PER_STRENGTH, Rating, RatingTable

_GAMES = 1e6
"""Games that an exact score counts as: enough that the penalty does not matter, yet keeps a score of 1 finite."""
_MISFIT = 0.01
"""Root mean square misfit, in expected score, above which a warning calls the ratings misleading."""


def rate_exact(policies: Sequence[str], scores: Floats, *, anchors: Mapping[str, float]) -> RatingTable:
    """Rate ``policies`` from their expected scores P of shape (K, K), ½ on the diagonal.

    The strengths belong to the Bradley–Terry model whose expected scores have the smallest Kullback–Leibler distance
    from P, up to the penalty. Without anchors the mean is ``BASE_ELO``.

    Raises:
        DataError: an anchor is not a policy here.
    """
    unknown = sorted(set(anchors) - set(policies))
    if unknown:
        raise DataError(f"anchor {unknown[0]!r} is none of the rated policies {list(policies)}")
    order = sorted(range(len(policies)), key=policies.__getitem__)
    names, scores = [policies[i] for i in order], scores[np.ix_(order, order)]
    off_diagonal = 1.0 - np.eye(len(names))
    fixed = {names.index(policy): (elo - BASE_ELO) / ELO_PER_STRENGTH for policy, elo in anchors.items()}
    theta = fit(_GAMES * scores * off_diagonal, _GAMES * off_diagonal, fixed).theta
    elo = BASE_ELO + ELO_PER_STRENGTH * theta
    misfit = np.abs(np.triu(scores - expected_scores_of(theta), k=1))
    num_cells = len(names) * (len(names) - 1) / 2
    root_mean_square = float(np.sqrt((misfit**2).sum() / max(num_cells, 1)))
    one, other = divmod(int(misfit.argmax()), len(names))
    return RatingTable(
        ratings={
            policy: Rating(
                elo=rated,
                standard_error=0.0,
                low=rated,
                high=rated,
                sandwich_standard_error=0.0,
                bootstrap_standard_error=0.0,
                games=0,
                elo_without_penalty=rated,
            )
            for policy, rated in {**dict(zip(names, elo.tolist(), strict=True)), **anchors}.items()
        },
        gap_standard_errors={one: dict.fromkeys(names, 0.0) for one in names},
        anchors=dict(sorted(anchors.items())),
        intransitivity=root_mean_square,
        intransitivity_interval=Interval(low=root_mean_square, high=root_mean_square),
        intransitivity_by_chance=0.0,
        largest_misfit=float(misfit[one, other]),
        largest_misfit_cell=(names[one], names[other]) if num_cells else None,
        warnings=(
            *_unbounded(names, scores, fixed),
            *(_reversals(names, scores, elo, root_mean_square) if root_mean_square > _MISFIT else ()),
        ),
    )


def _unbounded(names: Sequence[str], scores: Floats, fixed: Mapping[int, float]) -> tuple[str, ...]:
    """Warn of policies that always win or always lose: only the penalty bounds their rating."""
    warnings = []
    for index, (name, row) in enumerate(zip(names, scores, strict=True)):
        others = np.delete(row, index)
        if len(others) and index not in fixed and others.min() == others.max() and others[0] in (0.0, 1.0):
            what, bound = ("wins", "above") if others[0] else ("loses", "below")
            warnings.append(f"{name!r} always {what}: only the penalty bounds its rating from {bound}")
    return tuple(warnings)


def _reversals(names: Sequence[str], scores: Floats, elo: Floats, misfit: float) -> tuple[str, ...]:
    """Warn of a cyclic payoff and name its clearest reversal, where a lower rated policy wins."""
    warning = f"the payoff is not transitive: ratings miss it by {misfit:.3f} a cell; they do not predict single pairs"
    reversed_cells = np.where(elo[:, None] >= elo[None, :], scores, EVEN)
    high, low = divmod(int(reversed_cells.argmin()), len(names))
    if reversed_cells[high, low] >= EVEN:
        return (warning,)
    clearest = f"{names[high]!r} is not rated below {names[low]!r} and yet scores {scores[high, low]:.3f} against it"
    return (warning, clearest)
