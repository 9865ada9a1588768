"""The documentation lists oracles, what they measure, estimators, presets and opponent rules in their own words."""

from pathlib import Path

import pytest

from nashdex.learning.advantages import ADVANTAGES
from nashdex.metagame.opponents.registry import OPPONENT_RULES
from nashdex.oracles.registry import ORACLES
from nashdex.settings.damping import DAMPING_PRESETS

pytestmark = pytest.mark.contract

DOCS = Path(__file__).parents[2] / "docs" / "explanation"
TRAINING = (DOCS / "training.md").read_text(encoding="utf-8").splitlines()
METAGAME = (DOCS / "metagame.md").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ORACLES.names)
def test_every_oracle_is_documented(name: str) -> None:
    oracle = ORACLES[name]
    games = "tabular games" if oracle.needs_tree else "every game"
    assert f"| `{name}` | {oracle.summary} | {oracle.makes} | {games} |" in TRAINING


@pytest.mark.parametrize("name", ADVANTAGES.names)
def test_every_advantage_estimator_is_documented(name: str) -> None:
    estimator = ADVANTAGES[name]
    mark = " (default)" if name == "gae" else ""
    older, critic = ("yes" if flag else "no" for flag in (estimator.off_policy, estimator.uses_critic))
    assert f"| `{name}`{mark} | {estimator.summary} | {older} | {critic} |" in TRAINING


@pytest.mark.parametrize("name", DAMPING_PRESETS.names)
def test_every_preset_is_documented(name: str) -> None:
    preset = DAMPING_PRESETS[name]
    mark = " (default)" if name == "ppo-clip-kl" else ""
    assert f"| `{name}`{mark} | {preset.damping.reference} | {preset.summary} |" in TRAINING


@pytest.mark.parametrize("name", OPPONENT_RULES.names)
def test_every_opponent_rule_is_documented(name: str) -> None:
    assert f"| `{name}` | {OPPONENT_RULES[name].summary} |" in METAGAME
