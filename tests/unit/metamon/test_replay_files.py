"""Metamon's parsed replays, read, counted, filtered and written again. Metamon's own parser made the samples."""

import json
import signal
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lz4.frame
import pytest

from nashdex.core.errors import StoppedError
from nashdex_cli.cli import run_command_line
from nashdex_metamon.data.copying import copy
from nashdex_metamon.data.file_name import ReplayName
from nashdex_metamon.data.importing import import_logs
from nashdex_metamon.data.replay_file import decode, encode, whole_file
from nashdex_metamon.data.selection import Counted, Selection
from nashdex_replays.packing import pseudonym
from nashdex_replays.refusal import RefusedReplayError
from support.stopping import asked_to_stop, stop_handlers

SAMPLES = Path(__file__).parents[2] / "data" / "metamon" / "replays"
ALL_FILES = sorted(SAMPLES.glob("*/*.lz4"))
FILES = [path for path in ALL_FILES if path.name.startswith(("gen1ou-2333334844", "gen9ou-9001"))]
"""Both seats of a rated battle and of an unrated one."""


def content(path: Path) -> bytes:
    text: bytes = lz4.frame.decompress(path.read_bytes())
    return text


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    given: dict[str, Any] = json.loads(content(FILES[0]))
    change(given)
    return json.dumps(given).encode()


@pytest.mark.parametrize("path", ALL_FILES, ids=lambda path: path.name)
def test_a_file_is_written_again_as_it_was(path: Path) -> None:
    """After decompression every byte is equal."""
    assert lz4.frame.decompress(encode(decode(path.read_bytes(), path.name))) == content(path)
    name = ReplayName.parse(path.name)
    assert name is not None
    assert name.file_name == path.name


@pytest.mark.parametrize(
    ("file_name", "player", "opponent", "rating"),
    [
        ("gen1ou-12_Unrated_ann_lee_vs_bob__b_01-31-2024_WIN.json.lz4", "ann_lee", "bob__b", 1000),
        ("smogtours-gen1ou-12_1725_a_vs_b_01-31-2024-23:59:01_LOSS.json.lz4", "a", "b", 1725),
        ("metamon-gen1ou-0123456789_Unrated_x_vs_y_01-31-2024_WIN.json", "x", "y", 1000),
    ],
)
def test_names_may_hold_underscores_and_times(file_name: str, player: str, opponent: str, rating: int) -> None:
    name = ReplayName.parse(file_name)
    assert name is not None
    assert (name.player, name.opponent, name.effective_rating) == (player, opponent, rating)
    assert name.moment.year == 2024


@pytest.mark.parametrize("file_name", ["a.json", "gen1ou-1_1500_a_vs_b_13-31-2024_WIN.json.lz4", "gen1ou-1.json.lz4"])
def test_other_names_say_nothing(file_name: str) -> None:
    assert ReplayName.parse(file_name) is None


def test_an_old_file_is_completed_and_counted() -> None:
    """It lacks what later versions added, and has five moves."""

    def age(given: dict[str, Any]) -> None:
        for state in given["states"]:
            del state["can_tera"], state["opponent_teampreview"]
            state["invented_later"] = 1
            for pokemon in (state["player_active_pokemon"], *state["available_switches"]):
                pokemon["name"] += "-forme"
                del pokemon["tera_type"], pokemon["base_species"]
                pokemon["moves"] = [pokemon["moves"][0]] * 5

    replay = decode(changed(age), "old")
    pokemon = replay.states[0].player_active_pokemon
    assert (pokemon.tera_type, len(pokemon.moves), replay.states[0].can_tera) == ("notype", 4, False)
    assert pokemon.name == f"{pokemon.base_species}-forme"
    assert set(replay.adapted) == {
        "no-tera_type",
        "no-base_species",
        "no-can_tera",
        "no-opponent_teampreview",
        "more-than-four-moves",
    }


@pytest.mark.parametrize(
    ("cause", "bad"),
    [
        ("not-lz4", FILES[0].read_bytes()[:-20]),
        ("not-json", b'{"states"'),
        ("not-json", b"\xff\xfe"),
        ("not-a-replay", b"[]"),
        ("not-a-replay", changed(lambda given: given.pop("actions"))),
        ("not-a-replay", changed(lambda given: given["states"][3].pop("weather"))),
        ("not-a-replay", changed(lambda given: given["states"][3]["player_active_pokemon"].update(lvl="100"))),
        ("lengths", changed(lambda given: given["actions"].pop())),
        ("action", changed(lambda given: given["actions"].__setitem__(0, 13))),
        ("action", changed(lambda given: given["actions"].__setitem__(0, 1.5))),
        ("last-action", changed(lambda given: given["actions"].__setitem__(-1, 2))),
    ],
)
def test_what_is_no_replay_is_refused_by_cause(cause: str, bad: bytes) -> None:
    with pytest.raises(RefusedReplayError) as refusal:
        decode(bad, "bad")
    assert refusal.value.cause == cause


