"""``nashdex data import``: raw Showdown logs become both players' trajectories."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest

from nashdex_cli.cli import run_command_line
from nashdex_metamon.actions import UNKNOWN_ACTION
from nashdex_metamon.data.file_name import ReplayName
from nashdex_metamon.data.replay_file import ParsedReplay, decode
from nashdex_metamon.names import move_name
from nashdex_metamon.state import BattleState
from support.metamon_goldens import BATTLES, METAMON_DATA, golden

LOGS = METAMON_DATA / "logs"
PARSED = METAMON_DATA / "replays"
PERCENT = 0.0101
"""A spectator sees HP in whole percents."""


def run(arguments: list[str], capsys: pytest.CaptureFixture[str], exit_code: int = 0) -> dict[str, Any]:
    assert run_command_line([*arguments, "--json"]) == exit_code
    counts: dict[str, Any] = json.loads(capsys.readouterr().out)
    return counts


def files(folder: Path) -> dict[tuple[str, str], ParsedReplay]:
    """Return the trajectories of a folder by battle and player."""
    found = {}
    for path in sorted(folder.glob("*/*.lz4")):
        name = ReplayName.parse(path.name)
        assert name is not None
        found[name.battle, name.player] = decode(path.read_bytes(), path.name)
    return found


def name_of(state: BattleState, action: int) -> str | None:
    """Return what an action means in ``state``."""
    if action == UNKNOWN_ACTION:
        return None
    if 4 <= action < 9:
        return sorted(pokemon.name for pokemon in state.available_switches)[action - 4]
    moves = sorted(move.name for move in state.player_active_pokemon.moves)
    return f"{moves[action % 9]}{' tera' if action >= 9 else ''}"


@pytest.mark.slow
@pytest.mark.integration
def test_golden_battles_are_rebuilt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every decision is found, fewer actions are unknown than metamon's parser leaves, and every named one is right."""
    logs = tmp_path / "logs"
    logs.mkdir()
    for battle in BATTLES:
        given = golden("battles", battle)
        with gzip.open(logs / f"{battle}.json.gz", "wt") as file:
            json.dump({name: given[name] for name in ("id", "formatid", "log", "uploadtime")}, file)
    counts = run(["data", "import", str(logs), str(tmp_path / "out"), "--keep-names"], capsys)
    assert (counts["read"], counts["files"], counts["refused"]) == (len(BATTLES), 2 * len(BATTLES), {})

    ours, theirs = files(tmp_path / "out"), files(PARSED)
    fields: Counter[str] = Counter()
    differing: Counter[str] = Counter()
    unnamed = {"ours": 0, "metamon": 0}
    for battle in BATTLES:
        truth = golden("battles", battle)
        for seat, player in enumerate(truth["players"]):
            replay, other = ours[battle, player], theirs[battle, player]
            unnamed["ours"] += replay.num_unnamed
            unnamed["metamon"] += other.num_unnamed
            rows = [
                row
                for row in truth["rows"]
                if row["seat"] == seat and row.get("pick") and not (row["request"] or {}).get("teamPreview")
            ]
            assert replay.num_decisions == len(rows) == other.num_decisions
            for row, state, action in zip(rows, replay.states, replay.actions, strict=False):
                right = picked(row)
                is_only = right in {"fight", "recharge", "struggle"} and action == 0
                assert is_only or name_of(state, action) in {None, right}, (battle, player)
            expected = [row["state"] for row in golden("spaces", battle)["decisions"] if row["seat"] == seat]
            for state, right in zip(replay.states, expected, strict=True):
                compare(state.to_json(), right, fields, differing)
    assert unnamed == {"ours": 99, "metamon": 102}
    assert differing.keys() <= {"effect", "types", "previous"}
    assert differing["effect"] <= 0.003 * fields["effect"]
    assert differing["types"] <= 0.002 * fields["types"]
    assert differing["previous"] == 0


