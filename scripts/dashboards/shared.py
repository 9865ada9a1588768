"""Panels that several dashboards show."""

from dashboards.panels import exploitability, fact

BEST_RESPONSE_GAP = exploitability(
    "best_response_gap",
    "Exploitability: best-response gap",
    "How much a best response trained against the meta-strategy scores above ½ on fresh battles, with its 95 % "
    "interval. A lower bound of the true exploitability.",
)
PROGRESS = fact("Progress: Elo above the first network", "nashdex_progress_elo", "suffix:Elo", "bound")
