"""Simple rules: PSRO's meta-strategy (Lanctot et al. 2017), self-play, initial population, a fixed target."""

from collections.abc import Iterator

from nashdex.core.ids import PolicyId
from nashdex.metagame.opponents.interface import OpponentRule, Situation
from nashdex.settings.opponents import InitialSettings, MetaStrategySettings, SelfPlaySettings, TargetSettings

META_STRATEGY = OpponentRule(
    settings=MetaStrategySettings,
    summary="the meta-strategy of the iteration before (PSRO)",
    words="the mixture before it",
    mixture=lambda _, situation: {policy: share for policy, share in situation.meta_strategy.items() if share > 0},
    answers_meta_strategy=True,
)


SELF_PLAY = OpponentRule(
    settings=SelfPlaySettings,
    summary="the learner's newest self",
    words="itself",
    mixture=lambda _, situation: {situation.learner: 1.0},
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


def shares(settings: TargetSettings) -> dict[PolicyId, float]:
    """Return the mixture, by id; its shares sum to 1."""
    total = sum(settings.mixture.values())
    return {policy: share / total for policy, share in sorted(settings.mixture.items())}


def mixture(settings: TargetSettings, situation: Situation) -> dict[PolicyId, float]:
    """Return the target, and from iteration 1 on the learner's own share."""
    target = shares(settings)
    if situation.iteration == 0 or settings.itself == 0 or situation.learner in target:
        return target
    return {policy: (1 - settings.itself) * share for policy, share in target.items()} | {
        situation.learner: settings.itself
    }


def problems(settings: TargetSettings) -> Iterator[str]:
    """Yield a target that is empty or never met."""
    if not settings.mixture:
        yield "opponents.mixture is empty; expected at least one policy and its share, such as { max-power = 1 }"
    if settings.itself >= 1:
        yield "opponents.itself is 1, so the target is never met; expected less"


TARGET = OpponentRule(
    settings=TargetSettings,
    summary="a fixed policy or mixture: the opponent of an exploiter",
    words="the target",
    mixture=mixture,
    meets_itself=True,
    is_fixed=True,
    problems=problems,
)
