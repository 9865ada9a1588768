"""The score of a record of battles: by battle, by series, and as ratings."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from nashdex.metagame.evidence.estimates import clustered_wilson_interval
from nashdex.metagame.ratings.bradley_terry import fit
from nashdex.metagame.ratings.ladder import INITIAL, updated
from nashdex.serve.lines import to_id
from nashdex.serve.room import SCORES
from nashdex.serve.series import most_battles
from nashdex.serve.served import ServedBattle

_ELO: Final = 400 / math.log(10)
"""Elo of one natural unit of strength."""
_MEAN_OPPONENT: Final = 1500.0
_Z: Final = 1.959964
"""Half-width of a 95 % interval, in standard deviations."""


class Rating(NamedTuple):
    """A Bradley–Terry rating in Elo; the mean of the opponents met is 1500."""

    rating: float
    low: float
    """95 % interval."""
    high: float


class Standing(NamedTuple):
    """The score so far."""

    battles: int
    wins: int
    losses: int
    ties: int
    void: int
    refused: int
    """Choices that the server refused."""
    untracked: int
    """Decisions that the tracker could not follow; the server's default choice answered them."""
    score: float | None
    low: float | None
    high: float | None
    gxe: float | None
    """Glicko's GXE, with every opponent taken for an average one."""
    bradley_terry: float | None
    """Rating over all battles; the mean of the opponents met is 1500."""
    bradley_terry_low: float | None
    bradley_terry_high: float | None
    rating: int | None
    """The server's newest."""
    series: int
    """Finished best-of-three series."""
    series_won: int
    series_lost: int

    def text(self) -> str:
        """Return it as one line."""
        parts = [f"{self.battles} battles: {self.wins} won, {self.losses} lost, {self.ties} tied"]
        if self.void:
            parts.append(f"{self.void} void")
        if self.series:
            parts.append(f"{self.series} series: {self.series_won} won, {self.series_lost} lost")
        parts.append(f"{self.refused} choices refused")
        if self.untracked:
            parts.append(f"{self.untracked} decisions not followed")
        if self.score is not None:
            parts.append(f"score {self.score:.3f} (95 % interval {self.low:.3f} to {self.high:.3f})")
            parts.append(f"GXE {self.gxe:.1f} %")
        if self.bradley_terry is not None:
            interval = f"{self.bradley_terry_low:.0f} to {self.bradley_terry_high:.0f}"
            parts.append(f"Bradley–Terry {self.bradley_terry:.0f} ({interval})")
        if self.rating is not None:
            parts.append(f"server's rating {self.rating}")
        return ", ".join(parts)


def standing_of(battles: Sequence[ServedBattle]) -> Standing:
    """Return the score over ``battles``, in the order in which they ended."""
    results = [battle.result for battle in battles if battle.result is not None]
    scores = [SCORES[result] for result in results]
    low, high = clustered_wilson_interval(scores, list(range(len(scores)))) if scores else (None, None)
    ratings = [battle.rating for battle in battles if battle.rating is not None]
    rated = rating_of(battles) if scores else None
    margins = _series_margins(battles)
    return Standing(
        battles=len(results),
        wins=results.count("win"),
        losses=results.count("loss"),
        ties=results.count("tie"),
        void=len(battles) - len(results),
        refused=sum(battle.refused for battle in battles),
        untracked=sum(battle.untracked for battle in battles),
        score=math.fsum(scores) / len(scores) if scores else None,
        low=low,
        high=high,
        gxe=updated(INITIAL, [(INITIAL, score) for score in scores]).gxe if scores else None,
        bradley_terry=None if rated is None else rated.rating,
        bradley_terry_low=None if rated is None else rated.low,
        bradley_terry_high=None if rated is None else rated.high,
        rating=ratings[-1] if ratings else None,
        series=len(margins),
        series_won=sum(margin > 0 for margin in margins),
        series_lost=sum(margin < 0 for margin in margins),
    )


def rating_of(battles: Sequence[ServedBattle]) -> Rating:
    """Return the rating against the opponents of ``battles``, one of which has a result: penalised likelihood.

    Each opponent has a strength of its own, which these battles alone estimate.
    """
    by_opponent: defaultdict[str, list[float]] = defaultdict(list)
    for battle in battles:
        if battle.result is not None:
            by_opponent[to_id(battle.opponent)].append(SCORES[battle.result])
    met = list(by_opponent.values())
    size = len(met) + 1
    games, scores = np.zeros((size, size)), np.zeros((size, size))
    for place, scored in enumerate(met, start=1):
        games[0, place] = games[place, 0] = len(scored)
        scores[0, place] = math.fsum(scored)
        scores[place, 0] = len(scored) - scores[0, place]
    strengths = fit(scores, games, {})
    contrast = np.full(size, -1 / len(met))
    contrast[0] = 1.0
    gap = float(contrast @ strengths.theta) * _ELO
    width = _Z * math.sqrt(float(contrast @ strengths.covariance @ contrast)) * _ELO
    return Rating(_MEAN_OPPONENT + gap, _MEAN_OPPONENT + gap - width, _MEAN_OPPONENT + gap + width)


def _series_margins(battles: Sequence[ServedBattle]) -> list[float]:
    """Return the wins minus the losses of each series that is decided or has all its battles."""
    by_series: defaultdict[str, list[float]] = defaultdict(list)
    for battle in battles:
        if battle.series is not None and battle.result is not None:
            by_series[battle.series].append(2 * SCORES[battle.result] - 1)
    margins = []
    for series, each in by_series.items():
        most = most_battles(series)
        if len(each) == most or max(each.count(1.0), each.count(-1.0)) > most // 2:
            margins.append(math.fsum(each))
    return margins
