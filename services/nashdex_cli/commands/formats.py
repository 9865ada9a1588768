"""``nashdex formats``: the formats that settings can name, and how each is tested."""

from typing import Annotated, Any

import typer

from nashdex_cli.commands.output import JsonOption, print_json, print_text


def formats(
    teams: Annotated[
        str | None, typer.Option("--teams", metavar="FORMAT", help="List this format's team sets instead.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the formats, with the numbers of battles that tested each one's tracker, mask and accelerated simulator.

    tracker: battles in which it agreed with poke-env but for explained differences. mask: decisions of random legal
    actions / choices that the simulator rejected. battle: battles of random against max-power / choices that the
    simulator rejected. simulator: battles that the published and the accelerated one play alike. With --teams: the
    sets, their legal teams and SHA-256, and the illegal teams in the validator's words.
    """
    if teams is not None:
        _team_sets(teams, as_json=as_json)
        return
    from nashdex.games.registry import FORMATS
    from nashdex.games.showdown.audits import FormatAudit, load_audits

    audits = load_audits()
    rows: list[dict[str, Any]] = []
    for name, declared in FORMATS.all().items():
        audit = audits.formats.get(name)
        rows.append(
            {
                "format": name,
                "game": declared.game,
                "takes_teams": declared.takes_teams,
                "audits": None if audit is None else audit.model_dump(mode="json"),
            }
        )
    if as_json:
        print_json({"pokemon-showdown": audits.simulator, "formats": rows})
        return
    print_text(f"{'format':28} {'teams':10} {'tracker':>9} {'mask':>12} {'battle':>8} {'simulator':>9}")
    for row in rows:
        audit = audits.formats.get(row["format"])
        kind = "brought" if row["takes_teams"] else "generated" if row["game"] == "showdown" else "-"
        tracker, mask, match, simulator = FormatAudit().cells() if audit is None else audit.cells()
        print_text(f"{row['format']:28} {kind:10} {tracker:>9} {mask:>12} {match:>8} {simulator:>9}")


def _team_sets(format_id: str, *, as_json: bool) -> None:
    from nashdex.games.registry import check_inputs
    from nashdex.games.showdown.teams import load_team_set, team_set_names

    check_inputs(format_id, has_teams=True, has_matrix=False)
    rows = []
    for name in team_set_names(format_id):
        loaded = load_team_set(format_id, name)
        illegal = [{"team": place, "problems": list(problems)} for place, problems in loaded.illegal]
        rows.append({"name": name, "legal": len(loaded.packed), "sha256": loaded.sha256, "illegal": illegal})
        if not as_json:
            print_text(f"{name}: {len(loaded.packed)} legal teams, {len(illegal)} illegal, SHA-256 {loaded.sha256}")
            for place, problems in loaded.illegal:
                print_text(f"  {place}: {'; '.join(problems)}")
    if as_json:
        print_json({"format": format_id, "team_sets": rows})
