"""``nashdex panel``: one policy against every player of its format, in one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.stopping import install_stop_handlers
from nashdex_cli.commands.output import JsonOption, print_answer, print_note
from nashdex_cli.commands.run_options import GatewaysOption, SeedOption, TeamSetOption

if TYPE_CHECKING:
    from nashdex.evaluator.match import MatchResult


def panel(
    policy: Annotated[
        str,
        typer.Argument(metavar="POLICY", help="As in `nashdex battle`, such as RUN#newest@greedy or zoo:NAME@greedy."),
    ],
    *,
    format_id: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="Format. [default: the format of the policy]"),
    ] = None,
    also: Annotated[
        list[str] | None, typer.Option("--also", metavar="POLICY", help="A further opponent; may be repeated.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="POLICY", help="Play this opponent instead of the format's; may be repeated."),
    ] = None,
    battles: Annotated[int, typer.Option(min=2, max=1_000_000, help="Battles against each opponent.")] = 400,
    slow_battles: Annotated[
        int, typer.Option(min=2, max=1_000_000, help="Battles against each opponent that searches.")
    ] = 40,
    team_set: TeamSetOption = None,
    seed: SeedOption = 0,
    gateways: GatewaysOption = 1,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="Also write the panel here, for `nashdex policy publish`; keep its rows beside it while it plays.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play a policy against a fixed set of players of its format, and print one table from the worst matchup on.

    The players are the format's scripted policies (also of installed packages, such as metamon's baselines), the
    search `search:matrix`, and the zoo's policies, played greedily. Every opponent meets the same teams in
    side-swapped pairs. A draw counts half; the score with draws as losses is beside it. Elo is the policy's minus the
    opponent's; on the panel's scale `heuristic` has 1000, or the format's strongest simple player.

    With --output FILE.json, each row is kept in FILE.json.rows when it ends. If the command is interrupted, the same
    command plays what is missing: rows of the same nashdex, players, seed, teams and number of battles count. The file
    of rows is removed at the end.
    """
    install_stop_handlers()
    from nashdex.core.output_files import check_output, write_output
    from nashdex.rollout.contestants import check_contestants
    from nashdex.runs.inputs import read_team_set
    from nashdex.runs.played_format import format_to_play
    from nashdex.telemetry.logging import configure_logging
    from nashdex_lab.panel import PlayedRows, panel_lines, panel_of, play_panel

    if only and also:
        raise ConfigurationError("--only names every opponent, so --also has no effect: leave one of them out")
    if output is not None:
        check_output(output, "--output")
    configure_logging()
    played = format_to_play(format_id, {"POLICY": policy})
    opponents = tuple(dict.fromkeys(only)) if only else panel_of(played, policy, also or ())
    check_contestants(opponents, played)
    if not as_json:
        print_note(f"opponents: {', '.join(opponents)}")
    is_device = output is not None and output.exists() and not output.is_file()
    rows_file = None if output is None or is_device else output.with_name(f"{output.name}.rows")
    rows = {} if rows_file is None else _read_rows(rows_file)

    def finish_row(key: str, result: "MatchResult") -> None:
        _show(result)
        if rows_file is not None and result.score is not None:
            rows[key] = result
            write_output({rows_file: PlayedRows(rows=rows).to_json()}, "--output")

    if rows and not as_json:
        print_note(f"{rows_file} has {len(rows)} played rows; those of this panel are not played again")
    result = play_panel(
        played,
        policy,
        opponents,
        battles=battles,
        slow_battles=slow_battles,
        seed=seed,
        teams_text=None if team_set is None else read_team_set(played, team_set),
        num_gateways=gateways,
        played=rows,
        on_row=finish_row,
    )
    if output is not None:
        write_output({output: result.to_json()}, "--output")
    if rows_file is not None:
        rows_file.unlink(missing_ok=True)
    print_answer(result, panel_lines(result), as_json=as_json)


def _read_rows(path: Path) -> "dict[str, MatchResult]":
    from nashdex.core.user_input import read_file
    from nashdex_lab.panel import PlayedRows

    if not path.exists():
        return {}
    try:
        return PlayedRows.from_json(read_file(path, "rows of a panel"), str(path)).rows
    except DataError as error:
        raise DataError(f"{path} holds no rows of a panel: {error}; remove it to play them again") from error


def _show(result: "MatchResult") -> None:
    score = "no finished battle" if result.score is None else f"{result.score:.3f}"
    print_note(f"{result.p2}: {score} in {result.battles:,} battles, {result.seconds:.0f} s")
