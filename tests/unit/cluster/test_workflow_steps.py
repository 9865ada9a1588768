"""Commands that only workflows call: outputs of the plan, verdicts, termination messages."""

import json
from pathlib import Path

import pytest

from nashdex.runs.creation import prepare_run
from nashdex.store import open_store
from nashdex.store.verdict import Phase, read_verdict, record_end
from nashdex_cli.cli import run_command_line
from nashdex_cluster.bundle import pack
from support.begun_runs import begin_run

CONFIG = Path(__file__).parents[3] / "configs" / "kuhn.toml"


@pytest.fixture
def run_uri(tmp_path: Path) -> str:
    overrides = ["iterations=1", "collect.shards=3", "evaluate.shards=4"]
    return begin_run(str(tmp_path), CONFIG, name="kuhn", overrides=overrides).store.uri


def plan(run_uri: str, *options: str) -> int:
    return run_command_line(["step", "plan", "--run", run_uri, "--iteration", "0", *options])


def test_the_plan_tells_how_far_steps_fan_out_also_when_it_is_done(run_uri: str, tmp_path: Path) -> None:
    folder = tmp_path / "made" / "outputs"
    for _ in range(2):
        assert plan(run_uri, "--outputs", str(folder)) == 0
        written = {path.name: path.read_text() for path in folder.iterdir()}
        assert written == {
            "collect-shards": "3",
            "train-seeds": "1",
            "act-shards": "0",
            "gates": "0",
            "evaluate-shards": "4",
        }
        for path in folder.iterdir():
            path.unlink()


