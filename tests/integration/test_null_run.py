"""The null run: copies of one policy under different ids, on real battles, through the whole pipeline."""

import json
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.report.document import Report
from nashdex.store import open_store
from nashdex_cli import cli

pytestmark = pytest.mark.integration

CONFIG = Path(__file__).parents[2] / "configs" / "null.toml"
SMALL = ("iterations=2", "train.seeds=2", "evaluate.battles_per_pair=10", "evaluate.shards=1", "solve.num_draws=200")


@pytest.mark.slow
def test_a_run_of_copies_claims_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = [word for setting in SMALL for word in ("--set", setting)]
    assert cli.run_command_line(["run", str(CONFIG), "--run", "null", "--store", str(tmp_path), *settings]) == 0
    capsys.readouterr()
    store = open_store(str(tmp_path / "null"))
    analysis = MetaGameAnalysis.from_json(store.get(keys.published(1, keys.META_GAME_ANALYSIS)), "analysis")
    report = Report.from_json(store.get(keys.published(1, keys.REPORT)), "report")
    assert len(report.policies) == 5
    for estimate in (analysis.exploitability.restricted, analysis.exploitability.legacy_dominance_gap):
        assert estimate is not None
        assert estimate.low == 0
    gap = analysis.exploitability.best_response_gap
    assert gap is not None
    assert gap.low <= 0 <= gap.high
    assert report.progress is not None
    assert report.progress.elo.low <= 0 <= report.progress.elo.high
    assert analysis.intransitivity <= analysis.intransitivity_by_chance
    assert not any("clear progress" in finding or "exploitable by" in finding for finding in report.findings)

    run = str(tmp_path / "null")
    assert cli.run_command_line(["calibrate", run, "--sets", "10", "--processes", "1", "--json"]) == 0
    names = {number["name"] for number in json.loads(capsys.readouterr().out)["numbers"]}
    assert names >= {"best_response_gap", "progress", "mixture_score"}
    page = tmp_path / "report.html"
    assert cli.run_command_line(["report", run, "--output", str(page)]) == 0
    assert "simulated tournaments of this design" in page.read_text()