def picked(row: dict[str, Any]) -> str:
    """Return what was truly chosen, as ``name_of`` names it."""
    kind, number, *tera = row["pick"].split()
    if kind == "switch":
        details: str = row["request"]["side"]["pokemon"][int(number) - 1]["details"]
        return "".join(c for c in details.partition(",")[0].lower() if c.isalnum())
    move = move_name(row["request"]["active"][0]["moves"][int(number) - 1]["id"])
    return f"{move}{' tera' if tera else ''}"


def compare(ours: dict[str, Any], right: dict[str, Any], fields: Counter[str], differing: Counter[str]) -> None:
    """Compare what metamon's parser was measured by."""
    pairs = [
        (name, ours[name], right[name])
        for name in ("weather", "player_conditions", "opponent_conditions", "opponents_remaining", "can_tera")
    ]
    previous = ("player_prev_move", "opponent_prev_move")
    pairs += [("previous", ours[move]["name"], right[move]["name"]) for move in previous]
    for active in ("player_active_pokemon", "opponent_active_pokemon"):
        pairs += [(name, ours[active][name], right[active][name]) for name in ("status", "effect", "types")]
        pairs.append(("hp", abs(ours[active]["hp_pct"] - right[active]["hp_pct"]) < PERCENT, True))
    for name, value, expected in pairs:
        fields[name] += 1
        if value != expected:
            differing[name] += 1


