"""What a ladder would show of the population: online Elo, Glicko-1 and GXE. For display, never for a decision."""

from collections.abc import Sequence

from pydantic import Field, NonNegativeFloat

from nashdex.core.documents import Model
from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.estimates import NORMAL_QUANTILE
from nashdex.metagame.evidence.intervals import Interval
from nashdex.metagame.evidence.ledger import BattleRecord
from nashdex.metagame.ratings.elo import online_elo
from nashdex.metagame.ratings.glicko import Glicko, glicko_after_one_period

_SCORES = {0: 1.0, 1: 0.0, None: 0.5}
"""Of the first seat, by the winner's."""


class LadderRating(Model):
    """One policy as a ladder would show it."""

    online_elo: float = Field(description="K = 32, from 1000; the last battles weigh most.")
    glicko: float = Field(description="Glicko-1 after one rating period, from 1500.")
    glicko_deviation: NonNegativeFloat = Field(description="RD, from 350.")
    gxe: float = Field(ge=0.0, le=100.0, description="Per cent that the Glicko expects against the ladder at large.")
    gxe_interval: Interval = Field(description="GXE of the Glicko's own 95 %: rating ± 1.96 deviations.")


def _gxe_interval(glicko: Glicko) -> Interval:
    reach = NORMAL_QUANTILE * glicko.deviation
    low, high = (glicko._replace(rating=glicko.rating + side * reach).gxe for side in (-1.0, 1.0))
    return Interval(low=low, high=high)


def ladder_ratings(policies: Sequence[PolicyId], records: Sequence[BattleRecord]) -> dict[PolicyId, LadderRating]:
    """Return every policy's ladder ratings. ``records`` are in the order played, which online Elo depends on.

    A battle with a policy that is not among ``policies`` does not count.
    """
    known = set(policies)
    battles = [(*record.policies, _SCORES[record.winner]) for record in records if known.issuperset(record.policies)]
    elo, glicko = online_elo(policies, battles), glicko_after_one_period(policies, battles)
    return {
        policy: LadderRating(
            online_elo=elo[policy],
            glicko=glicko[policy].rating,
            glicko_deviation=glicko[policy].deviation,
            gxe=glicko[policy].gxe,
            gxe_interval=_gxe_interval(glicko[policy]),
        )
        for policy in policies
    }