def test_stats_count_refused_files_and_read_archives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gen1ou").mkdir()
    for path in FILES[:2]:
        (tmp_path / "gen1ou" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "gen1ou" / FILES[0].name.replace("_1225_", "_9_")).write_bytes(b"{}")
    (tmp_path / "gen1ou" / "other.json").write_bytes(b"{}")
    with tarfile.open(tmp_path / "gen9ou.tar.gz", "w:gz") as archive:
        for path in FILES[2:]:
            archive.add(path, f"gen9ou/{path.name}")
    assert run_command_line(["data", "stats", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["gen1ou"]["refused"] == {"not-a-replay": 1, "file-name": 1}
    assert (found["gen1ou"]["files"], found["gen1ou"]["battles"]) == (2, 1)
    assert found["gen1ou"]["ratings"] == {"1200-1399": 1, "1400-1599": 1}
    assert (found["gen9ou"]["files"], found["gen9ou"]["results"]) == (2, {"LOSS": 1, "WIN": 1})


@pytest.mark.parametrize("command", ["stats", "filter"])
@pytest.mark.parametrize(
    ("given", "says"),
    [({}, "holds no trajectories"), ({"gen1ou/other.json": b"{}"}, "all 1 are refused (file-name 1)")],
)
def test_a_folder_of_which_nothing_is_usable_ends_with_65(
    command: str, given: dict[str, bytes], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in" / "gen1ou").mkdir(parents=True)
    for name, content in given.items():
        (tmp_path / "in" / name).write_bytes(content)
    arguments = [str(tmp_path / "in"), *([str(tmp_path / "out")] if command == "filter" else [])]
    assert run_command_line(["data", command, *arguments]) == 65
    assert says in capsys.readouterr().err


def test_a_gap_needs_trajectories_in_both_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "none").mkdir()
    assert run_command_line(["data", "gap", str(SAMPLES), str(tmp_path / "none")]) == 65
    assert "none has no usable trajectory" in capsys.readouterr().err


def test_filter_keeps_what_is_wanted_under_pseudonyms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["data", "filter", str(SAMPLES), str(tmp_path), "--formats=gen1ou", "--min-rating=1300", "--json"]
    assert run_command_line(command) == 0
    assert json.loads(capsys.readouterr().out) == {
        "written": 1,
        "left_out": {"rating": 9},
        "refused": {},
        "adapted": {},
    }
    (written,) = tmp_path.glob("*/*")
    name = ReplayName.parse(written.name)
    assert name is not None
    assert (name.player, name.rating) == (pseudonym("Sunflora 16694"), 1424)


class _StoppedAfterOne(Selection):
    """Asks the process to stop when the first replay is looked at, as a user may."""

    def refuses_content(self, replay: Counted) -> str | None:
        signal.raise_signal(signal.SIGTERM)
        return super().refuses_content(replay)


def test_a_filter_that_is_stopped_leaves_whole_files_and_goes_on(tmp_path: Path) -> None:
    with stop_handlers(), pytest.raises(StoppedError):
        copy(SAMPLES, ("gen1ou",), tmp_path, _StoppedAfterOne())
    (first,) = tmp_path.rglob("*.*")
    assert decode(first.read_bytes(), first.name).num_decisions > 0
    assert copy(SAMPLES, ("gen1ou",), tmp_path, Selection()).written == len(list((SAMPLES / "gen1ou").iterdir()))


def test_an_import_that_is_stopped_writes_nothing_more(tmp_path: Path) -> None:
    with asked_to_stop(), pytest.raises(StoppedError):
        import_logs(SAMPLES.parent / "logs", tmp_path / "imported")
    assert not (tmp_path / "imported").exists()


def test_a_file_that_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    def write_half() -> None:
        with whole_file(tmp_path / "one") as temporary:
            temporary.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_filter_balances_outcomes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = [path for path in FILES if "_WIN" in path.name or path.parent.name == "gen1ou"]
    for path in kept:
        place = tmp_path / "in" / "all" / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
    command = ["data", "filter", str(tmp_path / "in"), str(tmp_path / "out"), "--balance-outcomes"]
    assert run_command_line(command) == 0
    results = [path.name.rpartition("_")[2] for path in (tmp_path / "out").glob("*/*")]
    assert sorted(results) == ["LOSS.json.lz4", "WIN.json.lz4"]
    assert "balance 1" in capsys.readouterr().out


def test_a_filter_that_is_stopped_leaves_balanced_outcomes(tmp_path: Path) -> None:
    with stop_handlers(), pytest.raises(StoppedError):
        copy(SAMPLES, ("gen1ou",), tmp_path, _StoppedAfterOne(), balance_seed=1)
    assert list(tmp_path.rglob("*.*")) == [], "one result alone has nothing to balance it"


def test_filter_writes_a_replay_that_is_there_twice_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replays = tmp_path / "in" / "gen1ou"
    replays.mkdir(parents=True)
    for path in FILES:
        if path.parent.name == "gen1ou":
            (replays / path.name).write_bytes(path.read_bytes())
    with tarfile.open(tmp_path / "in" / "gen1ou.tar", "w") as archive:
        archive.add(replays, "gen1ou")
    num = len(list(replays.iterdir()))
    command = ["data", "filter", str(tmp_path / "in"), str(tmp_path / "out"), "--balance-outcomes", "--json"]
    assert run_command_line(command) == 0
    counts = json.loads(capsys.readouterr().out)
    assert counts["left_out"]["duplicate"] == num
    assert counts["written"] == len(list((tmp_path / "out").glob("*/*")))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{samples}", "{samples}"], "name another destination"),
        (["{samples}", "{out}", "--formats", "gen5ou"], "has no replays of gen5ou"),
        (["{samples}", "{out}", "--results", "wins", "--balance-outcomes"], "keep both results"),
        (["{samples}", "{out}", "--min-rating", "9", "--max-rating", "8"], "exchange the two"),
        (["{out}", "{samples}"], "is not a folder"),
    ],
)
def test_filter_refuses_what_cannot_be_done(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"samples": SAMPLES, "out": tmp_path / "out"}
    filled = [argument.format(**places) for argument in arguments]
    assert run_command_line(["data", "filter", *filled]) == 64
    assert message in capsys.readouterr().err
