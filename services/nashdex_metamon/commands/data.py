"""``nashdex data``: folders of replays in metamon's layout."""

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex.core.errors import DataError
from nashdex.core.stopping import install_stop_handlers
from nashdex_cli.commands.groups import CommandGroup
from nashdex_cli.commands.output import JsonOption, counter, print_json, print_text

if TYPE_CHECKING:
    from collections import Counter

    from nashdex_metamon.data.copying import Copied
    from nashdex_metamon.data.doubles import JointGap, JointStatistics
    from nashdex_metamon.data.importing import Imported
    from nashdex_metamon.data.statistics import FormatStatistics

app = typer.Typer(cls=CommandGroup, no_args_is_help=True, help="Human battles and trajectories in metamon's layout.")

_MOST_DIFFERENCES = 20
"""Differences between two readings of double battles that are printed one by one."""

_Root = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", help="Has a folder or tar archive of .json.lz4 files for each format."),
]
_Destination = Annotated[Path, typer.Argument(metavar="DESTINATION", help="Folder to write to; it need not exist.")]
_Formats = Annotated[
    str, typer.Option("--formats", metavar="FORMATS", help="Only these, such as 'gen1ou gen9ou'. [default: all]")
]


@app.command("import")
def import_replays(
    logs: Annotated[
        Path, typer.Argument(metavar="LOGS", help="Raw Showdown replays: a folder, or one .json, .jsonl or .log file.")
    ],
    destination: _Destination,
    *,
    formats: _Formats = "",
    keep_names: Annotated[
        bool, typer.Option("--keep-names", help="Keep the players' names. [default: replace them by pseudonyms]")
    ] = False,
    lines_only: Annotated[
        bool,
        typer.Option(
            "--lines-only",
            help="Read double battles' choices from the lines alone, even where a log has the players' input.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Turn raw Showdown replays into both players' trajectories: single battles in metamon's layout.

    Double battles go to .joint.lz4 files of nashdex's own, with both slots' choices. A spectator's log does not show
    everything: a later line about a player's own team counts from the start, and a choice without a line is unknown.
    Replays that cannot be reconstructed are refused and counted by cause; if all are, the exit code is 65. Run it again
    to continue an interrupted import.
    """
    install_stop_handlers()
    from nashdex_metamon.data.importing import import_logs

    with counter("replays") as report:
        counts = import_logs(
            logs, destination, _names(formats), keep_names=keep_names, use_inputs=not lines_only, report=report
        )
    _print_imported(counts, destination, as_json=as_json)
    _require_used(counts.files + counts.present + counts.left_out, counts.refused, logs, "raw replays")


class ResultChoice(StrEnum):
    """Which seats a filter keeps."""

    WINS = "wins"
    LOSSES = "losses"
    BOTH = "both"


@app.command()
def stats(root: _Root, formats: _Formats = "", as_json: JsonOption = False) -> None:
    """Read every replay of a folder and count battles, results, ratings, decisions and refused files by format.

    The exit code is 65 if all files are refused, or there are none.
    """
    from nashdex_metamon.data import doubles
    from nashdex_metamon.data.folder import entries
    from nashdex_metamon.data.statistics import count

    found = count(entries(root, _names(formats)))
    folder = doubles.read_folder(root, _names(formats))
    joint = doubles.count(folder)
    if as_json:
        singles = {format_id: statistics.to_json() for format_id, statistics in found.items()}
        print_json(singles | {format_id: counts.to_json() for format_id, counts in joint.items()})
    else:
        for format_id, statistics in found.items():
            _print_statistics(format_id, statistics)
        for format_id, counts in joint.items():
            _print_joint_statistics(format_id, counts)
        _print_counts("refused", folder.refused)
    refused = sum((statistics.refused for statistics in found.values()), folder.refused)
    num_used = sum(statistics.files for statistics in found.values()) + len(folder.replays)
    _require_used(num_used, refused, root, "trajectories")


@app.command("filter")
def filter_replays(
    root: _Root,
    destination: _Destination,
    *,
    formats: _Formats = "",
    results: Annotated[ResultChoice, typer.Option(help="Seats by how their battle ended.")] = ResultChoice.BOTH,
    min_rating: Annotated[int | None, typer.Option(min=0, help="Elo; a seat without a rating counts as 1000.")] = None,
    max_rating: Annotated[int | None, typer.Option(min=0, help="Elo; a seat without a rating counts as 1000.")] = None,
    first_day: Annotated[
        datetime | None, typer.Option("--from", formats=["%Y-%m-%d"], help="First day of the battles.")
    ] = None,
    last_day: Annotated[
        datetime | None, typer.Option("--to", formats=["%Y-%m-%d"], help="Last day of the battles.")
    ] = None,
    min_turns: Annotated[int | None, typer.Option(min=1, help="Fewest decisions of the seat.")] = None,
    max_turns: Annotated[int | None, typer.Option(min=1, help="Most decisions of the seat.")] = None,
    max_unnamed_rate: Annotated[
        float | None, typer.Option(min=0, max=1, help="Largest share of decisions whose action is unknown.")
    ] = None,
    balance_outcomes: Annotated[
        bool, typer.Option("--balance-outcomes", help="Keep as many wins as losses of each format, drawn at random.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw of --balance-outcomes.")] = 42,
    keep_names: Annotated[
        bool, typer.Option("--keep-names", help="Keep the players' names. [default: replace them by pseudonyms]")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Copy the wanted replays of a folder, and count those left out.

    Files of older metamon versions are completed. Files that are not replays are refused and counted by cause; if all
    are, the exit code is 65. After an interruption the same command writes all of them.
    """
    install_stop_handlers()
    from nashdex_metamon.data.copying import copy
    from nashdex_metamon.data.selection import Selection

    selection = Selection(
        results=results.value,
        min_rating=min_rating,
        max_rating=max_rating,
        first_day=first_day and first_day.date(),
        last_day=last_day and last_day.date(),
        min_turns=min_turns,
        max_turns=max_turns,
        max_unnamed_rate=max_unnamed_rate,
    )
    copied = copy(
        root,
        _names(formats),
        destination,
        selection,
        keep_names=keep_names,
        balance_seed=seed if balance_outcomes else None,
    )
    _print_copied(copied, destination, as_json=as_json)
    _require_used(copied.written + copied.left_out.total(), copied.refused, root, "trajectories")


class KnowledgeChoice(StrEnum):
    """Knowledge in written states."""

    ONLINE = "online"
    KNOWN = "known"


@app.command()
def generate(
    destination: _Destination,
    *,
    format_id: Annotated[str, typer.Option("--format", metavar="FORMAT", help="Showdown format, such as gen1ou.")],
    p1: Annotated[str, typer.Option(metavar="POLICY", help="As in `nashdex battle`.")],
    p2: Annotated[str | None, typer.Option(metavar="POLICY", help="As in `nashdex battle`. [default: p1]")] = None,
    battles: Annotated[int, typer.Option(min=1, max=10_000_000, help="Battles in total, as side-swapped pairs.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Root of every seed, and part of the battles' ids.")] = 0,
    knowledge: Annotated[
        KnowledgeChoice,
        typer.Option(
            help="online: states as in metamon's own play. known: with PP, own tera types and lost items, as in "
            "metamon's parsed replays."
        ),
    ] = KnowledgeChoice.ONLINE,
    logs: Annotated[
        bool,
        typer.Option("--logs", help="Also write DESTINATION/FORMAT.jsonl.gz: the battles as spectators saw them."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Play battles and write both seats' trajectories in metamon's layout, for its training or for `nashdex data`."""
    install_stop_handlers()
    from nashdex_metamon.data.playing import generate as generate_battles

    written = generate_battles(
        destination, format_id, p1, p2 or p1, battles=battles, seed=seed, knowledge=knowledge.value, logs=logs
    )
    if as_json:
        counts = {"files": written.files, "decisions": written.decisions, "unnamed": written.unnamed}
        print_json({**counts, "results": dict(sorted(written.results.items()))})
        return
    print_text(f"{written.files:,} files written to {destination}")
    print_text(f"  {written.decisions:,} decisions, {written.unnamed:,} without a number in metamon's action space")
    _print_counts("results", written.results)


def _require_used(num_used: int, refused: "Counter[str]", source: Path, what: str) -> None:
    """Raise DataError if nothing of ``source`` could be used."""
    if num_used:
        return
    if not refused:
        raise DataError(f"{source} holds no {what}; name the folder that holds them")
    causes = ", ".join(f"{cause} {number:,}" for cause, number in sorted(refused.items()))
    raise DataError(f"no file of {source} is usable: all {refused.total():,} are refused ({causes})")


def _names(formats: str) -> tuple[str, ...]:
    return tuple(formats.replace(",", " ").split())


def _print_statistics(format_id: str, statistics: "FormatStatistics") -> None:
    print_text(
        f"{format_id}: {statistics.files:,} files of {len(statistics.battles):,} battles, "
        f"{statistics.decisions:,} decisions, {statistics.unnamed:,} without a known action"
    )
    _print_counts("results", statistics.results)
    _print_counts("ratings", statistics.rating_bands)
    _print_counts("completed or cut", statistics.adapted)
    _print_counts("refused", statistics.refused)


def _print_joint_statistics(format_id: str, counts: "JointStatistics") -> None:
    print_text(
        f"{format_id}: {counts.files:,} files of {len(counts.battles):,} double battles, {counts.decisions:,} decisions"
    )
    print_text(f"  {counts.slots:,} slots with a choice, {counts.named:,} known ({counts.named / counts.slots:.1%})")
    _print_counts("unknown", counts.unknown)
    _print_counts("choices from", counts.sources)
    _print_counts("ratings", counts.ratings)


def _print_joint_gap(found: "JointGap") -> None:
    print_text(f"{found.files:,} views of double battles are in both, {found.decisions:,} decisions")
    print_text(
        f"  {found.slots:,} slots that the second folder names; the first names {found.named:,} "
        f"({found.named / max(found.slots, 1):.1%}): {found.equal:,} alike, {len(found.different):,} otherwise"
    )
    _print_counts("unknown in the first", found.unknown)
    if found.other_lengths:
        print_text(f"  {found.other_lengths:,} views have another number of decisions, and are not compared")
    for difference in found.different[:_MOST_DIFFERENCES]:
        print_text(f"  {difference}")


def _print_imported(counts: "Imported", destination: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "read": counts.read,
                "files": counts.files,
                "decisions": counts.decisions,
                "unnamed": counts.unnamed,
                "slots": counts.slots,
                "unknown_slots": dict(sorted(counts.unknown_slots.items())),
                "present": counts.present,
                "left_out": counts.left_out,
                "refused": dict(sorted(counts.refused.items())),
                "ends": dict(sorted(counts.ends.items())),
            }
        )
        return
    print_text(f"{counts.files:,} files written to {destination}, of {counts.read:,} battles")
    print_text(f"  {counts.decisions:,} decisions, {counts.unnamed:,} without a known action")
    if counts.slots:
        print_text(
            f"  in double battles {counts.slots:,} slots with a choice, {counts.unknown_slots.total():,} unknown"
        )
    _print_counts("unknown", counts.unknown_slots)
    if counts.present or counts.left_out:
        print_text(f"  {counts.present:,} battles were there already, {counts.left_out:,} are of other formats")
    _print_counts("ends", counts.ends)
    _print_counts("refused", counts.refused)


def _print_copied(copied: "Copied", destination: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "written": copied.written,
                "left_out": dict(sorted(copied.left_out.items())),
                "refused": dict(sorted(copied.refused.items())),
                "adapted": dict(sorted(copied.adapted.items())),
            }
        )
        return
    print_text(f"{copied.written:,} files written to {destination}")
    _print_counts("left out", copied.left_out)
    _print_counts("refused", copied.refused)
    _print_counts("completed or cut", copied.adapted)


def _print_counts(title: str, counts: "Counter[str]") -> None:
    if counts:
        print_text(f"  {title}: " + ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items())))


@app.command("export")
def export_battles(
    run: Annotated[str, typer.Argument(metavar="RUN", help="URI of a run: its store's, a slash, and its id.")],
    destination: _Destination,
    *,
    as_json: JsonOption = False,
) -> None:
    """Write the battles that a run's tournaments stored as both players' trajectories, in metamon's layout.

    A run stores `evaluate.replays_per_pair` battles of each pair. `nashdex data generate` plays more.
    """
    install_stop_handlers()
    from nashdex_metamon.data.exporting import export_run

    with counter("battles") as report:
        counts = export_run(run, destination, report)
    _print_imported(counts, destination, as_json=as_json)


@app.command()
def gap(
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="Folder of trajectories in metamon's layout.")],
    second: Annotated[Path, typer.Argument(metavar="SECOND", help="Another one, such as a policy's own.")],
    *,
    formats: _Formats = "",
    max_files: Annotated[int, typer.Option(min=2, max=100_000, help="Most trajectories of each folder.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the shuffles that the chance level is from.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Compare two folders of trajectories, such as people's and a policy's, or two parsers' of the same battles.

    Distributions: the total variation of each field, beside the total variation between two random parts of the
    pooled files. Battles that both folders have: the share of equal values by field. If both have double battles, only
    these are compared, slot by slot: choices of the second that the first names alike, otherwise, or not. The exit code
    is 65 if a folder has nothing to compare.
    """
    from nashdex_metamon.data import doubles
    from nashdex_metamon.data.folder import entries
    from nashdex_metamon.data.gap import gap as compare

    chosen = _names(formats)
    joint = [doubles.read_folder(folder, chosen) for folder in (first, second)]
    if all(each.replays for each in joint):
        between = doubles.compare(*joint)
        if not between.files:
            raise DataError(f"{first} and {second} share no double battle; import the same logs into both")
        if as_json:
            print_json(between.to_json())
        else:
            _print_joint_gap(between)
        return
    found = compare(entries(first, chosen), entries(second, chosen), max_files, seed)
    for folder, num_files in zip((first, second), found.files, strict=True):
        if not num_files:
            raise DataError(f"{folder} has no usable trajectory; `nashdex data stats {folder}` counts them by cause")
    if as_json:
        print_json(found.to_json())
        return
    print_text(
        f"{found.files[0]:,} and {found.files[1]:,} trajectories, "
        f"{found.decisions[0]:,} and {found.decisions[1]:,} decisions"
    )
    _print_counts("refused", found.refused)
    print_text(f"{'distribution of':24} {'distance':>9} {'by chance':>10}")
    for name, distance in found.distances.items():
        print_text(f"{name:24} {distance.total_variation:9.3f} {distance.by_chance:10.3f}")
    if found.same_battles:
        print_text(f"\n{found.same_battles:,} trajectories are in both: share of equal values")
        for name, share in found.equal.items():
            print_text(f"{name:24} {share:9.4f}")
