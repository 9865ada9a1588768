"""What a run cost, from its manifests."""

import time
from pathlib import Path

import numpy as np
import pytest

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import PolicyId
from nashdex.core.steps import StepName
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.report import step as report_step
from nashdex.report.assembly.cost import GAP_STEP, fall, gained_elo, ratio
from nashdex.report.document import Progress, Report
from nashdex.report.sources import read_manifests
from nashdex.store import open_store
from nashdex.store.attempt import Attempt, read_manifest
from nashdex.store.documents import read_published
from nashdex_cli import cli
from nashdex_lab.costs import Prices, RunCost, cost_of, read_prices
from support.made_runs import made_settings, make_iteration, make_tabular_run

ROOT = Path(__file__).parents[3]
RPS = ((0.0, -1.0, 1.0), (1.0, 0.0, -1.0), (-1.0, 1.0, 0.0))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> RunCost:
    """The cost of three iterations of rock, paper, scissors."""
    store = open_store(str(tmp_path_factory.mktemp("run")), lambda *_: None)
    settings = make_tabular_run(store, iterations=3, payoffs=RPS)
    report = read_published(store, 2, keys.REPORT, Report)
    manifests = [read_manifests(store, settings, iteration) for iteration in range(3)]
    return cost_of(report, manifests, Prices(cpu_hour=3600.0, thousand_writes=1000.0))


def test_every_step_says_what_it_asked_of_the_store(found: RunCost) -> None:
    solve = next(step for step in found.iterations[1].steps if step.step is StepName.SOLVE)
    assert solve.writes >= 4, "its documents, and copies for people"
    assert solve.reads > 0
    assert solve.bytes_written > 0
    assert solve.bytes_read > 0
    assert solve.price == pytest.approx(solve.cpu_seconds + solve.writes)


def test_prices_add_up_and_buy_exploitability(found: RunCost) -> None:
    steps = [step for iteration in found.iterations for step in iteration.steps]
    assert found.price == pytest.approx(sum(step.price for step in steps))
    assert found.price_of_100_elo is None, "exact payoffs have no progress in Elo"
    assert found.price_of_a_hundredth_of_gap is not None
    assert 0 < found.price_of_a_hundredth_of_gap.value < found.price


def test_the_report_step_costs_too(found: RunCost) -> None:
    for iteration in found.iterations:
        (reported,) = [step for step in iteration.steps if step.step is StepName.REPORT]
        assert reported.cpu_seconds > 0
        assert reported.writes > 0


def _estimate(value: float, error: float) -> Estimate:
    return Estimate(value=value, low=value - 1.96 * error, high=value + 1.96 * error)


def test_a_thousand_runs_without_progress_print_no_price() -> None:
    """Ratings of five policies that are all equal to the first, and two gaps that are both the same."""
    random, num_trained, error = np.random.default_rng(1), 5, 40.0
    for _ in range(1000):
        base, best = random.normal(0, error), random.normal(0, error, num_trained).max()
        progress = Progress(
            best=PolicyId("best"),
            base=PolicyId("base"),
            elo=_estimate(best - base, error * 2**0.5),
            standard_error=error * 2**0.5,
        )
        assert gained_elo(progress, num_trained + 1) is None
        first, last = (_estimate(0.05 + random.normal(0, 0.01), 0.01) for _ in range(2))
        assert fall(first, last) is None


def test_a_price_has_the_interval_of_what_was_bought() -> None:
    """Of 1,000 runs whose true gap falls from .3 to .1, the interval holds the true price in 95 % or more."""
    random, error, price = np.random.default_rng(2), 0.015, 12.0
    held = 0
    for _ in range(1000):
        fallen = fall(_estimate(0.3 + random.normal(0, error), error), _estimate(0.1 + random.normal(0, error), error))
        assert fallen is not None
        found = ratio(price * GAP_STEP, fallen)
        held += found.low <= price * GAP_STEP / 0.2 <= found.high
    assert held >= 950
    exact = fall(_estimate(0.3, 0), _estimate(0.1, 0))
    assert exact is not None
    assert exact.low == exact.value == exact.high == pytest.approx(0.2)


def test_exploitability_falls_to_nothing_at_most() -> None:
    """A best response that clearly loses says nothing about exploitability, and one that may lose no less than 0."""
    first = _estimate(0.1, 0.01)
    assert fall(first, _estimate(-0.3, 0.01)) is None
    fallen = fall(first, _estimate(-0.01, 0.01))
    assert fallen is not None
    assert (fallen.value, fallen.high) == (first.value, first.high)
    assert fallen.low == pytest.approx(first.low - (-0.01 + 0.01 * 1.96), abs=1e-4)


