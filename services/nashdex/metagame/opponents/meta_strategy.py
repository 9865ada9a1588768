"""The meta-strategy of the iteration before: policy-space response oracles (PSRO, Lanctot et al. 2017)."""

from typing import Literal

from nashdex.core.ids import PolicyId
from nashdex.core.section import Choice
from nashdex.metagame.opponents.interface import OpponentRule, Situation


class MetaStrategySettings(Choice):
    """Opponents drawn from the meta-strategy (PSRO)."""

    kind: Literal["meta-strategy"] = "meta-strategy"


def mixture(_settings: MetaStrategySettings, situation: Situation) -> dict[PolicyId, float]:
    """Return the meta-strategy without the members that it never plays."""
    return {policy: share for policy, share in situation.meta_strategy.items() if share > 0}


META_STRATEGY = OpponentRule(
    settings=MetaStrategySettings,
    summary="the meta-strategy of the iteration before (PSRO)",
    words="the mixture before it",
    mixture=mixture,
    answers_meta_strategy=True,
)
