"""The reference page of the formats, made from their audits."""

from nashdex.games.registry import FORMATS
from nashdex.games.showdown.audits import FormatAudit, load_audits

_HEAD = """\
# Formats

`nashdex formats` lists them. Besides these Showdown formats there are `kuhn_poker`, `leduc_poker` and `matrix`; a
package [adds others](../how-to/new-format.md). Doubles, triples and battles of more than two players are refused.

- **tracker**: battles in which the tracker and poke-env were compared at every decision, and the differences: those
  that [have an explanation](tracker.md), and those without.
- **mask**: decisions of uniformly random legal actions, and the choices that the simulator rejected. All of those were
  due to what a player [cannot know](gateway.md#rejected-choices), except the ones called preventable.
- **simulator**: battles that the accelerated simulator and the published one played, and how many differed.
"""


def formats_page() -> str:
    """Return the page: one table of all Showdown formats."""
    audits = load_audits()
    lines = [_HEAD, f"pokemon-showdown {audits.simulator}:", ""]
    lines += [
        "| format | teams | tracker: battles, explained, not | mask: decisions, rejected, preventable | simulator |"
    ]
    lines += ["|---|---|---|---|---|"]
    for name, declared in FORMATS.all().items():
        if declared.game == "showdown":
            teams = "brought" if declared.takes_teams else "generated"
            lines.append(f"| {name} | {teams} | {' | '.join(_cells(audits.formats.get(name, FormatAudit())))} |")
    return "\n".join(lines) + "\n"


def _cells(audit: FormatAudit) -> tuple[str, str, str]:
    tracker, mask, conformance = audit.tracker, audit.mask, audit.conformance
    return (
        "" if tracker is None else f"{tracker.battles:,}, {tracker.explained:,}, {tracker.unexplained:,}",
        "" if mask is None else f"{mask.decisions:,}, {mask.rejected:,}, {mask.preventable:,}",
        "" if conformance is None else f"{conformance.battles:,}, {conformance.differences:,}",
    )