def test_the_bottleneck_is_the_step_with_the_longest_wall_time(found: RunCost) -> None:
    for iteration in found.iterations:
        slowest = max(iteration.steps, key=lambda step: step.seconds)
        assert iteration.bottleneck == slowest.step
        assert 0 < iteration.bottleneck_share <= 1


def test_the_report_says_what_the_steps_used_and_what_that_bought(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    make_tabular_run(store, iterations=3, payoffs=RPS)
    report = read_published(store, 2, keys.REPORT, Report)
    steps = [step for row in report.iterations for step in row.steps]
    cost = report.cost
    assert cost is not None
    assert cost.run.cpu_hours == pytest.approx(sum(step.cpu_seconds for step in steps) / 3600)
    assert cost.iteration.cpu_hours < cost.run.cpu_hours
    assert cost.bottleneck is not None
    assert cost.gained_elo is cost.a_hundred_elo is None, "exact payoffs have no progress in Elo"
    assert cost.lowered_exploitability is not None
    assert cost.a_hundredth_of_exploitability is not None
    bought = cost.a_hundredth_of_exploitability.cpu_hours * cost.lowered_exploitability
    assert bought == pytest.approx(0.01 * cost.run.cpu_hours)
    page = store.get(keys.published(2, keys.REPORT_PAGE)).decode()
    assert "of exploitability cost" in page
    assert cost.a_hundredth_of_exploitability_interval is not None
    of_earlier = [step for row in report.iterations[:-1] for step in row.steps if step.step is StepName.REPORT]
    assert len(of_earlier) == 2, "the newest report is not done when it is written"
    assert f"is the step {cost.bottleneck}" in page


def test_a_small_price_is_not_free(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = open_store(str(tmp_path))
    make_tabular_run(store, iterations=1, payoffs=RPS)
    assert cli.run_command_line(["cost", store.uri]) == 0
    total = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("all iterations cost "))
    assert 0 < float(total.removeprefix("all iterations cost ")) < 1


def test_actors_cost_too_and_are_no_bottleneck(tmp_path: Path) -> None:
    """They run beside the train step, and more may join than the settings name."""
    store = open_store(str(tmp_path))
    settings = made_settings(iterations=1)
    oracle = settings.train.oracle.model_copy(update={"decisions": 1000})
    settings = settings.model_copy(update={"train": settings.train.model_copy(update={"oracle": oracle})})
    make_iteration(store, settings, 0)
    without = read_manifests(store, settings, 0)
    for shard in (0, 7):
        attempt = Attempt(store, 0, StepName.ACT, shard)
        time.sleep(0.2)
        attempt.finish({})
    store.put("iterations/0000/act/00003/requests/1", b"an actor that is not done")
    manifests = read_manifests(store, settings, 0)
    assert [manifest.shard for manifest in manifests.by_step[StepName.ACT]] == [0, 7]
    assert manifests.seconds == without.seconds
    report_step.run(store, settings, 0, 0)
    cost = cost_of(read_published(store, 0, keys.REPORT, Report), [manifests], Prices())
    (acted,) = [step for step in cost.iterations[0].steps if step.step is StepName.ACT]
    assert acted.seconds >= 0.2
    assert cost.iterations[0].bottleneck is not StepName.ACT
    assert 0 < cost.iterations[0].bottleneck_share <= 1


def test_an_attempt_that_held_gpus_says_for_how_long(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    Attempt(store, 0, StepName.TRAIN, 0).finish({}, num_gpus=2)
    manifest = read_manifest(store, 0, StepName.TRAIN, 0)
    assert manifest.gpu_seconds == pytest.approx(2 * manifest.seconds)


def test_prices_are_a_small_file() -> None:
    assert read_prices(ROOT / "configs" / "prices.toml").gpu_hour == 2.5
    assert read_prices(None) == Prices(cpu_hour=1.0)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("cpu_hours = 1", ConfigurationError, "cpu_hours"),
        ("cpu_hour = -1", ConfigurationError, "cpu_hour"),
        ("cpu_hour", DataError, "not TOML"),
        pytest.param(f"x = {'[' * 5000}", DataError, "not TOML", id="nested"),
        (None, DataError, "cannot be read"),
    ],
)
def test_wrong_prices_are_refused(text: str | None, error: type[Exception], says: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(error, match=says):
        read_prices(path)
