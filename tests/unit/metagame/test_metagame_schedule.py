"""Which battles an iteration's tournament plays."""

from itertools import permutations

import pytest

from nashdex.core.ids import PolicyId
from nashdex.metagame.evidence.planned import PlannedCell
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.plan import FurtherBattles, IterationPlan
from nashdex.metagame.tournament.schedule import demand_of, full_table_battles
from nashdex.settings.run import EvaluateSettings
from support.tournaments import matrix, population

A, B, C = PolicyId("a"), PolicyId("b"), PolicyId("c")
UNIFORM = EvaluateSettings(battles_per_pair=20)
ADAPTIVE = EvaluateSettings(battles_per_pair=20, adaptive_battles=500, first_battles=6)
NOTHING = SampledCounts.unplayed(())
COUNTED = matrix("ab", [[0, 5], [3, 0]], [[0, 8], [8, 0]])


def _plan(*further: FurtherBattles) -> IterationPlan:
    members = population("a", "b")
    return IterationPlan(
        iteration=1,
        oracle="ppo",
        population=members,
        rule="meta-strategy",
        opponents={A: 1.0},
        learner=B,
        further=further,
    )


def test_uniform_gives_every_cell_all_its_battles() -> None:
    cells = COUNTED.missing_cells(population("a", "b", "c").ids, demand_of(_plan(), UNIFORM))
    assert cells == [PlannedCell(A, B, range(8, 20)), PlannedCell(A, C, range(20)), PlannedCell(B, C, range(20))]


def test_adaptive_gives_new_cells_their_first_battles_and_the_planned_ones_more() -> None:
    plan = _plan(FurtherBattles(a=A, b=B, battles=4))
    cells = COUNTED.missing_cells(population("a", "b", "c").ids, demand_of(plan, ADAPTIVE))
    assert cells == [PlannedCell(A, B, range(8, 12)), PlannedCell(A, C, range(6)), PlannedCell(B, C, range(6))]


def test_adaptive_leaves_old_cells_alone_that_were_not_planned() -> None:
    cells = COUNTED.missing_cells(population("a", "b").ids, demand_of(_plan(), ADAPTIVE))
    assert cells == []


def test_first_battles_are_never_more_than_a_pair_s() -> None:
    few = EvaluateSettings(battles_per_pair=4, adaptive_battles=500, first_battles=50)
    assert NOTHING.missing_cells(population("a", "b").ids, demand_of(_plan(), few)) == [PlannedCell(A, B, range(4))]


def test_the_schedule_follows_ids_not_places() -> None:
    plan = _plan(FurtherBattles(a=A, b=B, battles=2))
    schedules = [
        COUNTED.missing_cells(population(*order).ids, demand_of(plan, ADAPTIVE))
        for order in permutations(["a", "b", "c"])
    ]
    assert all(schedule == schedules[0] for schedule in schedules)


@pytest.mark.parametrize(("num_policies", "battles"), [(1, 0), (2, 20), (5, 200)])
def test_the_full_table_is_what_uniform_plays(num_policies: int, battles: int) -> None:
    assert full_table_battles(num_policies, ADAPTIVE) == battles
    members = population(*"abcde"[:num_policies])
    planned = NOTHING.missing_cells(members.ids, demand_of(_plan(), UNIFORM))
    assert sum(len(cell.numbers) for cell in planned) == battles
