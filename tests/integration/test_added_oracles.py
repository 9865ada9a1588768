"""Oracles, damping presets and opponent rules of installed packages: one file each, and nashdex stays as it is."""

import json
from pathlib import Path

import pytest

from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.metagame.plan import IterationPlan
from nashdex.store import open_store
from nashdex.store.documents import read_from_shards, read_published
from support.packages import install, run_nashdex
from support.pages import commands, install_package, titled_block

pytestmark = pytest.mark.integration

PAGE = "how-to/new-oracle.md"


@pytest.fixture
def by_trial(tmp_path: Path) -> Path:
    """Install the package that the page builds, beside its run."""
    (tmp_path / "kuhn-by-trial.toml").write_text(titled_block(PAGE, "kuhn-by-trial.toml"))
    return install_package(PAGE, "by_trial.py", tmp_path / "site")


@pytest.mark.slow
def test_an_added_oracle_solves_kuhn(by_trial: Path, tmp_path: Path) -> None:
    (command,) = commands(PAGE)
    done = run_nashdex(by_trial, *command)
    assert done.returncode == 0, done.stderr
    last = tmp_path / "runs" / "kuhn-by-trial" / "iterations" / "0011"
    analysis = json.loads((last / "meta_game_analysis.json").read_text())
    assert analysis["exploitability"]["exact"]["value"] == pytest.approx(0.0, abs=1e-9)
    assert "the best response by trial of each action" in (last / "report.html").read_text()


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("train.oracle.num_sweeps=0", "train.oracle.num_sweeps: must be greater than or equal to 1"),
        ("train.oracle.learning_rate=1", "train.oracle.learning_rate: no such key"),
        ("train.seeds=2", "train.seeds = 2 has no effect with the oracle 'by-trial'"),
        ("format=gen1randombattle", "the oracle 'by-trial' reads a game's tree"),
    ],
)
def test_settings_of_an_added_oracle_are_checked(by_trial: Path, override: str, message: str) -> None:
    refused = run_nashdex(by_trial, "config", "show", "kuhn-by-trial.toml", "--set", override)
    assert refused.returncode == 64
    assert message in refused.stderr


def test_an_oracle_that_is_not_installed_is_refused(by_trial: Path, tmp_path: Path) -> None:
    assert by_trial.exists()
    refused = run_nashdex(tmp_path / "elsewhere", "config", "show", "kuhn-by-trial.toml")
    assert refused.returncode == 64
    assert "train.oracle: unknown oracle 'by-trial'; expected one of ppo, exact, global-psro" in refused.stderr


GENTLE = """
from nashdex.settings.damping import Damping, Preset, ReferenceCoefficient
BETA = ReferenceCoefficient(initial=0.125)
GENTLE = Preset("β 0.125 towards the uniform policy", Damping(reference="uniform", beta=BETA))
"""
OLDEST = """
from typing import Literal
from nashdex.core.section import Choice
from nashdex.metagame.opponents.interface import OpponentRule

class OldestSettings(Choice):
    kind: Literal["oldest"] = "oldest"
    number: int = 1

def mixture(settings, situation):
    oldest = situation.population.ids[: settings.number]
    return dict.fromkeys(oldest, 1 / len(oldest))

OLDEST = OpponentRule(settings=OldestSettings, summary="the oldest members", words="the oldest", mixture=mixture)
"""
HALVED = """
from typing import Literal
import numpy as np
from nashdex.core.section import Choice
from nashdex.learning.advantages import AdvantageEstimator, Estimates

class HalvedSettings(Choice):
    kind: Literal["halved"] = "halved"
    factor: float = 0.5

def estimate(trajectories, discount, settings):
    rewards = np.concatenate([np.full_like(one.rewards, one.rewards.sum()) for one in trajectories])
    return Estimates(np.float32(settings.factor) * rewards, measured={"factor": settings.factor})

HALVED = AdvantageEstimator(settings=HalvedSettings, summary="half the return", estimate=estimate, uses_critic=False)
"""
RUN = """
format = "kuhn_poker"
run = "added"
iterations = 2
opponents = { kind = "oldest", number = 2 }
[population]
initial = ["random", "first-action"]
[network]
embedding_size = 4
entity_size = 16
hidden_size = 16
num_hidden_layers = 1
[collect]
teacher = "random"
battles = 100
shards = 1
[train.oracle]
decisions = 1
round_battles = 100
advantages = { kind = "halved", factor = 0.25 }
damping = { preset = "gentle" }
[evaluate]
shards = 1
"""


@pytest.mark.slow
def test_an_added_estimator_preset_and_opponent_rule_decide_a_run(tmp_path: Path) -> None:
    site = install(
        tmp_path / "site",
        "additions",
        {"gentle.py": GENTLE, "halved.py": HALVED, "oldest.py": OLDEST},
        {
            "nashdex.advantages": {"halved": "halved:HALVED"},
            "nashdex.damping_presets": {"gentle": "gentle:GENTLE"},
            "nashdex.opponent_rules": {"oldest": "oldest:OLDEST"},
        },
    )
    (tmp_path / "added.toml").write_text(RUN)
    done = run_nashdex(site, "run", "added.toml")
    assert done.returncode == 0, done.stderr
    assert "training was against the oldest" in done.stdout + done.stderr
    store = open_store(str(tmp_path / "runs" / "added"))
    plan = read_published(store, 1, "plan.json", IterationPlan)
    assert (plan.rule, plan.opponents) == ("oldest", {"random": 0.5, "first-action": 0.5})
    (result,) = read_from_shards(store, 1, StepName.TRAIN, 1, TRAINING_RESULT, TrainingResult)
    assert (result.preset, result.reference) == ("gentle", "uniform")
    assert result.curve[0].values["beta_reference"] == 0.125
    assert result.curve[0].values["factor"] == result.summary["factor"] == 0.25
    assert "value_loss" not in result.curve[0].values
    config = json.loads((tmp_path / "runs" / "added" / "config.json").read_text())
    assert config["train"]["oracle"]["damping"]["beta"]["initial"] == 0.125


MEASURED = """
from typing import Literal
from nashdex.core.results import TrainingPoint
from nashdex.core.section import Choice
from nashdex.oracles.interface import Oracle, Trained

class MeasuredSettings(Choice):
    kind: Literal["measured"] = "measured"

def train(task, settings):
    legal = task.tree.legal
    curve = tuple(TrainingPoint(update=update, values={"best_payoff": update / 4}) for update in range(4))
    return Trained(policy=legal / legal.sum(axis=1, keepdims=True), summary={}, curve=curve)

MEASURED = Oracle(
    settings=MeasuredSettings,
    summary="plays every action alike",
    train="measured:train",
    makes="table",
    collects=None,
    needs_tree=True,
    metrics={"best_payoff": "largest payoff so far, a game"},
)
"""


@pytest.mark.slow
def test_the_report_draws_the_metrics_that_an_added_oracle_declares(tmp_path: Path) -> None:
    site = install(
        tmp_path / "site", "measured", {"measured.py": MEASURED}, {"nashdex.oracles": {"measured": "measured:MEASURED"}}
    )
    settings = 'format = "kuhn_poker"\nrun = "added"\niterations = 1\n[train.oracle]\nkind = "measured"\n'
    (tmp_path / "added.toml").write_text(settings + '[population]\ninitial = ["first-action"]\n')
    done = run_nashdex(site, "run", "added.toml")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "runs" / "added" / "iterations" / "0000" / "report.html").read_text()
    assert "<figcaption><strong>Best payoff</strong>largest payoff so far, a game</figcaption>" in page
