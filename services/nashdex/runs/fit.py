"""Settings that are each right and do not fit each other: refused before a run begins, in one line."""

from collections.abc import Iterator
from itertools import chain

from pydantic import BaseModel

from nashdex.core.errors import ConfigurationError
from nashdex.core.results import ORACLES_WITHOUT_BATTLES
from nashdex.games.registry import FORMATS, check_inputs, is_tabular
from nashdex.metagame.opponents.league import shares_at
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES, scripted_policies_of
from nashdex.settings.run import RunSettings
from nashdex.trainer.damping import resolve_damping
from nashdex.trainer.settings import TrainSettings


def check_fit(settings: RunSettings) -> None:
    """Check that format, oracle, mode and scripted policies go together, and that what was set has an effect.

    Raises:
        ConfigurationError: they do not; says which and what to do.
    """
    check_inputs(settings.format, has_teams=settings.teams is not None, has_matrix=settings.matrix is not None)
    of_game = _of_tabular if is_tabular(settings.format) else _of_showdown
    parts = (of_game, _of_scripted, _of_mode, _of_gate, _of_schedule)
    for problem in chain.from_iterable(part(settings) for part in parts):
        raise ConfigurationError(problem)
    if settings.train.oracle == "ppo":
        resolve_damping(settings.train)
    if settings.train.rounds == 1 and settings.train.round_battles != TrainSettings().round_battles:
        raise ConfigurationError("train.round_battles has no effect with train.rounds = 1: leave it out")
    for problem in _without_effect(settings):
        raise ConfigurationError(f"{problem} has no effect with train.oracle = {settings.train.oracle!r}: leave it out")


def _of_showdown(settings: RunSettings) -> Iterator[str]:
    if settings.train.oracle in ORACLES_WITHOUT_BATTLES:
        yield (
            f"train.oracle {settings.train.oracle!r} answers from a game's tree, which {settings.format} is too "
            "large to have; expected 'ppo', or a tabular format"
        )


def _of_tabular(settings: RunSettings) -> Iterator[str]:
    name = settings.format
    if settings.train.reward != "win-loss":
        yield f"train.reward {settings.train.reward!r} is for Pokémon Showdown only; {name} has 'win-loss', its payoff"


def _of_scripted(settings: RunSettings) -> Iterator[str]:
    name, game = settings.format, FORMATS[settings.format].game
    able = ", ".join(repr(policy) for policy in scripted_policies_of(game))
    for policy in settings.population.initial:
        if not SCRIPTED_POLICIES[policy].plays(game):
            yield f"population.initial holds {policy!r}, which does not play {name}; expected some of {able}"
    teacher = settings.collect.teacher
    if settings.train.oracle == "ppo" and not SCRIPTED_POLICIES[teacher].plays(game):
        yield f"collect.teacher {teacher!r} does not play {name}; expected one of {able}"


def _of_mode(settings: RunSettings) -> Iterator[str]:
    league, oracle = settings.league, settings.train.oracle
    if settings.mode == "self-play" and settings.train.start == "clone":
        yield "train.start 'clone' would have self-play begin anew each iteration; expected 'newest', or mode 'psro'"
    if settings.mode != "league":
        for name in _changed(league):
            yield f"league.{name} has no effect in mode {settings.mode!r}: leave it out, or set mode = 'league'"
        return
    if oracle in ORACLES_WITHOUT_BATTLES:
        yield f"mode 'league' chooses whom to play, and train.oracle {oracle!r} plays no battles; expected 'ppo'"
    # In between, shares are weighted means of these two: positive where both are.
    if min(sum(shares_at(league, iteration, 3)[:2]) for iteration in (1, 2)) <= 0:
        yield (
            "league.baseline and league.itself are both 0, and at first there is nobody else to meet; give one of them "
            "a share, in league.final_shares too"
        )


def _of_gate(settings: RunSettings) -> Iterator[str]:
    gate = settings.gate
    changed = [name for name in _changed(gate) if name != "test"]
    if gate.test == "none":
        for name in changed:
            yield f"gate.{name} has no effect without a gate: leave it out, or set gate.test = 'sprt'"
        return
    if settings.train.oracle in ORACLES_WITHOUT_BATTLES:
        yield (
            f"gate.test {gate.test!r} is against a policy's parent, which one of train.oracle "
            f"{settings.train.oracle!r} does not have: leave it out"
        )
    if is_tabular(settings.format):
        for name in changed:
            yield f"gate.{name} has no effect in {settings.format}, whose exact payoffs decide at once: leave it out"
    elif gate.elo0 >= gate.elo1:
        yield f"gate.elo0 is {gate.elo0} and gate.elo1 {gate.elo1}; expected gate.elo0 to be the smaller"


def _of_schedule(settings: RunSettings) -> Iterator[str]:
    evaluate = settings.evaluate
    if evaluate.schedule == "uniform":
        for name in (name for name in _changed(evaluate) if name in {"first_battles", "adaptive_battles"}):
            yield f"evaluate.{name} has no effect: leave it out, or set evaluate.schedule = 'adaptive'"
    elif is_tabular(settings.format):
        yield f"evaluate.schedule {evaluate.schedule!r}: {settings.format} plays no battles to schedule; leave it out"
    elif evaluate.first_battles > evaluate.battles_per_pair:
        yield (
            f"evaluate.first_battles is {evaluate.first_battles} and a pair gets {evaluate.battles_per_pair} at most; "
            "expected no more than evaluate.battles_per_pair"
        )


def _changed(section: BaseModel) -> list[str]:
    """Return the fields of a section of the settings that are not as they are by default."""
    return [name for name, field in type(section).model_fields.items() if getattr(section, name) != field.default]


def _without_effect(settings: RunSettings) -> Iterator[str]:
    """Yield the settings that an oracle without battles would silently ignore."""
    train, plain = settings.train, TrainSettings()
    if train.oracle != "q-learning" and train.q_learning != plain.q_learning:
        yield "train.q_learning"
    if train.oracle not in ORACLES_WITHOUT_BATTLES:
        return
    for name in ("start", "preset", "rounds", "round_battles", "damping", "cloning"):
        if getattr(train, name) != getattr(plain, name):
            yield f"train.{name}"
    if train.oracle == "exact" and train.seeds > 1:
        yield f"train.seeds = {train.seeds}"
