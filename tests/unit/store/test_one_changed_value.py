"""A run in which one stored value is changed goes on to the same result, or fails as wrong data."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.steps import StepName
from nashdex.games.tabular.matrix import MatrixDocument
from nashdex.metagame.evidence.exact import ExactValues
from nashdex.metagame.plan import IterationPlan
from nashdex.planning.dag import iteration_steps, num_shards, step_function
from nashdex.settings.run import RunSettings
from nashdex.store.checked import write_root
from nashdex.store.documents import read_published
from support.made_runs import ROCK_PAPER_SCISSORS
from support.memory_store import MemoryStore
from support.results import published

SETTINGS = RunSettings.model_validate(
    {
        "run": "small",
        "format": "matrix",
        "matrix": "matrix.json",
        "iterations": 2,
        "population": {"initial": ["first-action"]},
        "collect": {"shards": 1},
        "train": {"oracle": "exact"},
        "evaluate": {"shards": 2},
        "solve": {"num_draws": 100},
    }
)
WORK = [
    (iteration, step.name, shard)
    for iteration in range(SETTINGS.iterations)
    for step in iteration_steps(SETTINGS)
    for shard in range(num_shards(SETTINGS, step.name))
]
Snapshots = list[dict[str, bytes]]


def go_on(objects: dict[str, bytes]) -> MemoryStore:
    """Do the steps that are missing."""
    store = MemoryStore(objects)
    for iteration, step, shard in WORK:
        step_function(step)(store, SETTINGS, iteration, shard)
    return store


@pytest.fixture(scope="module")
def snapshots() -> Snapshots:
    """Return what is stored after each step of a whole run, and before the first."""
    store = MemoryStore()
    names = tuple(str(row) for row in range(len(ROCK_PAPER_SCISSORS)))
    matrix = MatrixDocument(row_policies=names, column_policies=names, payoffs=ROCK_PAPER_SCISSORS).to_json()
    store.put(keys.MATRIX, matrix)
    write_root(store, {keys.MATRIX: matrix})
    stored = [dict(store.objects)]
    for iteration, step, shard in WORK:
        step_function(step)(store, SETTINGS, iteration, shard)
        stored.append(dict(store.objects))
    return stored


def results(store: MemoryStore) -> dict[tuple[int, str], bytes]:
    """Return everything that the last iteration found."""
    return published(store, [SETTINGS.iterations - 1])


def leaves(document: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(document, dict | list):
        below = document.items() if isinstance(document, dict) else enumerate(document)
        for key, value in below:
            yield from leaves(value, (*path, key))
    else:
        yield path


def changed(value: object) -> object:
    """Return another value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value / 2 + 0.125
        case str():
            return value[:-1] + ("1" if value[-1:] != "1" else "2")
    return 1


def with_change(data: bytes, path: tuple[Any, ...]) -> bytes:
    document = json.loads(data)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = changed(place[path[-1]])
    return json.dumps(document).encode()


def assert_same_or_refused(objects: dict[str, bytes], expected: dict[tuple[int, str], bytes], what: object) -> bool:
    """Go on from ``objects``; return whether the change was refused."""
    try:
        store = go_on(objects)
    except DataError:
        return True
    assert results(store) == expected, what
    return False


def test_one_changed_value_is_refused_or_changes_nothing(snapshots: Snapshots) -> None:
    """Change values at random, each right after the step that wrote them, and do the rest of the run."""
    expected = results(MemoryStore(snapshots[-1]))
    generator = random.Random(18)
    refused = 0
    for before, after in zip([{}, *snapshots], snapshots[:-1], strict=False):
        for key in sorted(after.keys() - before.keys()):
            if not key.endswith(".json"):
                continue
            paths = list(leaves(json.loads(after[key])))
            for path in generator.sample(paths, 1):
                altered = after | {key: with_change(after[key], path)}
                refused += assert_same_or_refused(altered, expected, (key, path))
    assert refused >= 10


@pytest.mark.parametrize("iteration", [0, 1])
def test_the_plan_is_read_through_its_manifest(snapshots: Snapshots, iteration: int) -> None:
    """The opponents' mixture, the reader of which nobody would notice."""
    step = WORK.index((iteration, StepName.PLAN, 0)) + 1
    store = MemoryStore(dict(snapshots[step]))
    plan = read_published(store, iteration, keys.PLAN, IterationPlan)
    other = plan.model_copy(update={"opponents": {"first-action": 0.5}}).to_json()
    store.put(keys.published(iteration, keys.PLAN), other)
    assert read_published(store, iteration, keys.PLAN, IterationPlan) == plan
    for key in store.list(f"iterations/{iteration:04d}/plan/"):
        if key.endswith(keys.PLAN):
            store.put(key, other)
    with pytest.raises(DataError, match=r"plan\.json has"):
        go_on(store.objects)


def test_a_published_payoff_that_is_changed_is_not_carried_forward(snapshots: Snapshots) -> None:
    """Copies at the top of an iteration are for people."""
    step = WORK.index((0, StepName.REPORT, 0)) + 1
    store = MemoryStore(dict(snapshots[step]))
    key = keys.published(0, keys.INTERACTION_MATRIX)
    matrix = ExactValues.from_json(store.get(key), key)
    (low, high), rest = matrix.payoffs[0][:2], matrix.payoffs[0][2:]
    payoffs = ((low, high + 0.25, *rest), (low - high - 0.25, *matrix.payoffs[1][1:]), *matrix.payoffs[2:])
    store.put(key, matrix.model_copy(update={"payoffs": payoffs}).to_json())
    assert results(go_on(store.objects)) == results(MemoryStore(snapshots[-1]))


@pytest.mark.parametrize("name", ["attempt", "counts", "seconds", "content_sha256"])
def test_a_manifest_is_sealed(snapshots: Snapshots, name: str) -> None:
    key = keys.manifest(0, StepName.EVALUATE, 1)
    values = json.loads(snapshots[-1][key])
    path = next(path for path in leaves(values) if path[0] == name)
    with pytest.raises(DataError, match=r"was altered|not a valid"):
        go_on(snapshots[-1] | {key: with_change(snapshots[-1][key], path)})


def test_a_sealed_document_may_be_written_in_another_way(snapshots: Snapshots) -> None:
    """The seal is over values, so an editor that only changes spaces and order breaks nothing."""
    key = keys.manifest(0, StepName.EVALUATE, 1)
    rewritten = json.dumps(dict(reversed(json.loads(snapshots[-1][key]).items()))).encode()
    go_on(snapshots[-1] | {key: rewritten})