@pytest.mark.integration
def test_human_battles_agree_with_metamons_parser(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both find the same decisions, and the same action wherever both name one; old logs' own choices name more."""
    counts = run(["data", "import", str(LOGS), str(tmp_path), "--keep-names", "--formats", "gen1ou"], capsys)
    assert counts["files"] == 6
    theirs = files(PARSED)
    for key, ours in files(tmp_path).items():
        assert len(ours.states) == len(theirs[key].states)
        assert ours.num_unnamed <= theirs[key].num_unnamed
        for state, action, other_state, other in zip(
            ours.states, ours.actions, theirs[key].states, theirs[key].actions, strict=True
        ):
            if UNKNOWN_ACTION not in {action, other}:
                assert name_of(state, action) == name_of(other_state, other) or {action, other} == {0}
    again = run(["data", "import", str(LOGS), str(tmp_path), "--keep-names"], capsys)
    assert (again["files"], again["present"]) == (0, 3)


@pytest.mark.integration
def test_bad_replays_are_refused_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """None of them ends the import, and names are replaced by pseudonyms."""
    good = json.loads((LOGS / "gen1ou-2333334844.json").read_text())

    def write(name: str, **changes: object) -> None:
        (tmp_path / "logs" / name).write_text(json.dumps({**good, "id": f"gen1ou-{name[:-5]}", **changes}))

    (tmp_path / "logs").mkdir()
    log = good["log"]
    write("good.json")
    write("other.json", formatid="gen3ou", format="gen3ou")
    write("unknown.json", formatid="gen1petmod")
    write("unfinished.json", log=log.replace("|win|", "|-message|"))
    write("short.json", log=log[: log.index("|turn|3")] + "\n|win|gulpin3184")
    write("doubles.json", log=log.replace("|gametype|singles", "|gametype|doubles"))
    write("clause.json", log=log.replace("Species Clause", "No Clause"))
    write("winner.json", log=log.replace("|win|gulpin3184", "|win|somebody"))
    write("date.json", uploadtime="never")
    write("id.json", id="../../etc")
    many = log
    for move in ("Pound", "Surf", "Toxic", "Fly"):
        many = many.replace("|move|p1a: Alakazam|Psychic|", f"|move|p1a: Alakazam|{move}|", 1)
    write("moves.json", log=many)
    (tmp_path / "logs" / "text.json").write_text("no json")
    (tmp_path / "logs" / "list.json").write_text("[]")
    (tmp_path / "logs" / "cut.json.gz").write_bytes(gzip.compress(b"{}")[:-4])
    (tmp_path / "logs" / "plain-gen1ou-77.log").write_text(log)
    lines = "\n".join(json.dumps({**good, "id": f"gen1ou-{number}"}) for number in range(2))
    (tmp_path / "logs" / "many.jsonl").write_text(f"{lines}\n{{}}\n")
    counts = run(["data", "import", str(tmp_path / "logs"), str(tmp_path / "out"), "--formats", "gen1ou"], capsys)
    assert counts["left_out"] == 0
    assert counts["refused"].pop("no-log") == 2
    assert counts["refused"].pop("players") == 1
    assert set(counts["refused"].values()) == {1}
    assert counts["refused"].keys() >= {
        "not-json", "unreadable", "unfinished", "short", "gametype", "no-species-clause", "no-date", "no-id",
        "generation", "tier",
    }  # fmt: skip
    alone = run(["data", "import", str(tmp_path / "logs" / "unknown.json"), str(tmp_path / "none")], capsys, 65)
    assert (alone["files"], alone["refused"]) == (0, {"tier": 1})
    names = {name.player for path in (tmp_path / "out" / "gen1ou").iterdir() if (name := ReplayName.parse(path.name))}
    assert len(names) == 2
    assert all(name.startswith("player-") for name in names)


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.timeout(120)
def test_hostile_replays_take_neither_memory_nor_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each grew with the square of its length, took gigabytes, or ended the import with a traceback."""
    good = json.loads((LOGS / "gen1ou-2333334844.json").read_text())
    end = "\n|win|gulpin3184"
    begun = good["log"].partition("|win|")[0]
    hostile = {
        "names": "".join(f"\n|switch|p1a: P{number}|Mew|100/100" for number in range(50_000)),
        "moves": "".join(f"\n|move|p1a: Alakazam|m{chr(97 + n % 26)}{n}|p2a: Mew" for n in range(50_000)),
        "too-long": "\n|turn|6" * 300_000,
        "long-line": f"\n|-message|{'x' * 100_000}",
    }
    logs = {cause: begun + text + end for cause, text in hostile.items()}
    logs["numbers"] = begun.replace("|turn|2", f"|turn|{'9' * 5000}") + end
    logs["levels"] = begun.replace("|switch|p1a: Alakazam|Alakazam", f"|switch|p1a: Alakazam|Alakazam, L{'9' * 5000}")
    logs["levels"] += end
    logs["no-hp"] = begun.replace("100\\/100", "0/0").replace("100/100", "0/0") + end
    (tmp_path / "logs").mkdir()
    for name, log in logs.items():
        (tmp_path / "logs" / f"{name}.json").write_text(json.dumps({**good, "id": f"gen1ou-{name}", "log": log}))
    before = psutil.Process().memory_info().rss
    counts = run(["data", "import", str(tmp_path / "logs"), str(tmp_path / "out")], capsys, 65)
    assert counts["read"] == len(logs)
    # A number of 5,000 digits makes a long line.
    assert counts["refused"].items() >= {"names": 1, "move": 1, "too-long": 1, "long-line": 3}.items()
    assert psutil.Process().memory_info().rss - before < 512 << 20


@pytest.mark.integration
def test_odd_names_end_no_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half an emoji, and players whose names a file name has no room for."""
    battle = golden("battles", "gen1ou-9000")
    log = battle["log"].replace("|Anna", f"|{chr(0x20000) * 64}").replace("p1a: ", "p1a: \ud83d")
    given = {"id": "battle-gen1ou-1", "formatid": "gen1ou", "log": log, "uploadtime": -62135596800}
    (tmp_path / "odd.json").write_text(json.dumps(given))
    counts = run(["data", "import", str(tmp_path), str(tmp_path / "out"), "--keep-names"], capsys)
    assert (counts["files"], counts["refused"]) == (2, {})
    assert len(files(tmp_path / "out")) == 2


@pytest.mark.integration
def test_what_cannot_be_imported_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["data", "import", str(tmp_path / "none"), str(tmp_path / "out")]) == 64
    assert run_command_line(["data", "import", str(LOGS), str(tmp_path / "out"), "--formats", "kuhn_poker"]) == 64
    assert "expected" in capsys.readouterr().err
