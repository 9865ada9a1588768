"""The policies' names and ratings."""

from collections.abc import Mapping

from markupsafe import Markup

from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.report.document import Report
from nashdex.report.page.charts.bars import whisker

Names = Mapping[PolicyId, str]


def known_policies(report: Report, names: Names) -> dict[PolicyId, str]:
    """Return the members' names, and those of policies that were trained and not let into the population."""
    trained = {training.policy: training.name for row in report.iterations for training in row.training}
    return trained | dict(names)


def whiskers(report: Report, names: Names, colours: Mapping[PolicyId, str]) -> dict[PolicyId, Markup]:
    """Return each policy's Elo with its interval, all on one axis."""
    rated: list[tuple[PolicyId, Estimate]] = [(row.id, row.rating.elo) for row in report.policies]
    axis = (min(elo.low for _, elo in rated), max(elo.high for _, elo in rated))
    return {
        policy: whisker(
            elo.value,
            elo.low,
            elo.high,
            axis=axis,
            colour=colours[policy],
            title=f"{names[policy]}: Elo {elo.value:.0f} ({elo.low:.0f} to {elo.high:.0f})",
        )
        for policy, elo in rated
    }
