"""The rules of one line: PSRO's meta-strategy (Lanctot et al. 2017), self-play, and the initial population."""

from nashdex.core.ids import PolicyId
from nashdex.metagame.opponents.interface import OpponentRule, Situation
from nashdex.settings.opponents import InitialSettings, MetaStrategySettings, SelfPlaySettings


def _meta_strategy(_settings: MetaStrategySettings, situation: Situation) -> dict[PolicyId, float]:
    """Return the meta-strategy without the members that it never plays."""
    return {policy: share for policy, share in situation.meta_strategy.items() if share > 0}


META_STRATEGY = OpponentRule(
    settings=MetaStrategySettings,
    summary="the meta-strategy of the iteration before (PSRO)",
    words="the mixture before it",
    mixture=_meta_strategy,
    answers_meta_strategy=True,
)


def _itself(_settings: SelfPlaySettings, situation: Situation) -> dict[PolicyId, float]:
    """Return the learner alone."""
    return {situation.learner: 1.0}


SELF_PLAY = OpponentRule(
    settings=SelfPlaySettings,
    summary="the learner's newest self",
    words="itself",
    mixture=_itself,
    meets_itself=True,
    needs_newest=True,
)


def _initial(_settings: InitialSettings, situation: Situation) -> dict[PolicyId, float]:
    """Return the members that no iteration trained, uniformly."""
    first = [entry.id for entry in situation.population.policies if entry.iteration is None]
    return dict.fromkeys(first, 1.0 / len(first))


INITIAL = OpponentRule(
    settings=InitialSettings,
    summary="the initial population, uniformly, in every iteration: a baseline",
    words="the initial population",
    mixture=_initial,
)
