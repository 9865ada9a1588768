"""Audits formats: ``PYTHONPATH=tests python -m audits.formats --battles 500 …/games/showdown/audits.json``.

For each format it compares the tracker with poke-env, plays random legal actions and a match of two scripted policies,
and compares the accelerated simulator with the published one. It writes the file after each audit, and keeps what else
the file holds.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from audits.rejections import count_rejections
from audits.tracker.differential import Comparison
from nashdex.core.errors import NashdexError
from nashdex.evaluator.match import play_match
from nashdex.games.showdown.audits import (
    Audits,
    ConformanceAudit,
    FormatAudit,
    MaskAudit,
    MatchAudit,
    TrackerAudit,
    load_audits,
)
from nashdex.games.showdown.names import SHOWDOWN
from nashdex_bench.conformance import run_conformance

_Audit: TypeAlias = TrackerAudit | MaskAudit | MatchAudit | ConformanceAudit


def main(
    file: Annotated[Path, typer.Argument(help="Where audits are read and written.")],
    format_id: Annotated[
        list[str] | None, typer.Option("--format", help="A format; once for each. [default: all shipped ones]")
    ] = None,
    battles: Annotated[int, typer.Option(min=1, help="Battles of each audit of a format.")] = 500,
    seed: Annotated[int, typer.Option(min=0, help="Root of every seed.")] = 1,
    only: Annotated[
        Literal["tracker", "mask", "match", "simulator"] | None, typer.Option(help="Make one audit only.")
    ] = None,
) -> None:
    """Audit formats and write the result; exit 65 if a difference is unexplained or a rejection preventable."""
    names = tuple(format_id or SHOWDOWN)
    is_good = True
    try:
        for name in names:
            if only in {None, "tracker"}:
                tracker = audit_tracker(name, battles, seed)
                _write(file, name, "tracker", tracker)
                is_good = is_good and not tracker.unexplained
            if only in {None, "mask"}:
                mask = audit_mask(name, battles, seed)
                _write(file, name, "mask", mask)
                is_good = is_good and not mask.preventable + mask.failed
            if only in {None, "match"}:
                match = audit_match(name, battles, seed)
                _write(file, name, "match", match)
                is_good = is_good and not match.failed
        if only in {None, "simulator"}:
            for name, audit in audit_conformance(names, battles, seed).items():
                _write(file, name, "conformance", audit)
                is_good = is_good and not audit.differences
    except NashdexError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(error.exit_code)
    if not is_good:
        sys.exit(65)


def audit_tracker(name: str, battles: int, seed: int) -> TrackerAudit:
    """Return the comparison of the tracker with poke-env."""
    report = Comparison(name, seed).run(battles).as_json()
    return TrackerAudit.model_validate({key: report[key] for key in TrackerAudit.model_fields})


def audit_mask(name: str, battles: int, seed: int) -> MaskAudit:
    """Return the rejected choices of random legal actions."""
    counts = count_rejections(name, battles, seed)
    return MaskAudit(
        battles=counts.battles,
        decisions=counts.decisions,
        rejected=counts.refusals.total(),
        preventable=sum(count for refusal, count in counts.refusals.items() if not refusal.maybe_trapped),
        failed=counts.failed,
    )


def audit_match(name: str, battles: int, seed: int) -> MatchAudit:
    """Return the rejected choices of a match as `nashdex battle --p1 random --p2 max-power` plays it."""
    result = play_match(name, "random", "max-power", battles=battles, seed=seed)
    return MatchAudit.model_validate({key: getattr(result, key) for key in MatchAudit.model_fields})


def audit_conformance(names: Sequence[str], battles: int, seed: int) -> dict[str, ConformanceAudit]:
    """Return the comparison of both simulators by format. If any battle differs, it is counted for its format."""
    played: Counter[str] = Counter()
    result = run_conformance(
        names, battles=battles * len(names), seed=seed, on_battle=lambda name: played.update((name,))
    )
    first = result.first_difference
    return {
        name: ConformanceAudit(
            battles=played[name], differences=result.differences if first and first.format == name else 0
        )
        for name in names
    }


def _write(file: Path, name: str, part: str, audit: _Audit) -> None:
    """Put one audit into the file."""
    known = Audits.from_json(file.read_bytes(), str(file)) if file.exists() else load_audits()
    merged = known.formats.get(name, FormatAudit()).model_copy(update={part: audit})
    formats = dict(sorted({**known.formats, name: merged}.items()))
    file.write_bytes(known.model_copy(update={"formats": formats}).to_json())
    sys.stdout.write(f"{name} {part}: {audit}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    typer.run(main)
