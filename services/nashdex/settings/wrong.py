"""What is wrong with settings: the source of each wrong value, and the intended key."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from nashdex.core.documents import describe
from nashdex.core.user_input.near import did_you_mean
from nashdex.core.user_input.nested import flatten

ENV_PREFIX = "NASHDEX_"
ENV_NESTING = "__"
ENVIRONMENT = "environment"
_NEAR = 0.85
"""Similarity of a variable's name to a setting's that it was meant to be."""


def explain(error: ValidationError, sources: Sequence[tuple[str, Mapping[str, Any]]], known: Mapping[str, Any]) -> str:
    """Return the problems as one line, each under the source that gave the value.

    Args:
        error: what pydantic found in the merged values.
        sources: each source's name and nested values; later ones win.
        known: the settings' nested defaults, for the nearest key to one that is unknown.
    """
    paths = [key.split(".") for key, _ in flatten(known)]
    keys = list(dict.fromkeys(".".join(path[:end]) for path in paths for end in range(1, len(path) + 1)))
    by_source: dict[str, list[ErrorDetails]] = {}
    for problem in error.errors(include_url=False):
        by_source.setdefault(_source_of(problem["loc"], sources), []).append(problem)
    return "; ".join(
        f"{source}: {describe(problems, lambda problem: _meant(problem, keys))}"
        for source, problems in by_source.items()
    )


def ignored_variable(known: Mapping[str, Any]) -> str | None:
    """Return the message about an environment variable that has almost a setting's name, if any.

    Others may belong to something else: Kubernetes sets ``NASHDEX_…_SERVICE_HOST`` for a service.
    """
    meant = {ENV_PREFIX + key.replace(".", "_").upper(): key for key, _ in flatten(known) if "." in key}
    for name in os.environ:
        if name in meant:
            right = ENV_PREFIX + meant[name].replace(".", ENV_NESTING).upper()
            return f"{ENVIRONMENT}: {name} has no effect; write {right}, with two underscores for each dot"
        key = name.removeprefix(ENV_PREFIX).lower()
        if name.startswith(ENV_PREFIX) and key not in known:
            near = did_you_mean(key, known, most=1, similarity=_NEAR)
            if near:
                return f"{ENVIRONMENT}: {name} names no setting; {near}Correct it, or unset it"
    return None


def _source_of(place: tuple[int | str, ...], sources: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the name of the last source that gives the value at ``place``, or most of the way to it."""
    depths = [_depth(values, place) for _, values in sources]
    last = len(depths) - 1 - depths[::-1].index(max(depths))
    name = sources[last][0] if max(depths) else sources[0][0]
    return _variable(place[: depths[last]]) if name == ENVIRONMENT else name


def _depth(values: object, place: tuple[int | str, ...]) -> int:
    """Return how many parts of ``place`` nested ``values`` have."""
    depth = 0
    for part in place:
        if not isinstance(values, Mapping) or part not in values:
            break
        values, depth = values[part], depth + 1
    return depth


def _variable(place: tuple[int | str, ...]) -> str:
    """Return the environment variable that gives the value at ``place``; it may hold a whole section as JSON."""
    for end in range(len(place), 0, -1):
        name = ENV_PREFIX + ENV_NESTING.join(str(part) for part in place[:end]).upper()
        if name in os.environ:
            return name
    return ENVIRONMENT


def _meant(problem: ErrorDetails, keys: Sequence[str]) -> str:
    """Return a question for the key that was meant, if one is near; else where all keys are."""
    if problem["type"] != "extra_forbidden":
        return ""
    given = ".".join(str(part) for part in problem["loc"])
    if given in keys:
        return f"; another kind has it: set {given.rpartition('.')[0]}.kind"
    meant = did_you_mean(given, keys, 1, 0.8)
    return f"; {meant.rstrip()}" if meant else "; `nashdex config show FILE.toml` lists the keys"