def test_only_the_plan_has_outputs(run_uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--run", run_uri, "--iteration", "0", "--outputs", str(tmp_path)]
    assert run_command_line(["step", "collect", *options]) == 64
    assert "--outputs has no effect on collect" in capsys.readouterr().err


def test_outputs_that_cannot_be_written_are_refused(
    run_uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert plan(run_uri, "--outputs", str(tmp_path / "file")) == 64
    assert "cannot be written" in capsys.readouterr().err


def verdict(run_uri: str, *options: str) -> int:
    return run_command_line(["verdict", "--run", run_uri, "--iteration", "0", *options])


def test_the_verdict_on_a_failure_names_pods_in_the_order_in_which_they_failed(
    run_uri: str, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = [
        {"displayName": "run-7-xyz", "podName": "run-7-xyz", "message": "", "finishedAt": "9", "phase": "Failed"},
        {"displayName": "train", "podName": "t", "message": "child failed", "finishedAt": "1", "phase": "Failed"},
        {"displayName": "train(1:1)", "podName": "s", "message": "No more retries left", "finishedAt": "4"},
        {"displayName": "train(1:1)(0)", "podName": "b", "message": "second", "finishedAt": "3", "phase": "Failed"},
        {"displayName": "train(0:0)(0)", "podName": "a", "message": "first", "finishedAt": "2", "phase": "Error"},
    ]
    quoted = json.dumps(json.dumps(nodes))
    assert verdict(run_uri, "--status", "Failed", "--failures", quoted, "--json") == 0
    failures = json.loads(capsys.readouterr().out)["failures"]
    assert list(failures.items()) == [("train(0:0)(0)", "first"), ("train(1:1)(0)", "second")]
    assert verdict(run_uri, "--status", "Failed", "--failures", "null") == 0
    assert "did not succeed: Failed" in capsys.readouterr().out


@pytest.mark.parametrize("quoted", [False, True])
def test_the_verdict_reads_as_much_as_is_there_of_a_list_that_was_cut_off(
    run_uri: str, capsys: pytest.CaptureFixture[str], *, quoted: bool
) -> None:
    messages = ['say "no"', "a\\b\n", "größer", "x" * 500]
    nodes = [
        {"displayName": f"collect({number})", "podName": "p", "message": messages[number % 4], "finishedAt": "1"}
        for number in range(300)
    ]
    text = json.dumps(nodes, ensure_ascii=False)
    text = json.dumps(text, ensure_ascii=False) if quoted else text
    for size in (*range(600, 800), 48_000, len(text) - 2):
        assert verdict(run_uri, "--status", "Failed", "--failures", text[:size], "--json") == 0
        said = json.loads(capsys.readouterr().out)
        assert not said["failures_complete"]
        expected = {node["displayName"]: node["message"] for node in nodes[: len(said["failures"])]}
        assert said["failures"] == expected
        assert len(expected) > 0
    assert verdict(run_uri, "--status", "Failed", "--failures", text[:48_000]) == 0
    assert "and more" in capsys.readouterr().out
    assert verdict(run_uri, "--status", "Failed", "--failures", text, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["failures_complete"]
    assert len(said["failures"]) == 300


CANCELLED = {
    "displayName": "workflow(0)",
    "podName": "a",
    "message": "Error (exit code 64): context canceled",
    "finishedAt": "1",
}
SHUT_DOWN = {"displayName": "workflow(0)", "podName": "a", "message": "workflow shutdown with strategy:  Stop"}


def stored_verdict(run_uri: str) -> tuple[str, int, str] | None:
    found = read_verdict(open_store(run_uri))
    return (found.phase.value, found.iteration, found.message) if found else None


def test_the_verdict_says_in_the_store_how_the_run_ended_until_it_continues(run_uri: str) -> None:
    assert stored_verdict(run_uri) is None
    stopped = [{"displayName": "collect(0)", "podName": "a", "message": "workflow shutdown with strategy:  Stop"}]
    assert verdict(run_uri, "--status", "Failed", "--failures", json.dumps(stopped)) == 0
    assert stored_verdict(run_uri) == ("stopped", 0, "collect(0): workflow shutdown with strategy:  Stop")
    between_steps = [{"displayName": "run-0", "podName": "run-0", "message": "", "phase": "Failed", "finishedAt": "1"}]
    assert verdict(run_uri, "--status", "Failed", "--failures", json.dumps(json.dumps(between_steps))) == 0
    assert stored_verdict(run_uri) == ("stopped", 0, "stopped between two steps")
    assert verdict(run_uri, "--status", "Error", "--failures", json.dumps(between_steps)) == 0
    assert stored_verdict(run_uri) == ("failed", 0, "Error")
    failed = [{"displayName": "train(0)", "podName": "a", "message": "no GPU"}]
    assert verdict(run_uri, "--status", "Failed", "--failures", json.dumps(failed)) == 0
    assert stored_verdict(run_uri) == ("failed", 0, "train(0): no GPU")
    assert plan(run_uri) == 0
    assert stored_verdict(run_uri) is None


def league_verdict(run_uri: str, failures: object, since: float = 0.0, status: str = "Failed") -> int:
    options = ["--status", status, "--failures", json.dumps(failures), "--since", str(since)]
    return run_command_line(["verdict", "--run", run_uri, *options])


@pytest.mark.parametrize(
    ("failures", "expected"),
    [
        ([], ("stopped", 0, "stopped between two iterations")),
        ([SHUT_DOWN], ("stopped", 0, "workflow(0): workflow shutdown with strategy:  Stop")),
        ([CANCELLED], ("stopped", 0, "workflow(0): Error (exit code 64): context canceled")),
        (
            [CANCELLED, {"displayName": "workflow(1)", "podName": "b", "message": "failed", "finishedAt": "2"}],
            ("failed", 0, "workflow(0): Error (exit code 64): context canceled"),
        ),
        (
            [{"displayName": "begin(0)", "podName": "a", "message": "no such bucket"}],
            ("failed", 0, "begin(0): no such bucket"),
        ),
    ],
)
def test_a_run_that_ends_outside_an_iteration_has_a_verdict(
    run_uri: str, failures: list[dict[str, str]], expected: tuple[str, int, str]
) -> None:
    assert league_verdict(run_uri, failures) == 0
    assert stored_verdict(run_uri) == expected


def test_a_league_keeps_the_verdict_of_its_iteration_and_replaces_one_of_an_earlier_try(run_uri: str) -> None:
    record_end(open_store(run_uri), Phase.FAILED, 0, "train(0): no GPU")
    written = read_verdict(open_store(run_uri))
    assert written is not None
    assert league_verdict(run_uri, [SHUT_DOWN], since=written.ended_timestamp_seconds - 60) == 0
    assert read_verdict(open_store(run_uri)) == written
    assert league_verdict(run_uri, [SHUT_DOWN], since=written.ended_timestamp_seconds + 60) == 0
    assert stored_verdict(run_uri) == ("stopped", 0, "workflow(0): workflow shutdown with strategy:  Stop")
    assert verdict(run_uri, "--status", "Failed", "--failures", "[]") == 0
    assert stored_verdict(run_uri) == ("stopped", 0, "stopped between two steps")


def test_a_league_that_ends_before_there_is_a_run_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert league_verdict(str(tmp_path / "nobody"), [], status="Error") == 0
    assert "nobody did not succeed: Error" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_a_run_has_succeeded_with_its_last_iteration(tmp_path: Path) -> None:
    run_uri = begin_run(str(tmp_path), CONFIG, name="kuhn", overrides=["iterations=2"]).store.uri
    for iteration, expected in ((0, None), (1, ("succeeded", 1, ""))):
        for step in ("plan", "collect", "train", "evaluate", "solve", "report"):
            assert run_command_line(["step", step, "--run", run_uri, "--iteration", str(iteration)]) == 0
        options = ["--iteration", str(iteration), "--status", "Succeeded"]
        assert run_command_line(["verdict", "--run", run_uri, *options]) == 0
        assert stored_verdict(run_uri) == expected
    assert league_verdict(run_uri, [SHUT_DOWN], since=2e9) == 0
    assert stored_verdict(run_uri) == expected


def begin(tmp_path: Path, bundle: bytes, *options: str) -> int:
    (tmp_path / "bundle.json").write_bytes(bundle)
    store, outputs = str(tmp_path), str(tmp_path / "outputs")
    return run_command_line(
        ["begin", "--bundle", str(tmp_path / "bundle.json"), "--store", store, "--outputs", outputs, *options]
    )


def begun(tmp_path: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in (tmp_path / "outputs").iterdir()}


def test_a_league_begins_at_the_first_iteration_without_a_report_in_the_store(tmp_path: Path) -> None:
    prepared = prepare_run(CONFIG, name="kuhn", overrides=["iterations=3"])
    packed = pack(prepared).encode()
    assert begin(tmp_path, packed + b"\n", "--run", "kuhn") == 0
    assert begun(tmp_path) == {"first-iteration": "0", "num-iterations": "3"}
    run_uri = str(tmp_path / "kuhn")
    for step in ("plan", "collect", "train", "evaluate", "solve", "report"):
        assert run_command_line(["step", step, "--run", run_uri, "--iteration", "0"]) == 0
    record_end(open_store(run_uri), Phase.STOPPED, 1)
    assert begin(tmp_path, b"\n", "--run", "kuhn") == 0
    assert begun(tmp_path) == {"first-iteration": "1", "num-iterations": "2"}
    assert stored_verdict(run_uri) is None


def test_a_run_that_cannot_begin_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert begin(tmp_path, b"\n", "--run", "nobody") == 65
    assert "nobody holds no run" in capsys.readouterr().err
    assert begin(tmp_path, b"\n") == 65
    assert "is empty" in capsys.readouterr().err
    assert begin(tmp_path, pack(prepare_run(CONFIG, name="kuhn")).encode(), "--run", "other") == 64
    assert "holds run kuhn" in capsys.readouterr().err


@pytest.mark.parametrize("failures", ["{", "3", '["a"]', '[{"podName": "a"}]'])
def test_failures_that_are_no_list_of_nodes_are_refused(run_uri: str, failures: str) -> None:
    assert verdict(run_uri, "--status", "Error", "--failures", failures) == 64


def test_success_without_a_report_is_found_out(run_uri: str) -> None:
    assert verdict(run_uri, "--status", "Succeeded") == 65


def test_the_verdict_on_success_says_what_was_found(run_uri: str, capsys: pytest.CaptureFixture[str]) -> None:
    for step in ("plan", "collect", "train", "evaluate", "solve", "report"):
        assert run_command_line(["step", step, "--run", run_uri, "--iteration", "0"]) == 0
    capsys.readouterr()
    assert verdict(run_uri, "--status", "Succeeded") == 0
    assert "exploitability  exact" in capsys.readouterr().out


def test_a_failure_is_left_where_the_pod_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NASHDEX_TERMINATION_LOG", str(tmp_path / "log"))
    assert run_command_line(["step", "plan", "--run", str(tmp_path / "none"), "--iteration", "0"]) == 65
    assert capsys.readouterr().err == f"error: {(tmp_path / 'log').read_text()}\n"
    monkeypatch.setenv("NASHDEX_TERMINATION_LOG", str(tmp_path / "no" / "such" / "folder"))
    assert run_command_line(["step", "plan", "--run", str(tmp_path / "none"), "--iteration", "0"]) == 65


def test_a_failure_with_a_name_that_is_no_utf_8_keeps_its_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NASHDEX_TERMINATION_LOG", str(tmp_path / "log"))
    assert run_command_line(["begin", "--bundle", str(tmp_path / "\udcff")]) == 65
    assert "/\\udcff: cannot be read" in (tmp_path / "log").read_text()
