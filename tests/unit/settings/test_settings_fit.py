"""Settings that are each right and do not go together are refused in one line that says what to do."""

from typing import Any

import pytest

from nashdex.core.errors import ConfigurationError
from nashdex.runs.fit import check_fit
from nashdex.settings.run import RunSettings

SPRT = {"test": "sprt"}
KUHN = {"format": "kuhn_poker", "population": {"initial": ["random"]}, "collect": {"teacher": "random"}}
EXACT = KUHN | {"train": {"oracle": "exact"}}


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"opponents": "self-play"},
        {"network": "pointer"},
        {"opponents": "initial"},
        {"opponents": "self-play", "solve": {"meta_solver": "nash"}, "gate": SPRT},
        {"opponents": {"kind": "league", "itself": 0, "peer": 1}},
        {"opponents": "league", "gate": SPRT | {"elo1": 30, "max_battles": 400}},
        {"evaluate": {"schedule": "adaptive", "first_battles": 20, "adaptive_battles": 100}},
        KUHN | {"opponents": "league"},
        KUHN | {"gate": SPRT},
        KUHN | {"train": {"oracle": {"start": "clone", "decisions": 2000, "round_battles": 10}}},
        KUHN | {"train": {"oracle": {"kind": "q-learning", "battles": 10}}},
        EXACT,
        EXACT | {"opponents": "self-play"},
    ],
)
def test_goes_together(values: dict[str, Any]) -> None:
    check_fit(RunSettings.model_validate(values))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (EXACT | {"opponents": "league"}, "opponents 'league' .* the oracle 'exact' plays no battles"),
        (
            {"opponents": {"kind": "league", "baseline": 0, "itself": 0}},
            "opponents.baseline and opponents.itself are both 0",
        ),
        ({"opponents": {"kind": "league", "final_shares": [0, 0, 0.5, 0.5]}}, "both 0"),
        ({"gate": {"elo1": 20}}, "gate.elo1 has no effect without a gate"),
        ({"gate": SPRT | {"elo0": 50}}, "expected gate.elo0 to be the smaller"),
        (EXACT | {"gate": SPRT}, "plays a policy against its parent, and the oracle 'exact' gives policies none"),
        (KUHN | {"gate": SPRT | {"max_battles": 10}}, "gate.max_battles has no effect in kuhn_poker"),
        ({"evaluate": {"first_battles": 20}}, "evaluate.first_battles has no effect"),
        ({"evaluate": {"schedule": "adaptive", "battles_per_pair": 20}}, "no more than evaluate.battles_per_pair"),
        (EXACT | {"evaluate": {"schedule": "adaptive"}}, "kuhn_poker plays no battles to schedule"),
        (
            {"opponents": "self-play", "train": {"oracle": {"start": "clone"}}},
            "train.oracle.start 'clone' makes opponents 'self-play' start over",
        ),
        (KUHN | {"network": "pointer"}, "network.kind 'pointer' does not fit kuhn_poker; expected 'slots'"),
        ({"train": {"oracle": {"round_battles": 10}}}, "round_battles has no effect with train.oracle.decisions = 0"),
        (
            {"train": {"oracle": {"decisions": 1000, "critic_warmup_decisions": 1000}}},
            "critic_warmup_decisions is 1000 and train.oracle.decisions 1000, so the actor never learns",
        ),
    ],
)
def test_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as refused:
        check_fit(RunSettings.model_validate(values))
    assert "\n" not in str(refused.value)
