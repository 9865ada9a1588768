"""Runs every expression of dashboards and alerts on a real Prometheus.

A silent alert has no result. So each metric that an alert selects must have a result, and the whole alert must evaluate
without an error.

Everything has a result after a Showdown run has cloned a teacher and improved it by PPO in a second iteration, beside a
tabular run. Prometheus must also scrape Argo's controller: k8s/prerequisites/argo-metrics.yaml.
"""

import json
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Collection, Iterator
from typing import Any

from support.promql import Expression, alert_expressions, dashboard_expressions, with_values

_STEP_SECONDS = 15
_TIMEOUT_SECONDS = 30
_OF_LONGER_TRAININGS = frozenset(
    {
        "nashdex_evaluation_score",
        "nashdex_learner_waiting_seconds_total",
        "nashdex_actor_waiting_seconds_total",
        "nashdex_chunks_total",
    }
)
_OF_RUNS_THAT_IMPROVE = frozenset({"nashdex_gained_elo", "nashdex_lowered_exploitability"})
NOT_EVERYWHERE = frozenset(
    {"DCGM_FI_DEV_GPU_UTIL", "ALERTS", "nashdex_leaked_states_total", "nashdex_other_policies_elo"}
)
NOT_EVERYWHERE |= _OF_LONGER_TRAININGS | _OF_RUNS_THAT_IMPROVE
"""Metrics that exist only with a GPU and NVIDIA's exporter, only while an alert fires, only where policies with memory
play, only in populations with more policies than have series of their own, only in trainings that play further battles,
or only where a run has improved."""


def ask_all(
    base_url: str,
    *,
    window_seconds: float = 3600,
    absent: Collection[str] = NOT_EVERYWHERE,
    headers: dict[str, str] | None = None,
    context: ssl.SSLContext | None = None,
) -> list[str]:
    """Return the expressions without a result, each after its place.

    Args:
        base_url: Prometheus's root, such as ``http://10.0.0.1:9090``.
        window_seconds: how far back an answer counts: pods that spoke within it may be gone.
        absent: metrics that need not be there; expressions that name one must only be understood.
        headers: sent with every request, such as an Authorization.
        context: for a server with a self-signed certificate.

    Raises:
        OSError: Prometheus cannot be reached.
    """

    def ask(expression: str) -> str | None:
        """Return what is wrong with the result, or None."""
        now = time.time()
        query = {"query": expression, "start": now - window_seconds, "end": now, "step": _STEP_SECONDS}
        url = f"{base_url.rstrip('/')}/api/v1/query_range?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(url, headers=headers or {})  # noqa: S310 - the caller's own server
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS, context=context) as response:  # noqa: S310
                answer: dict[str, Any] = json.load(response)
        except urllib.error.HTTPError as error:
            return error.read().decode(errors="replace")
        return None if any(_is_number(series) for series in answer["data"]["result"]) else "no answer"

    unanswered = []
    for expression in (*dashboard_expressions(), *alert_expressions()):
        may_be_silent = expression.alert or any(selector.metric in absent for selector in expression.selectors)
        for text in _questions(expression, absent):
            problem = ask(text)
            if problem is not None and not (problem == "no answer" and may_be_silent and text == whole(expression)):
                unanswered.append(f"{expression.where}: {text}: {problem}")
    return unanswered


def whole(expression: Expression) -> str:
    """Return the expression with its variables replaced."""
    return with_values(expression.text)


def _questions(expression: Expression, absent: Collection[str]) -> Iterator[str]:
    yield whole(expression)
    if expression.alert:
        yield from dict.fromkeys(s.text for s in expression.selectors if s.metric not in absent)


def _is_number(series: dict[str, Any]) -> bool:
    return any(value != "NaN" for _, value in series["values"])
