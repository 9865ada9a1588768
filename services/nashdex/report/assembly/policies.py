"""The rows of the population's table."""

from collections.abc import Sequence

from nashdex.core.ids import PlayedPolicy, PolicyId
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.evidence.ledger import BattleRecord
from nashdex.metagame.population import Population
from nashdex.metagame.ratings.ladder import ladder_ratings
from nashdex.report.assembly.iterations import shares
from nashdex.report.document import EloEstimate, PolicyRow
from nashdex.report.sources import IterationSources

_SHORTEST_ID = 6


def policy_rows(
    last: IterationSources, by_rating: Sequence[PolicyId], anchors: Sequence[PolicyId], records: Sequence[BattleRecord]
) -> tuple[PolicyRow, ...]:
    """Return a row for each policy of ``by_rating``."""
    entries = {entry.id: entry for entry in last.population.policies}
    probabilities = {share.policy: share.probability for share in shares(last)}
    length = _short_id_length(last.population)
    ladder = ladder_ratings(last.population.ids, records) if records else {}
    rows = []
    for policy in by_rating:
        entry, rating = entries[policy], last.analysis.ratings[policy]
        rows.append(
            PolicyRow(
                id=policy,
                short_id=policy if entry.kind == "scripted" else _shortened(policy, length),
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


def _short_id_length(population: Population) -> int:
    """Return the least number of characters that tells the trained policies' ids apart."""
    ids = [entry.id for entry in population.policies if entry.kind != "scripted"]
    longest = max((len(policy) for policy in ids), default=_SHORTEST_ID)
    return next(
        (n for n in range(_SHORTEST_ID, longest) if len({_shortened(policy, n) for policy in ids}) == len(ids)),
        longest,
    )


def _shortened(policy: PolicyId, length: int) -> str:
    """Return the first ``length`` characters of the policy, and how it plays in full."""
    played = PlayedPolicy.of(policy)
    return played.policy[:length] + played.suffix
