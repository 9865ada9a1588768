"""The reference page of the alerts, made from the chart's rules."""

import re
from pathlib import Path

import yaml

RULES = Path(__file__).parents[2] / "helm" / "nashdex" / "files" / "rules" / "nashdex.yaml"

_EITHER = re.compile(r"\{\{ with \$labels\.(?P<label>\w+) \}\}(?P<with>.*?)\{\{ else \}\}(?P<without>.*?)\{\{ end \}\}")
_TEMPLATE = re.compile(r"\{\{ \$(?:labels\.(?P<label>\w+)|value).*?\}\}")

_HEAD = """\
# Alerts

The chart installs these with `prometheusRule.enabled`. The [runbook](../how-to/runbook.md#alerts) says what each means,
where to look and what to do.
"""


def alerts_page() -> str:
    """Return the page: one table a group of rules."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    lines = [_HEAD]
    for group in groups:
        if not any("alert" in rule for rule in group["rules"]):
            continue
        lines += [f"## {group['name']}", "", "| alert | severity | for | summary |", "|---|---|---|---|"]
        for rule in group["rules"]:
            if "alert" not in rule:
                continue
            name, wait = rule["alert"], rule.get("for", "0m")
            summary = _in_words(rule["annotations"]["summary"])
            link = f"[{name}](../how-to/runbook.md#{name.lower()})"
            lines.append(f"| {link} | {rule['labels']['severity']} | {wait} | {summary} |")
        lines.append("")
    return "\n".join(lines) + "\n"


def _in_words(template: str) -> str:
    """Return a summary with labels in capitals, N for the value, and both sides of a condition."""
    both = _EITHER.sub(
        lambda match: f"{match['with'].replace('{{ . }}', match['label'].upper())} or {match['without']}", template
    )
    return _TEMPLATE.sub(lambda match: (match["label"] or "N").upper(), both)
