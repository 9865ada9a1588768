"""What a ladder would show of the population: online Elo, Glicko-1 and GXE. For display, never for a decision."""

from collections.abc import Sequence

import numpy as np
from pydantic import Field, NonNegativeFloat

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.estimates import interval_of_mixture
from nashdex.metagame.evidence.intervals import Interval
from nashdex.metagame.evidence.ledger import BattleRecord, count_records
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.ratings.elo import online_elo
from nashdex.metagame.ratings.glicko import glicko_after_one_period, gxe_of_mean_score

_SCORES = {0: 1.0, 1: 0.0, None: 0.5}
"""Of the first seat, by the winner's."""


class LadderRating(Model):
    """One policy as a ladder would show it."""

    online_elo: float = Field(description="K = 32, from 1000; the last battles weigh most.")
    glicko: float = Field(description="Glicko-1 after one rating period, from 1500.")
    glicko_deviation: NonNegativeFloat = Field(description="RD, from 350.")
    gxe: float = Field(ge=0.0, le=100.0, description="Per cent that the Glicko expects against the ladder at large.")
    gxe_interval: Interval = Field(description="95 %: GXE at both ends of the mean score's interval.")


def gxe_intervals(tally: Tally) -> list[Interval]:
    """Return each policy's interval of GXE: that of its mean score over all its battles, by side-swapped pairs.

    The Glicko of one period grows with the mean score alone, so an interval of the one becomes one of the other. The
    Glicko's own deviation takes battles for independent and even, which made it too wide.
    """
    games, freedom = tally.effective_games(), tally.degrees_of_freedom()
    intervals = []
    for place, played in enumerate(tally.games):
        met, total = np.flatnonzero(played), int(played.sum())
        if not total:
            intervals.append(Interval(low=0.0, high=100.0))
            continue
        scores = tally.scores[place, met] / played[met]
        ends = interval_of_mixture(played[met] / total, scores, games[place, met], freedom[place, met])
        low, high = (gxe_of_mean_score(end, total) for end in ends)
        intervals.append(Interval(low=low, high=high))
    return intervals


def ladder_ratings(policies: Sequence[PolicyId], records: Sequence[BattleRecord]) -> dict[PolicyId, LadderRating]:
    """Return every policy's ladder ratings. ``records`` are in the order played, which online Elo depends on.

    A battle with a policy that is not among ``policies`` does not count.
    """
    known = set(policies)
    records = [record for record in records if known.issuperset(record.policies)]
    battles = [(*record.policies, _SCORES[record.winner]) for record in records]
    elo, glicko = online_elo(policies, battles), glicko_after_one_period(policies, battles)
    intervals = gxe_intervals(count_records(policies, records))
    return {
        policy: LadderRating(
            online_elo=elo[policy],
            glicko=glicko[policy].rating,
            glicko_deviation=glicko[policy].deviation,
            gxe=glicko[policy].gxe,
            gxe_interval=interval,
        )
        for policy, interval in zip(policies, intervals, strict=True)
    }
