"""``nashdex cost``: a run's costs, and its results for the money."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex_cli.commands.output import JsonOption, print_answer

if TYPE_CHECKING:
    from nashdex_lab.costs import RunCost


_SMALLEST = 1e-3


def cost(
    run: Annotated[str, typer.Argument(metavar="RUN_URI", help="A run with a report.")],
    prices: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="Prices, such as configs/prices.toml. [default: 1 an hour of CPU]"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print CPU and GPU time, bytes, requests and price of every step, up to the newest report.

    The bottleneck of an iteration is its step with the longest wall time. Usage of killed attempts is not recorded.
    """
    from nashdex.core import keys
    from nashdex.report.document import Report
    from nashdex.report.sources import newest_report, read_manifests
    from nashdex.runs.creation import open_run
    from nashdex.store.documents import read_written
    from nashdex_lab.costs import cost_of, read_prices

    known = read_prices(prices)
    opened = open_run(run)
    newest = newest_report(opened.store)
    report = read_written(opened.store, newest, keys.REPORT, Report)
    manifests = [read_manifests(opened.store, opened.settings, i) for i in range(newest.iteration + 1)]
    found = cost_of(report, manifests, known)
    print_answer(found, _lines(found), as_json=as_json)


def _lines(found: "RunCost") -> Iterator[str]:
    yield "iteration  step      CPU s     GPU s    reads   writes   MB read  MB written    price"
    for iteration in found.iterations:
        for step in iteration.steps:
            yield (
                f"{iteration.iteration:9}  {step.step:8} {step.cpu_seconds:7,.1f} {step.gpu_seconds:9,.1f} "
                f"{step.reads:8,} {step.writes:8,} {step.bytes_read / 1e6:9,.2f} {step.bytes_written / 1e6:11,.2f} "
                f"{_price(step.price):>8}"
            )
        share = f"{100 * iteration.bottleneck_share:.0f} % of the steps' wall time"
        yield (
            f"iteration {iteration.iteration} cost {_price(iteration.price)}; "
            f"its bottleneck is {iteration.bottleneck}, {share}"
        )
    yield f"all iterations cost {_price(found.price)}"
    for words, price in (
        ("100 Elo", found.price_of_100_elo),
        (".01 of exploitability", found.price_of_a_hundredth_of_gap),
    ):
        if price is None:
            yield f"{words}: not shown, because chance explains the improvement, or none is measured"
        else:
            yield f"{words} cost {_price(price.value)} [{_price(price.low)}, {_price(price.high)}] (95 %)"


def _price(amount: float) -> str:
    """Return an amount with four decimals; a small one with two digits, since 0.0000 would say that it was free."""
    return f"{amount:.4f}" if amount >= _SMALLEST or not amount else f"{amount:.1e}"
