"""Print docs/reference/metrics.md, made from the catalogue: ``python scripts/docs/metrics_page.py``."""

import sys

from nashdex.telemetry.metric import LABELS, PROCESS_LABELS
from nashdex.telemetry.metrics import CATALOGUE

_HEAD = """\
# Metrics

Generated from the catalogue in `nashdex.telemetry.metrics` by `make docs`; a test fails if it is not current.

A process serves its metrics at `/metrics` on the port in `NASHDEX_METRICS_PORT`. On the same port, `/healthz` returns
200 while the process makes progress, and 503 after `NASHDEX_HEALTH_STALE_SECONDS` (300 by default) without progress.
"""


def metrics_page() -> str:
    """Return docs/reference/metrics.md."""
    lines = [_HEAD, "| name | kind | unit | labels | meaning |", "|---|---|---|---|---|"]
    lines += [
        f"| `{metric.name}` | {metric.kind} | {metric.unit} | {', '.join(metric.labels)} | {metric.help} |"
        for metric in CATALOGUE
    ]
    lines += [
        "",
        "## Labels",
        "",
        f"Every metric has the labels {', '.join(f'`{label}`' for label in PROCESS_LABELS)} of its process.",
        "",
        "| label | values |",
        "|---|---|",
        *(f"| `{label}` | {meaning} |" for label, meaning in LABELS.items()),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(metrics_page())
