"""Which colour each policy has, on every chart and table of the page."""

from collections import Counter
from collections.abc import Mapping

from nashdex.core.ids import PolicyId
from nashdex.report.document import Report
from nashdex.report.page.charts import NUM_COLOURS


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
