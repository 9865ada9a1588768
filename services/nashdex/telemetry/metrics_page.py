"""Write docs/metrics.md from the catalogue: ``python -m nashdex.telemetry.metrics_page > docs/metrics.md``."""

import sys

from nashdex.telemetry.metric import LABELS, PROCESS_LABELS
from nashdex.telemetry.metrics import CATALOGUE

_HEAD = """\
# Metrics

Made from the catalogue in `nashdex.telemetry.metrics` by `make docs`; a test fails when it is not current.

A process serves them at `/metrics` on the port that `NASHDEX_METRICS_PORT` names. `/healthz` beside it answers 200
while work advances and 503 once nothing advanced for `NASHDEX_HEALTH_STALE_SECONDS` (300 by default).
"""


def metrics_page() -> str:
    """Return docs/metrics.md."""
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
