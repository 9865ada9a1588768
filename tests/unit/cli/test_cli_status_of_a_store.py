"""``nashdex status URI``: how fast a training with actors is, from its journal in the store."""

import json
from pathlib import Path

import pytest

from nashdex.core.journal import Entry, journal_folder
from nashdex_cli.cli import run_command_line
from support.begun_runs import begin_run

KUHN = Path("configs/kuhn.toml")


def entry(number: int, round_seconds: float) -> Entry:
    return Entry(
        round=number,
        request=f"{number:08d}-round",
        weights_sha256="0" * 64,
        episodes_sha256="0" * 64,
        battles=100,
        learned_decisions=3000,
        chunks_by_actor={0: 3, 7: 1},
        waited_seconds=round_seconds / 4,
        staleness_seconds=20.0,
        staleness_versions=1.5,
        round_seconds=round_seconds,
        actors_seconds=30.0,
        actors_waited_seconds=10.0,
        dropped={"stale": 1},
    )


def test_rates_are_means_over_the_last_rounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = begin_run(str(tmp_path), KUHN, name="rates")
    uri = run.store.uri
    assert run_command_line(["status", uri]) == 0
    assert "no training with actors is running" in capsys.readouterr().out
    # The first entry of an attempt has no time, since the learner began with it.
    for number, seconds in ((1, 0.0), (2, 10.0), (3, 20.0)):
        run.store.put(f"{journal_folder(0, 0)}/{number:08d}.json", entry(number, seconds).to_json())
    assert run_command_line(["status", uri, "--json"]) == 0
    (training,) = json.loads(capsys.readouterr().out)["trainings"]
    assert (training["round"], training["rounds"]) == (3, 2)
    assert training["decisions_per_second"] == pytest.approx(200.0)
    assert training["battles_per_second"] == pytest.approx(200 / 30)
    assert (training["learner_waiting_share"], training["actors_waiting_share"]) == (0.25, 0.25)
    assert (training["staleness_versions"], training["dropped"]) == (1.5, {"stale": 2})
    assert run_command_line(["status", uri]) == 0
    row = capsys.readouterr().out.splitlines()[-1]
    assert row.split() == ["0", "0", "3", "200", "6.7", "1.5", "versions,", "20", "s", "25%", "25%", "2", "2", "stale"]
    assert run_command_line(["status", uri, "--watch"]) == 64
    assert "--watch has no effect on a run in a store" in capsys.readouterr().err
