"""The policies' names, colours and ratings."""

from collections import Counter
from collections.abc import Container, Mapping

from markupsafe import Markup

from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.report.document import Replay, Report
from nashdex.report.page.charts import NUM_COLOURS
from nashdex.report.page.charts.bars import whisker

Names = Mapping[PolicyId, str]


def known_policies(report: Report, names: Names) -> dict[PolicyId, str]:
    """Return the names of members, and of policies that were trained and not let into the population."""
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


def battle_to_watch(report: Report, embedded: Container[str]) -> Replay | None:
    """Return an embedded battle of the newest trained policy against the strongest opponent that it has one against.

    A battle that it wins is preferred.
    """
    if report.trained is None:
        return None
    newest = report.trained.policy
    strength = {row.id: -place for place, row in enumerate(report.policies)}
    battles = [replay for replay in report.replays if newest in replay.policies and replay.name in embedded]
    return max(
        battles,
        key=lambda replay: (max(strength[p] for p in replay.policies if p != newest), replay.winner == newest),
        default=None,
    )


def colours_of(report: Report) -> dict[PolicyId, str]:
    """Give the policies that mixtures play most, over all iterations, a colour each; the others share a grey."""
    played: Counter[PolicyId] = Counter()
    for row in report.iterations:
        for share in row.meta_strategy:
            if share.probability.value > 0:
                played[share.policy] += share.probability.value  # type: ignore[assignment] # Counter holds floats too
    order = {policy: place for place, policy in enumerate(played)}
    most = sorted(played, key=lambda policy: (-played[policy], order[policy]))[:NUM_COLOURS]
    coloured = {policy: f"c{place}" for place, policy in enumerate(sorted(most, key=order.__getitem__))}
    return {row.id: coloured.get(row.id, "other") for row in report.policies}


def legend(colours: Mapping[PolicyId, str]) -> list[PolicyId]:
    """Return the policies that have a colour of their own, in the order of colours."""
    return sorted((policy for policy, colour in colours.items() if colour != "other"), key=colours.__getitem__)
