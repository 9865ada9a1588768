"""Dashboards as Grafana reads them, built with Grafana's foundation SDK."""

import itertools
from collections.abc import Iterator, Sequence

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.common import (
    BigValueColorMode,
    GraphThresholdsStyleMode,
    LegendDisplayMode,
    LegendPlacement,
    ScaleDistribution,
    SortOrder,
    TooltipDisplayMode,
    VisibilityMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    DashboardLinkType,
    DataSourceRef,
    Threshold,
    ThresholdsMode,
    VariableOption,
    VariableRefresh,
    VariableSort,
)
from grafana_foundation_sdk.models.prometheus import QueryEditorMode

from dashboards.panels import Dashboard, Panel, Price, Target, Thresholds

_WIDTH, _CHART_HEIGHT, _NUMBER_HEIGHT = 24, 8, 4
"""In units of Grafana's grid."""
_DATASOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
_ALIVE = '{__name__=~"nashdex_iterations|nashdex_step_progress_ratio"'
_NAMESPACES = f"label_values({_ALIVE}}}, namespace)"
_RUNS = f'label_values({_ALIVE}, namespace=~"$namespace"}}, run)'


def to_json(described: Dashboard) -> str:
    """Return the dashboard's file."""
    builder = (
        dashboard.Dashboard(described.title)
        .uid(described.uid)
        .description(described.description)
        .tags(["nashdex"])
        .version(1)
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .refresh("30s")
        .time("now-6h", "now")
        .timezone("browser")
        .link(
            dashboard.DashboardLink("Nashdex")
            .type(DashboardLinkType.DASHBOARDS)
            .tags(["nashdex"])
            .as_dropdown(True)
            .include_vars(True)
            .keep_time(True)
        )
        .with_variable(dashboard.DatasourceVariable("datasource").label("Prometheus").type("prometheus"))
        .with_variable(_choice("namespace", "Namespace", _NAMESPACES, VariableSort.ALPHABETICAL_ASC))
        .with_variable(_choice("run", "Run", _RUNS, VariableSort.ALPHABETICAL_DESC))
    )
    for price in described.prices:
        builder.with_variable(_price(price))
    ids = itertools.count(1)
    for row in described.rows:
        builder.with_row(dashboard.Row(row.title).id(next(ids)))
        edges = [round(_WIDTH * index / len(row.panels)) for index in range(len(row.panels) + 1)]
        for panel, (left, right) in zip(row.panels, itertools.pairwise(edges), strict=True):
            builder.with_panel(_panel(panel).id(next(ids)).span(right - left))
    return f"{JSONEncoder(sort_keys=True, indent=1, ensure_ascii=False).encode(builder.build())}\n"


def _choice(name: str, label: str, query: str, sort: VariableSort) -> dashboard.QueryVariable:
    """Return a variable of which the reader selects any number of values, or all."""
    return (
        dashboard.QueryVariable(name)
        .label(label)
        .datasource(_DATASOURCE)
        .query({"query": query, "refId": name})
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(sort)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(VariableOption(selected=True, text="All", value="$__all"))
    )


def _panel(panel: Panel) -> timeseries.Panel | stat.Panel:
    built = _number() if panel.kind == "stat" else _chart(logarithmic=panel.logarithmic)
    built.title(panel.title).description(panel.help).unit(panel.unit).datasource(_DATASOURCE)
    if panel.thresholds:
        built.thresholds(_thresholds(panel.thresholds))
        if isinstance(built, timeseries.Panel):
            built.thresholds_style(common.GraphThresholdsStyleConfig().mode(GraphThresholdsStyleMode.DASHED))
        else:
            built.color_mode(BigValueColorMode.VALUE)
    for target in _targets(panel.targets):
        built.with_target(target)
    return built


def _thresholds(thresholds: Thresholds) -> dashboard.ThresholdsConfig:
    low, high = thresholds.below, thresholds.above
    steps = [Threshold(value=None, color="green" if low is None else "red")]
    if low is not None:
        steps.append(Threshold(value=low, color="green"))
    if high is not None:
        steps.append(Threshold(value=high, color="red"))
    return dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(steps)


def _chart(*, logarithmic: bool) -> timeseries.Panel:
    scale = common.ScaleDistributionConfig().type(ScaleDistribution.LOG).log(10)
    return (
        timeseries.Panel()
        .height(_CHART_HEIGHT)
        .line_width(1)
        .fill_opacity(0)
        .show_points(VisibilityMode.AUTO)
        .span_nulls(False)
        .scale_distribution(scale if logarithmic else common.ScaleDistributionConfig().type(ScaleDistribution.LINEAR))
        .legend(
            common.VizLegendOptions()
            .display_mode(LegendDisplayMode.LIST)
            .placement(LegendPlacement.BOTTOM)
            .show_legend(True)
        )
        .tooltip(common.VizTooltipOptions().mode(TooltipDisplayMode.MULTI).sort(SortOrder.DESCENDING))
    )


def _number() -> stat.Panel:
    last = common.ReduceDataOptions().calcs(["lastNotNull"])
    return stat.Panel().height(_NUMBER_HEIGHT).reduce_options(last).color_mode(BigValueColorMode.NONE)


def _targets(targets: Sequence[Target]) -> Iterator[prometheus.Dataquery]:
    for index, target in enumerate(targets):
        yield (
            prometheus.Dataquery()
            .ref_id("ABCDEFGH"[index])
            .datasource(_DATASOURCE)
            .expr(target.expression)
            .legend_format(target.legend)
            .range()
            .editor_mode(QueryEditorMode.CODE)
        )


def _price(price: Price) -> dashboard.TextBoxVariable:
    chosen = VariableOption(selected=True, text=price.usd, value=price.usd)
    return (
        dashboard.TextBoxVariable(price.name)
        .label(price.label)
        .default_value(price.usd)
        .current(chosen)
        .options([chosen])
    )
