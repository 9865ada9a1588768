"""``nashdex experiment``: what is refused before a run starts."""

from pathlib import Path

import pytest

from nashdex.core.ids import PolicyId
from nashdex_cli.cli import run_command_line
from nashdex_lab.experiments.plan import read_plan
from nashdex_lab.experiments.records import Match, Results, RunRecord, Status
from nashdex_lab.experiments.running import prepare
from support.experiments import BASE, PLAN

GPU_ARM = '[[arms]]\nname = "gpu"\nsettings = { "DEVICE.device" = "cuda" }\n'


@pytest.fixture(autouse=True)
def _no_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.chdir(tmp_path)
    Path("base.toml").write_text(BASE)


@pytest.mark.parametrize("device", ["train", "collect"])
def test_an_arm_whose_device_is_missing_here_is_refused_before_any_run(
    device: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("base.toml").write_text('format = "gen1randombattle"\n')
    arms = PLAN.replace("random = 0.0", "heuristic = 0.0") + GPU_ARM.replace("DEVICE", device)
    Path("plan.toml").write_text(arms)
    assert run_command_line(["experiment", "run", "plan.toml", "--store", "runs"]) == 64
    error = capsys.readouterr().err
    says = f"error: plan.toml, arm 'gpu' with seed 1: {device}.device is 'cuda', and torch finds no CUDA device here; "
    assert error.startswith(says)
    assert sorted(path.name for path in Path().iterdir()) == ["base.toml", "plan.toml"]


def test_an_experiment_that_is_done_needs_no_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    """Its page can be written again where no run could work."""
    gpu = PLAN.replace("seeds = [1]", 'seeds = [1]\nsettings = { "train.device" = "cuda" }')
    Path("plan.toml").write_text(gpu)
    plan = read_plan(Path("plan.toml"))
    score = Match(wins=20, draws=0, losses=20, score=0.5, low=0.4, high=0.6, battles=40, command="nashdex battle")
    records = [
        RunRecord(
            run=run.id,
            arm=run.arm,
            seed=run.seed,
            status=Status.COMPLETED,
            command="nashdex run",
            settings=prepare(plan)[run.id].settings.fingerprint(),
            policy=PolicyId("p1"),
            matches={"random": score},
        )
        for run in plan.runs
    ]
    done = Results(experiment="plan", began="now", runs=tuple(records))
    Path("plan.results.json").write_bytes(done.to_json())
    assert run_command_line(["experiment", "run", "plan.toml", "--store", "runs"]) == 0
    assert "plan: 0 of 2 runs to do" in capsys.readouterr().err
    assert Path("plan.md").exists()


def test_a_report_of_a_plan_that_never_ran_says_which_command_makes_results(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("my plan.toml").write_text(PLAN)
    assert run_command_line(["experiment", "report", "my plan.toml"]) == 65
    assert capsys.readouterr().err == (
        "error: my plan.toml has no results yet: expected my plan.results.json beside it; "
        "`nashdex experiment run 'my plan.toml'` makes them\n"
    )
