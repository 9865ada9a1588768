"""How steps grow: what an iteration costs does not depend on how many came before, and it fits into a pod."""

import json
from functools import partial
from pathlib import Path

import psutil
import pytest
import structlog

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.steps import StepName
from nashdex.metagame.evidence.totals import BattleTotals
from nashdex.metagame.population import Population
from nashdex.report.document import Report
from nashdex.store import open_store
from nashdex.store.documents import read_published
from nashdex_bench.scaling.growth import VERIFY, Size, exponent_lines, lines, measured, scale_of, scaling
from nashdex_cli.cli import run_command_line

POD_BYTES = 1 << 30
"""Memory limit of a pod that solves or reports."""


@pytest.mark.slow
def test_an_iteration_reads_its_own_shards_alone() -> None:
    base = Size(policies=12, iterations=2, shards=2, battles_per_pair=4, draws=100)
    result = scaling(base, ("iterations", "shards"), 3)
    first, later, wider = result.scales
    for step in (StepName.PLAN, StepName.SOLVE, StepName.REPORT, VERIFY):
        assert later.step(step).requests == first.step(step).requests, "six iterations ask for no more than two"
        most = 9 if step == VERIFY else 3
        assert wider.step(step).requests <= first.step(step).requests + 4 * most, "a fixed number for each shard"
        # A step is forked from this process, whose memory counts in its own.
        here_bytes = psutil.Process().memory_info().rss
        assert max(scale.step(step).peak_bytes for scale in result.scales) < here_bytes + POD_BYTES // 2
    assert sum(step.requests for step in wider.steps if step.step != VERIFY) < 110
    in_iterations, in_shards = result.exponents
    assert in_iterations.requests[StepName.SOLVE] == 0
    assert in_shards.requests[StepName.SOLVE] < 1
    assert in_iterations.document_bytes["interaction_matrix.json"] == pytest.approx(0, abs=0.1)
    assert any(
        line.startswith("  requests   plan 0.0, solve 0.0, report 0.0") for line in exponent_lines(in_iterations)
    )
    assert lines(first)[0] == "12 policies, 2 iterations, 2 shards, 264 battles, 100 draws"


@pytest.mark.slow
def test_a_population_grows_by_several_policies_an_iteration(tmp_path: Path) -> None:
    size = Size(policies=9, iterations=3, shards=2, battles_per_pair=4, draws=100, seeds=2)
    scale = scale_of(size, kept=tmp_path)
    run = open_store(str(tmp_path)).at("scaling")
    populations = [read_published(run, iteration, keys.POPULATION, Population).ids for iteration in range(3)]
    assert [len(ids) for ids in populations] == [5, 7, 9]
    assert read_published(run, 2, keys.BATTLE_TOTALS, BattleTotals).battles == scale.battles == 9 * 8 // 2 * 4
    for step in scale.largest[:2]:
        newest = scale.step(step.step)
        assert step.cpu_seconds >= newest.cpu_seconds
        assert step.requests >= newest.requests


@pytest.mark.slow
def test_an_iteration_that_is_not_measured_has_the_counts_that_solving_gives(tmp_path: Path) -> None:
    noted = []
    for every in (1, 3):
        size = Size(policies=14, iterations=5, shards=2, battles_per_pair=4, draws=100, seeds=2, every=every)
        scale_of(size, tmp_path / str(every), lambda each: noted.append(each.iteration))
    assert noted == [1, 2, 3, 4, 3, 4], "each third one and the last two"
    solved, counted = (open_store(str(tmp_path / name)).at("scaling") for name in ("1", "3"))
    for name in (keys.INTERACTION_MATRIX, keys.BATTLE_TOTALS):
        assert counted.get(keys.published(2, name)) == solved.get(keys.published(2, name))
    rows = [each.iteration for each in read_published(counted, 4, keys.REPORT, Report).iterations]
    assert rows == [0, 1, 2, 3, 4]


def test_a_step_that_fails_ends_the_benchmark() -> None:
    with pytest.raises(DataError, match="the solve step of the benchmark failed"):
        measured("solve", lambda: 1 / 0)


def test_memory_is_that_of_the_step() -> None:
    small, large = (measured("step", partial(bytearray, size)).peak_bytes for size in (1, 200 << 20))
    assert large - small > 150 << 20


def test_standard_output_has_nothing_but_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    size = ("--policies", "8", "--iterations", "2", "--battles", "2", "--draws", "100", "--factor", "1")
    assert run_command_line(["bench", "scaling", *size, "--json"]) == 0
    structlog.get_logger("nashdex.solver").info("solve", done=1)  # as a step that takes long does
    printed = capsys.readouterr()
    assert json.loads(printed.out)["scales"][0]["size"]["policies"] == 8
