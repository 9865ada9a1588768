"""The reference page of the formats, made from their audits."""

from nashdex.games.registry import FORMATS
from nashdex.games.showdown.audits import FormatAudit, load_audits

_HEAD = """\
# Formats

`nashdex formats` lists them. Besides these Showdown formats there are `kuhn_poker`, `leduc_poker` and `matrix`; a
package [adds others](../how-to/new-format.md). Triples and battles of more than two players are refused.

- **tracker**: battles in which the tracker and poke-env were compared at every decision, and the differences: those
  that [have an explanation](tracker.md), and those without.
- **mask**: decisions of uniformly random legal actions, and the choices that the simulator rejected. All of those were
  due to what a player [cannot know](gateway.md#rejected-choices), except the ones called preventable.
- **battle**: battles of `random` against `max-power` and the choices that the simulator rejected, as
  `nashdex battle --format gen8vgc2021 --p1 random --p2 max-power --battles 20 --seed 1` plays and counts them.
- **simulator**: battles that the accelerated simulator and the published one played, and how many differed.

Formats whose name ends in `bo3` always show Open Team Sheets; each is one battle of a best of three. The same formats
without `bo3` are played with closed sheets. The tracker reads sheets in whatever battle shows them.
"""

_TAIL = """
## Legal actions, by brute force

The simulator accepts exactly the legal actions. In doubles, every pair of conceivable choices was tried at the 119,104
decisions of 200 battles of each format (the `bo3` ones have the same actions); in singles, every choice in 20 battles
of each format. Left out are decisions at which a player [cannot know](gateway.md#rejected-choices) what is legal.

```sh
cd services/showdown
export NASHDEX_TEST_EXHAUSTIVE=1
NASHDEX_TEST_BATTLES=200 node --test --test-name-pattern="legal pairs" test/doubles/actions.test.js
NASHDEX_TEST_BATTLES=20 node --test --test-name-pattern="legal actions" test/tracker/actions.test.js
```

## Making the table

`PYTHONPATH=tests python -m audits.formats audits.json --format gen8vgc2021 --battles 20` makes all four for one format.
"""


def formats_page() -> str:
    """Return the page: one table of all Showdown formats."""
    audits = load_audits()
    lines = [_HEAD, f"pokemon-showdown {audits.simulator}:", ""]
    audited = (
        "tracker: battles, explained, not",
        "mask: decisions, rejected, preventable",
        "battle: battles, rejected",
    )
    lines += [f"| format | teams | {' | '.join(audited)} | simulator |"]
    lines += ["|---|---|---|---|---|---|"]
    for name, declared in FORMATS.all().items():
        if declared.game == "showdown":
            teams = "brought" if declared.takes_teams else "generated"
            lines.append(f"| {name} | {teams} | {' | '.join(_cells(audits.formats.get(name, FormatAudit())))} |")
    return "\n".join(lines) + "\n" + _TAIL


def _cells(audit: FormatAudit) -> tuple[str, str, str, str]:
    tracker, mask, match, conformance = audit.tracker, audit.mask, audit.match, audit.conformance
    return (
        "" if tracker is None else f"{tracker.battles:,}, {tracker.explained:,}, {tracker.unexplained:,}",
        "" if mask is None else f"{mask.decisions:,}, {mask.rejected:,}, {mask.preventable:,}",
        "" if match is None else f"{match.battles:,}, {match.rejected:,}",
        "" if conformance is None else f"{conformance.battles:,}, {conformance.differences:,}",
    )
