"""A property over the settings: what a run begins with is refused by no step of it."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nashdex.core.errors import ConfigurationError
from nashdex.core.section import Section
from nashdex.learning.advantages import ADVANTAGES
from nashdex.metagame.opponents.registry import OPPONENT_RULES
from nashdex.metagame.solvers.registry import META_SOLVERS
from nashdex.oracles.registry import ORACLES
from nashdex.planning.dag import iteration_steps, num_shards, step_function
from nashdex.policies.networks.kinds import NETWORKS
from nashdex.runs.fit import check_fit
from nashdex.settings.run import RunSettings
from support.kuhn import kuhn_settings
from support.memory_store import MemoryStore
from support.ranges import ends

REGISTRIES: Mapping[str, Any] = {
    "opponents": OPPONENT_RULES,
    "network": NETWORKS,
    "oracle": ORACLES,
    "first": ORACLES,
    "advantages": ADVANTAGES,
    "meta_solver": META_SOLVERS,
}
"""The sections of which one is chosen by its kind, by the name of their setting."""
LEFT_OUT = {"run", "format", "iterations", "population", "trackers", "teams", "matrix", "replays", "device"}
"""What names files and policies, what says nothing about one iteration, and what depends on the machine."""
MOST = 12
"""Of a whole number, so that a run is small."""

Path = tuple[str, ...]
Change = tuple[Path, object]


def changes(section: type[Section], path: Path = ()) -> Iterator[Change]:
    """Yield every choice of ``section`` and both ends of every range, each as the path of its setting and a value."""
    for name, field in section.model_fields.items():
        here, annotation = (*path, name), field.annotation
        if name in LEFT_OUT:
            continue
        if name in REGISTRIES:
            for kind, entry in REGISTRIES[name].all().items():
                yield (*here, "kind"), kind
                yield from changes(entry.settings, here)
        elif isinstance(annotation, type) and issubclass(annotation, Section):
            yield from changes(annotation, here)
        elif annotation is bool:
            yield from ((here, value) for value in (False, True))
        elif get_origin(annotation) is Literal and name != "kind":
            yield from ((here, value) for value in get_args(annotation))
        else:
            yield from ((here, value) for value in ends(field, most=MOST))


CHANGES = [*changes(RunSettings)]


def changed(base: Mapping[str, Any], some: list[Change]) -> dict[str, Any]:
    """Return ``base`` with ``some`` changes. A section of another kind begins with its own defaults."""
    document: dict[str, Any] = dict(base)
    for (*path, name), value in sorted(some, key=lambda change: (change[0][-1] != "kind", len(change[0]))):
        place = document
        for part in path:
            place[part] = dict(place.get(part, {}))
            place = place[part]
        if name == "kind" and place.get("kind") != value:
            place.clear()
        place[name] = value
    return document


SMALL: dict[str, Any] = kuhn_settings(
    battles=12, oracle={"decisions": 60, "round_battles": 8, "minibatch_decisions": 16}
).model_dump(mode="json", exclude_unset=True) | {
    "evaluate": {"shards": 1, "battles_per_pair": 2},
    "solve": {"num_draws": 100},
}


@pytest.mark.slow
@given(some=st.lists(st.sampled_from(CHANGES), min_size=1, max_size=4))
def test_what_a_run_begins_with_is_refused_by_no_step(some: list[Change]) -> None:
    document = changed(SMALL, some)
    try:
        settings = RunSettings.model_validate(document)
        check_fit(settings)
    except (ValidationError, ConfigurationError):
        return  # before the first battle
    store = MemoryStore().at("small")
    for step in iteration_steps(settings):
        for shard in range(num_shards(settings, step.name)):
            step_function(step.name)(store, settings, 0, shard)
