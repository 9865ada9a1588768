"""Whether a run got anywhere: against frozen anchors and against where training began, not against a moving league.

The best policy is chosen on one half of the battles and scored on the other: the winner of many noisy scores looks
better than it is on the battles that made it the winner.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import NonNegativeInt

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.core.seeds import derive_seed
from nashdex.metagame.evidence.battles import Purpose
from nashdex.metagame.evidence.estimates import expected_scores, interval_of_mixture
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.evidence.totals import BattleTotals
from nashdex.metagame.ratings.table import EloGap, RatingTable, rate, tied


class MixtureScore(Estimate):
    """Expected score of a mixture against one opponent, with a 95 % interval from the cells' intervals."""

    opponent: PolicyIdField
    games: NonNegativeInt
    """Battles between the mixture's members and the opponent."""


class Improvement(Model):
    """Elo(best) − Elo(base)."""

    best: PolicyIdField
    base: PolicyIdField
    elo: EloGap
    games: NonNegativeInt
    """Battles that it was scored on."""


def mixture_scores(
    matrix: SampledCounts, strategy: Mapping[PolicyId, float], opponents: Sequence[PolicyId]
) -> tuple[MixtureScore, ...]:
    """Return Σ_j σ_j P̂(j, opponent) for each opponent that has met all of the mixture.

    The interval is Wilson's, with the variance of the cells together. The same battles may have chosen the mixture,
    so the score leans high where policies are alike. Among ten copies with 4, 20, 100 or 1,000 battles a cell: by .057,
    .026, .012 or .004; where cells have 1 to 1,000 pairs, by .03.
    The coverage in ``docs/research/metagame.md`` includes this bias.

    An opponent that is the whole mixture is left out: it is itself.
    """
    policies = matrix.policies
    tally = matrix.tally
    games = tally.games
    sigma = np.array([strategy.get(policy, 0.0) for policy in policies])
    scores = expected_scores(tally)
    effective = np.where(np.eye(len(policies), dtype=bool), np.inf, tally.effective_games())
    freedom = tally.degrees_of_freedom()
    found = []
    for opponent in opponents:
        place = policies.index(opponent)
        others = [member for member in np.flatnonzero(sigma) if member != place]
        if not others or not games[others, place].all():
            continue
        played = np.flatnonzero(sigma)
        bounds = interval_of_mixture(sigma[played], *(table[played, place] for table in (scores, effective, freedom)))
        found.append(
            MixtureScore(
                opponent=opponent,
                value=float(sigma @ scores[:, place]),
                low=bounds[0],
                high=bounds[1],
                games=int(games[others, place].sum()),
            )
        )
    return tuple(found)


def improvement(
    totals: BattleTotals,
    base: PolicyId,
    candidates: Sequence[PolicyId],
    *,
    anchors: Mapping[str, float],
    num_draws: int,
    seed: int,
) -> Improvement | None:
    """Compare the best of ``candidates`` with ``base`` by Bradley–Terry ratings over all policies of ``totals``.

    With several candidates, battles for selection choose the best and battles for scoring alone score it. A single
    candidate needs no choice and is scored on all.

    Returns:
        None without candidates, or where the battles to choose or score on are missing.
    """
    return improvement_of_tallies(
        totals.policies,
        base,
        candidates,
        selection=totals.tally(Purpose.SELECTION),
        scoring=totals.tally(None if len(candidates) == 1 else Purpose.SCORING),
        anchors=anchors,
        num_draws=num_draws,
        seed=seed,
    )


def improvement_of_tallies(
    policies: Sequence[PolicyId],
    base: PolicyId,
    candidates: Sequence[PolicyId],
    *,
    selection: Tally,
    scoring: Tally,
    anchors: Mapping[str, float],
    num_draws: int,
    seed: int,
) -> Improvement | None:
    """Return the improvement from battles that are counted already, in the order of ``policies``.

    ``selection`` battles choose one of several candidates, ``scoring`` battles score it; a single candidate is scored
    on all. One whose battles of a use do not tie it to ``base`` has no rating, and is left out. ``anchors`` are fixed
    Elo by id.
    """
    place = {policy: index for index, policy in enumerate(policies)}

    def rated(tally: Tally, use: str) -> RatingTable:
        of_use = derive_seed(seed, "improvement", use)
        return rate(policies, tally, anchors=anchors, num_draws=num_draws, seed=of_use, compared=(base,))

    is_tied = tied(scoring.games, [place[base]])
    if len(candidates) > 1:
        is_tied &= tied(selection.games, [place[base]])
    measured = [candidate for candidate in candidates if is_tied[place[candidate]]]
    if not measured:
        return None
    best = measured[0]
    if len(measured) > 1:
        chosen = rated(selection, "SelectionBattles")
        best = max(measured, key=lambda policy: (chosen.ratings[policy].elo, policy))
    table = rated(scoring, "ScoringBattles")
    return Improvement(best=best, base=base, elo=table.gap(best, base), games=int(scoring.games[place[base]].sum()))
