"""Settings that are each right and do not fit each other: refused before a run begins, in one line."""

from collections.abc import Iterator

from nashdex.core.errors import ConfigurationError
from nashdex.core.results import ORACLES_WITHOUT_BATTLES
from nashdex.core.settings import RunSettings, TrainSettings
from nashdex.games.registry import check_format, is_tabular
from nashdex.policies.scripted import IN_EVERY_GAME


def check_fit(settings: RunSettings) -> None:
    """Check that format, oracle and scripted policies go together, and that what was set has an effect.

    Raises:
        ConfigurationError: they do not; says which and what to do.
    """
    check_format(settings.format)
    problems = _of_tabular(settings) if is_tabular(settings.format) else _of_showdown(settings)
    for problem in problems:
        raise ConfigurationError(problem)
    for problem in _without_effect(settings):
        raise ConfigurationError(f"{problem} has no effect with train.oracle = {settings.train.oracle!r}: leave it out")


def _of_showdown(settings: RunSettings) -> Iterator[str]:
    if settings.matrix is not None:
        yield f"{settings.format} has no payoffs to set: leave `matrix` out"
    if settings.train.oracle in ORACLES_WITHOUT_BATTLES:
        yield (
            f"train.oracle {settings.train.oracle!r} answers from a game's tree, which {settings.format} is too "
            "large to have; expected 'ppo', or a tabular format"
        )


def _of_tabular(settings: RunSettings) -> Iterator[str]:
    name = settings.format
    if settings.teams is not None:
        yield f"{name} has no teams: leave `teams` out"
    if (settings.matrix is None) == (name == "matrix"):
        yield (
            f"format {name} needs payoffs: set `matrix` to a file of them, such as `nashdex solve` reads"
            if settings.matrix is None
            else f"{name} has payoffs of its own: leave `matrix` out"
        )
    able = " or ".join(repr(str(policy)) for policy in sorted(IN_EVERY_GAME))
    for policy in settings.population.initial:
        if policy not in IN_EVERY_GAME:
            yield f"population.initial holds {policy!r}, which plays Pokémon Showdown only; {name} has {able}"
    teacher = settings.collect.teacher
    if settings.train.oracle == "ppo" and teacher not in IN_EVERY_GAME:
        yield f"collect.teacher {teacher!r} plays Pokémon Showdown only; {name} has {able}"
    if settings.train.reward != "win-loss":
        yield f"train.reward {settings.train.reward!r} is for Pokémon Showdown only; {name} has 'win-loss', its payoff"


def _without_effect(settings: RunSettings) -> Iterator[str]:
    """Yield the settings that an oracle without battles would silently ignore."""
    train, plain = settings.train, TrainSettings()
    if train.oracle not in ORACLES_WITHOUT_BATTLES:
        return
    for name in ("preset", "rounds", "damping", "cloning"):
        if getattr(train, name) != getattr(plain, name):
            yield f"train.{name}"
    if train.oracle == "exact" and train.seeds > 1:
        yield f"train.seeds = {train.seeds}"
