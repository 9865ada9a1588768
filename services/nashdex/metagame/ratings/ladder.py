"""What a ladder would show of the population: online Elo, Glicko-1 and GXE. For display, never for a decision."""

from collections.abc import Iterable, Mapping

import numpy as np
from pydantic import Field, NonNegativeFloat

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.estimates import interval_of_mixture
from nashdex.metagame.evidence.intervals import Interval
from nashdex.metagame.evidence.ledger import BattleRecord
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.ratings.elo import INITIAL_ELO, online_elo
from nashdex.metagame.ratings.glicko import INITIAL, PeriodSums, gxe_of_mean_score, sums_of_one_period

_SCORES = {0: 1.0, 1: 0.0, None: 0.5}
"""Score of the first seat, by the winner's seat."""


class LadderRating(Model):
    """One policy as a ladder would show it."""

    online_elo: float = Field(description="K = 32, from 1000; the last battles weigh most.")
    glicko: float = Field(description="Glicko-1 after one rating period, from 1500.")
    glicko_deviation: NonNegativeFloat = Field(description="RD, from 350.")
    gxe: float = Field(ge=0.0, le=100.0, description="Per cent that the Glicko expects against the ladder at large.")
    gxe_interval: Interval = Field(description="95 %: GXE at both ends of the mean score's interval.")


def gxe_intervals(tally: Tally) -> list[Interval]:
    """Return each policy's interval of GXE, from its mean score over all its battles, by side-swapped pairs.

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


class LadderSums(Model):
    """One policy's state on the ladder, which later battles go on from."""

    online_elo: float = INITIAL_ELO
    glicko_information: NonNegativeFloat = Field(0.0, description="Σ over its battles of what each says.")
    glicko_surprise: float = Field(0.0, description="Σ over its battles of score above what was expected, discounted.")

    @property
    def period(self) -> PeriodSums:
        """The sums of its rating period."""
        return PeriodSums(self.glicko_information, self.glicko_surprise)


def climbed(before: Mapping[PolicyId, LadderSums], records: Iterable[BattleRecord]) -> dict[PolicyId, LadderSums]:
    """Return every policy's state after ``records``, in the order played, which online Elo depends on."""
    battles = [(*record.policies, _SCORES[record.winner]) for record in records]
    elo = online_elo(tuple(before), battles, before={policy: sums.online_elo for policy, sums in before.items()})
    periods = sums_of_one_period(battles, {policy: sums.period for policy, sums in before.items()})
    return {
        policy: LadderSums(online_elo=elo[policy], glicko_information=information, glicko_surprise=surprise)
        for policy, (information, surprise) in periods.items()
    }


def ladder_ratings(sums: Mapping[PolicyId, LadderSums], tally: Tally) -> dict[PolicyId, LadderRating]:
    """Return every policy's ladder ratings, from its state and all battles; the tally is in the order of ``sums``."""
    rated = {}
    for (policy, state), interval in zip(sums.items(), gxe_intervals(tally), strict=True):
        glicko = state.period.after(INITIAL)
        rated[policy] = LadderRating(
            online_elo=state.online_elo,
            glicko=glicko.rating,
            glicko_deviation=glicko.deviation,
            gxe=glicko.gxe,
            gxe_interval=interval,
        )
    return rated
