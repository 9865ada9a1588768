"""Whether a run got anywhere: against frozen anchors and against where training began, not against a moving league.

What is best is chosen on one half of the battles and scored on the other: the winner of many noisy scores looks better
than it is on the battles that made it the winner.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import NonNegativeInt

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyId, PolicyIdField
from nashdex.core.seeds import derive_seed
from nashdex.metagame.analysis.exploitability import interval
from nashdex.metagame.evidence.estimates import expected_scores, posterior_scores
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.evidence.ledger import BattleRecord, count_records
from nashdex.metagame.evidence.purposes import ScoringBattles, SelectionBattles
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.ratings.table import EloGap, RatingTable, rate


class MixtureScore(Estimate):
    """What a mixture is expected to score against one opponent: 95 % of the posterior draws around it."""

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
    matrix: SampledCounts,
    strategy: Mapping[PolicyId, float],
    opponents: Sequence[PolicyId],
    *,
    num_draws: int,
    seed: int,
) -> tuple[MixtureScore, ...]:
    """Return Σ_j σ_j P̂(j, opponent) for each opponent that has met all of the mixture.

    One that is the whole mixture is left out: it is itself.
    """
    policies = matrix.policies
    tally = matrix.tally()
    games = tally.games
    sigma = np.array([strategy.get(policy, 0.0) for policy in policies])
    met_all = [
        all(games[member, place] for member in np.flatnonzero(sigma) if member != place)
        for place in range(len(policies))
    ]
    scores = sigma @ expected_scores(tally)
    drawn = sigma @ posterior_scores(policies, tally, num_draws=num_draws, seed=seed)
    found = []
    for opponent in opponents:
        place = policies.index(opponent)
        met = int(games[sigma > 0, place].sum())
        if met and met_all[place]:
            value = float(scores[place])
            bounds = interval(value, drawn[:, place])
            found.append(MixtureScore(opponent=opponent, value=value, low=bounds.low, high=bounds.high, games=met))
    return tuple(found)


def improvement(
    policies: Sequence[PolicyId],
    base: PolicyId,
    candidates: Sequence[PolicyId],
    records: Sequence[BattleRecord],
    *,
    anchors: Mapping[str, float],
    num_draws: int,
    seed: int,
) -> Improvement | None:
    """Compare the best of ``candidates`` with ``base`` by Bradley–Terry ratings over all of ``policies``.

    Of several candidates, battles for selection choose the best and battles for scoring alone score it. A single
    candidate needs no choice and is scored on all.

    Returns:
        None without candidates, or where the battles to choose or score on are missing.
    """
    scoring = ScoringBattles.among(records, num_candidates=len(candidates))
    return improvement_of_tallies(
        policies,
        base,
        candidates,
        selection=count_records(policies, SelectionBattles.among(records).records),
        scoring=count_records(policies, scoring.records),
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

    Args:
        policies: the members.
        base: the policy to compare with.
        candidates: the best of these is compared.
        selection: battles that choose one of several candidates.
        scoring: battles that score it. Of a single candidate: all.
        anchors: fixed Elo by id.
        num_draws: of the bootstrap.
        seed: of the bootstrap.
    """

    def rated(tally: Tally, use: str) -> RatingTable | None:
        if not tally.games[policies.index(base)].any():
            return None
        return rate(policies, tally, anchors=anchors, num_draws=num_draws, seed=derive_seed(seed, "improvement", use))

    if not candidates:
        return None
    best = candidates[0]
    if len(candidates) > 1:
        chosen = rated(selection, SelectionBattles.__name__)
        if chosen is None:
            return None
        best = max(candidates, key=lambda policy: (chosen.ratings[policy].elo, policy))
    table = rated(scoring, ScoringBattles.__name__)
    if table is None:
        return None
    return Improvement(
        best=best, base=base, elo=table.gap(best, base), games=int(scoring.games[policies.index(base)].sum())
    )
