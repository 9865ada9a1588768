"""`nashdex data` with people's double battles, against battles whose choices are known."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nashdex.core.errors import DataError
from nashdex_cli.cli import app
from nashdex_replays.joint_file import SUFFIX, read

REAL = Path(__file__).parents[1] / "data" / "vgc" / "real-gen9vgc2023regc.jsonl.gz"
NUM_BATTLES = 18


def run(*arguments: str) -> Any:  # noqa: ANN401 - JSON
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """18 ladder battles, read with the players' input and from the lines alone."""
    root = tmp_path_factory.mktemp("doubles")
    known, lines = root / "known", root / "lines"
    counts = run("data", "import", str(REAL), str(known))
    assert (counts["files"], counts["refused"], counts["unnamed"]) == (2 * NUM_BATTLES, {}, 0)
    run("data", "import", str(REAL), str(lines), "--lines-only")
    return known, lines


def test_every_choice_of_people_is_named_and_legal(folders: tuple[Path, Path]) -> None:
    counts = run("data", "stats", str(folders[0]))["gen9vgc2023regc"]
    assert (counts["battles"], counts["sources"], counts["unknown"]) == (NUM_BATTLES, {"input": 2 * NUM_BATTLES}, {})
    assert counts["slots"] == counts["named"] > 600


def test_a_filter_copies_the_wanted_battles(folders: tuple[Path, Path], tmp_path: Path) -> None:
    known, lines = folders
    copied = run("data", "filter", str(known), str(tmp_path / "wins"), "--results", "wins")
    assert (copied["written"], copied["left_out"]) == (NUM_BATTLES, {"result": NUM_BATTLES})
    counts = run("data", "stats", str(tmp_path / "wins"))["gen9vgc2023regc"]
    assert (counts["files"], counts["battles"]) == (NUM_BATTLES, NUM_BATTLES)
    for path in (tmp_path / "wins").rglob(f"*{SUFFIX}"):
        assert path.read_bytes() == (known / path.relative_to(tmp_path / "wins")).read_bytes()
    named = run("data", "filter", str(lines), str(tmp_path / "named"), "--max-unnamed-rate", "0.25")
    assert named["left_out"].keys() == {"unnamed"}
    assert 0 < named["written"] < 2 * NUM_BATTLES
    (tmp_path / "odd" / "gen9vgc2023regc").mkdir(parents=True)
    (tmp_path / "odd" / "gen9vgc2023regc" / f"odd{SUFFIX}").write_bytes(b"")
    result = CliRunner().invoke(app, ["data", "filter", str(tmp_path / "odd"), str(tmp_path / "none")])
    assert isinstance(result.exception, DataError)


def test_the_lines_alone_name_no_choice_wrongly(folders: tuple[Path, Path]) -> None:
    known, lines = folders
    gap = run("data", "gap", str(lines), str(known))
    assert (gap["files"], gap["other_lengths"], gap["different"]) == (2 * NUM_BATTLES, 0, [])
    assert gap["equal"] > 0.84 * gap["slots"]
    assert gap["equal"] + sum(gap["unknown"].values()) == gap["slots"]
    assert gap["unknown"].keys() <= {
        *("asleep", "confused", "encored", "fainted", "flinched", "not-seen", "not-shown", "prevented", "target"),
    }


def test_what_agrees_with_the_lines_holds_what_was_chosen(folders: tuple[Path, Path]) -> None:
    """A clone learns from it. Both readings know the teams, so that moves have the same numbers."""
    known, lines = folders
    num_open = 0
    for path in sorted(known.rglob(f"*{SUFFIX}")):
        _, truth, _ = read(path.read_bytes(), str(path))
        other = lines / path.relative_to(known)
        _, shown, replay = read(other.read_bytes(), str(other))
        assert truth.agreeing is not None
        assert shown.agreeing is not None
        for row, decision in enumerate(replay.decisions):
            if "EliteFurretAI" in str(decision) or any(slot.cause == "not-seen" for slot in decision.slots):
                continue
            num_open += len(shown.agreeing[row]) > 1
            if decision.asks != "bench":
                assert set(truth.agreeing[row]) <= set(shown.agreeing[row]), (path.name, decision)
    assert num_open > 50


def test_a_second_import_writes_nothing(folders: tuple[Path, Path]) -> None:
    counts = run("data", "import", str(REAL), str(folders[0]))
    assert (counts["files"], counts["present"]) == (0, NUM_BATTLES)


def test_a_damaged_file_or_one_of_another_format_is_refused(folders: tuple[Path, Path], tmp_path: Path) -> None:
    paths = sorted(folders[0].rglob(f"*{SUFFIX}"))[:3]
    (tmp_path / "gen9vgc2023regc").mkdir()
    (tmp_path / "gen9vgc2024regg").mkdir()
    whole = paths[0].read_bytes()
    (tmp_path / "gen9vgc2023regc" / paths[0].name).write_bytes(whole)
    (tmp_path / "gen9vgc2023regc" / paths[1].name).write_bytes(whole[: len(whole) // 2])
    (tmp_path / "gen9vgc2024regg" / paths[2].name).write_bytes(whole)
    result = CliRunner().invoke(app, ["data", "stats", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "refused: format 1, unreadable 1" in result.stdout


@pytest.mark.parametrize(
    "change",
    [
        ("|switch|p1b: ", "|-nothing|p1b: "),
        ("|teampreview|4", "|teampreview|4\n|turn|1"),
    ],
)
def test_a_log_that_the_tracker_cannot_follow_is_refused_by_cause(change: tuple[str, str], tmp_path: Path) -> None:
    with gzip.open(REAL, "rt") as file:
        replay = json.loads(file.readline())
    del replay["inputLog"]
    replay["log"] = "\n".join(replay["log"]).replace(*change, 1)
    (tmp_path / "log.json").write_text(json.dumps(replay))
    result = CliRunner().invoke(app, ["data", "import", str(tmp_path / "log.json"), str(tmp_path / "imported")])
    assert isinstance(result.exception, DataError)
    assert "inconsistent 1" in result.output


def test_a_clone_is_judged_on_battles_that_it_has_not_seen() -> None:
    result = run("bench", "cloning", str(REAL), "--format", "gen9vgc2023regulationc", "--folds", "2", "--epochs", "2")
    assert (result["format"], result["battles"], result["folds"]) == ("gen9vgc2023regc", NUM_BATTLES, 2)
    # Every slot with a choice is held out once, but for those that wait, whose order is open.
    assert 500 < result["slots"] < 663
    assert result["by_rating"] == {"unrated": [result["slots"], result["accuracy"]["share"]]}
    for name in ("accuracy", "most_frequent", "margin"):
        assert result[name]["low"] <= result[name]["share"] <= result[name]["high"]
    assert abs(result["accuracy"]["share"] - result["most_frequent"]["share"] - result["margin"]["share"]) < 1e-9
