"""One cluster and one installation for all tests, which run in the order in which they are written."""

import json
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import current_images
import failures
import pytest
from clusters import Cluster, open_cluster
from installation import Installation, argo_metrics, namespace

_INSTALLATION = pytest.StashKey[Installation]()
_MEASURED = pytest.StashKey[dict[str, Any]]()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A cluster that answers."""
    with open_cluster() as found:
        yield found


@pytest.fixture(scope="session")
def image_tag(cluster: Cluster) -> str:
    """The tag of images that are made of this working tree, and in the cluster."""
    return current_images.provide(cluster)


@pytest.fixture(scope="session")
def place(image_tag: str, pytestconfig: pytest.Config) -> Iterator[Installation]:
    """A namespace that enforces Restricted pod security, with nothing in it."""
    with namespace(image_tag) as made:
        pytestconfig.stash[_INSTALLATION] = made
        yield made


@pytest.fixture(scope="session")
def installed(place: Installation) -> Iterator[Installation]:
    """The chart, installed there, and Argo's own metrics scraped."""
    with argo_metrics():
        place.install()
        yield place


@pytest.fixture(scope="session")
def measured(pytestconfig: pytest.Config) -> dict[str, Any]:
    """What tests measure, for whoever reads the end of their output."""
    return pytestconfig.stash.setdefault(_MEASURED, {})


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Undo the random order: each of these tests goes on where the one before it ended."""
    here = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    others = [item for item in items if item not in here]
    items[:] = [*others, *sorted(here, key=lambda item: (item.path, item.reportinfo()[1] or 0))]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Collect everything of a failure before the next test changes it."""
    report = yield
    if report.failed and (made := item.config.stash.get(_INSTALLATION, None)):
        folder = failures.collect(made.namespace, item.name)
        report.sections.append(("the cluster", f"what it said is in {folder}"))
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:  # noqa: ANN401 - pytest's own is private
    """Print what was measured, and keep it."""
    if measured := config.stash.get(_MEASURED, None):
        failures.LOGS.mkdir(exist_ok=True)
        text = json.dumps(measured, indent=2)
        (failures.LOGS / "measured.json").write_text(text + "\n")
        terminalreporter.section("measured")
        terminalreporter.write_line(text)
