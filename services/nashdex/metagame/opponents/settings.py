"""Settings of the league."""

from typing import Literal

from pydantic import Field

from nashdex.core.section import Section, Share


class LeagueSettings(Section):
    """Whom the learner meets in mode league: prioritised fictitious self-play over classes of opponents."""

    weighting: Literal["hard", "variance", "normal"] = Field("hard", description="PFSP weight of an opponent.")
    baseline: float = Field(0.05, ge=0, le=1, description="Share of the scripted policies.")
    itself: float = Field(0.30, ge=0, le=1, description="Share of the learner's newest self.")
    peer: float = Field(0.30, ge=0, le=1, description="Share of policies at most 100 Elo weaker, or stronger.")
    exploitable: float = Field(0.35, ge=0, le=1, description="Share of policies more than 50 Elo below.")
    final_shares: tuple[Share, Share, Share, Share] | None = Field(
        None, description="Shares of baseline, itself, peer and exploitable in the last iteration; linear in between."
    )
