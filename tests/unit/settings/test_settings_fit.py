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
        {"mode": "self-play"},
        {"mode": "self-play", "solve": {"meta_solver": "nash"}, "gate": SPRT},
        {"mode": "league", "league": {"itself": 0, "peer": 1}},
        {"mode": "league", "gate": SPRT | {"elo1": 30, "max_battles": 400}},
        {"evaluate": {"schedule": "adaptive", "first_battles": 20, "adaptive_battles": 100}},
        KUHN | {"mode": "league"},
        KUHN | {"gate": SPRT},
        KUHN | {"train": {"start": "clone", "rounds": 2, "round_battles": 10}},
        KUHN | {"train": {"oracle": "q-learning", "q_learning": {"battles": 10}}},
        EXACT,
        EXACT | {"mode": "self-play"},
    ],
)
def test_goes_together(values: dict[str, Any]) -> None:
    check_fit(RunSettings.model_validate(values))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (EXACT | {"mode": "league"}, "mode 'league' .* plays no battles; expected 'ppo'"),
        ({"mode": "league", "league": {"baseline": 0, "itself": 0}}, "league.baseline and league.itself are both 0"),
        ({"mode": "league", "league": {"final_shares": [0, 0, 0.5, 0.5]}}, "both 0"),
        ({"league": {"weighting": "variance"}}, "league.weighting has no effect in mode 'psro'"),
        ({"mode": "self-play", "league": {"peer": 0.1}}, "league.peer has no effect in mode 'self-play'"),
        ({"gate": {"elo1": 20}}, "gate.elo1 has no effect without a gate"),
        ({"gate": SPRT | {"elo0": 50}}, "expected gate.elo0 to be the smaller"),
        (EXACT | {"gate": SPRT}, "parent, which one of train.oracle 'exact' does not have"),
        (KUHN | {"gate": SPRT | {"max_battles": 10}}, "gate.max_battles has no effect in kuhn_poker"),
        ({"evaluate": {"first_battles": 20}}, "evaluate.first_battles has no effect"),
        ({"evaluate": {"schedule": "adaptive", "battles_per_pair": 20}}, "no more than evaluate.battles_per_pair"),
        (EXACT | {"evaluate": {"schedule": "adaptive"}}, "kuhn_poker plays no battles to schedule"),
        ({"mode": "self-play", "train": {"start": "clone"}}, "train.start 'clone' would have self-play begin anew"),
        ({"train": {"round_battles": 10}}, "train.round_battles has no effect with train.rounds = 1"),
        ({"train": {"q_learning": {"battles": 10}}}, "train.q_learning has no effect with train.oracle = 'ppo'"),
        ({"train": {"preset": "none", "damping": {"reference": "uniform"}}}, "its coefficient is 0"),
    ],
)
def test_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as refused:
        check_fit(RunSettings.model_validate(values))
    assert "\n" not in str(refused.value)
