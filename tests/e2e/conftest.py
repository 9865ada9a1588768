"""One cluster and one installation for all tests, which run in the order of their definition."""

import json
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e import current_images, failures
from e2e.clusters import Cluster, open_cluster
from e2e.installation import Installation, argo_metrics, kueues_rule, namespace

_INSTALLATION = pytest.StashKey[Installation]()
_MEASURED = pytest.StashKey[dict[str, Any]]()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A cluster that responds."""
    with open_cluster() as found:
        yield found


@pytest.fixture(scope="session")
def image_tag(cluster: Cluster) -> str:
    """The tag of the images that are built from this working tree and loaded into the cluster."""
    return current_images.provide(cluster)


@pytest.fixture(scope="session")
def place(image_tag: str, pytestconfig: pytest.Config) -> Iterator[Installation]:
    """An empty namespace that enforces Restricted pod security."""
    with namespace(image_tag) as made:
        pytestconfig.stash[_INSTALLATION] = made
        yield made


@pytest.fixture(scope="session")
def installed(place: Installation) -> Iterator[Installation]:
    """The installed chart, with Argo's metrics scraped, where Kueue's rule applies to pods."""
    with argo_metrics(), kueues_rule(place.namespace):
        place.install()
        yield place


@pytest.fixture(scope="session")
def measured(pytestconfig: pytest.Config) -> dict[str, Any]:
    """Measurements, printed at the end."""
    return pytestconfig.stash.setdefault(_MEASURED, {})


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Undo the random order: each test continues from the one before it."""
    here = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    others = [item for item in items if item not in here]
    items[:] = [*others, *sorted(here, key=lambda item: (item.path, item.reportinfo()[1] or 0))]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Collect logs of a failure before the next test changes the cluster."""
    report = yield
    if report.failed and (made := item.config.stash.get(_INSTALLATION, None)):
        folder = failures.collect(made.namespace, item.name)
        report.sections.append(("the cluster", f"what it said is in {folder}"))
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:  # noqa: ANN401 - pytest's own is private
    """Print and save the measurements."""
    if measured := config.stash.get(_MEASURED, None):
        failures.LOGS.mkdir(exist_ok=True)
        text = json.dumps(measured, indent=2)
        (failures.LOGS / "measured.json").write_text(text + "\n")
        terminalreporter.section("measured")
        terminalreporter.write_line(text)
