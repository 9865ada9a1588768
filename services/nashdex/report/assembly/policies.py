"""The rows of the population's table."""

from collections.abc import Sequence

from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.population import short_ids
from nashdex.metagame.ratings.ladder import ladder_ratings
from nashdex.report.assembly.iterations import shares
from nashdex.report.document import EloEstimate, PolicyRow
from nashdex.report.sources import IterationSources


def policy_rows(
    last: IterationSources, by_rating: Sequence[PolicyId], anchors: Sequence[PolicyId]
) -> tuple[PolicyRow, ...]:
    """Return a row for each policy of ``by_rating``."""
    entries = {entry.id: entry for entry in last.population.policies}
    probabilities = {share.policy: share.probability for share in shares(last)}
    short = short_ids(last.population.policies)
    ladder = ladder_ratings(last.totals.ladder, last.totals.tally()) if last.totals.battles else {}
    rows = []
    for policy in by_rating:
        entry, rating = entries[policy], last.analysis.ratings[policy]
        rows.append(
            PolicyRow(
                id=policy,
                short_id=short[policy],
                name=entry.name,
                kind=entry.kind,
                iteration=entry.iteration,
                parent=entry.parent,
                anchor=policy in anchors,
                probability=probabilities[policy],
                rating=EloEstimate(
                    elo=Estimate(value=rating.elo, low=rating.low, high=rating.high),
                    standard_error=rating.standard_error,
                ),
                ladder=ladder.get(policy),
                games=rating.games,
            )
        )
    return tuple(rows)
