"""A session: one arena and its policies, closed on every exit."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.core.ids import PolicyId
from nashdex.core.steps import StepName
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment
from nashdex.rollout.session import Session
from nashdex.store import open_store
from nashdex.telemetry.progress import Progress
from support.arenas import NUM_TURNS, CardArena, UniformPolicy

A, RANDOM = PolicyId("a"), PolicyId("random")
BATTLES = PairedBattles(1, [], deadline_seconds=9.0)


def _assignments(num_battles: int) -> Iterator[Assignment]:
    return (BATTLES.assignment(number, (A, RANDOM)) for number in range(num_battles))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(CardArena(), concurrent_battles=4) as opened:
        opened.policies[A] = UniformPolicy("a")
        opened.load(open_store(str(tmp_path)), [RANDOM])
        yield opened


def test_counts_add_up_over_everything_that_is_played(session: Session) -> None:
    for total in (10, 20):
        assert {finished.assignment.number for finished in session.play(_assignments(10))} == set(range(10))
        assert session.counts.battles == total
    assert session.counts.decisions == 20 * 2 * NUM_TURNS


def test_a_policy_can_be_replaced_between_plays(session: Session) -> None:
    list(session.play(_assignments(4)))
    newer = UniformPolicy("a", greedy=True)
    session.policies[A] = newer
    list(session.play(_assignments(4)))
    assert sum(newer.batch_sizes) >= 4 * NUM_TURNS


def test_progress_advances_by_one_for_each_battle(
    session: Session, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NASHDEX_PROGRESS_FD", "1")
    with Progress(StepName.COLLECT, 0, 8, "battles") as progress:
        list(session.play(_assignments(8), progress))
    assert '"done": 8' in capfd.readouterr().out.splitlines()[-1]


def test_the_arena_is_closed_when_the_caller_stops_early() -> None:
    arena = CardArena()
    with Session(arena, concurrent_battles=4) as session:
        session.policies[A] = UniformPolicy("a")
        next(session.play(BATTLES.self_play(A)))
        assert not arena.is_closed
    assert arena.is_closed


@pytest.mark.parametrize("error", [TryAgainError("the store is unreachable"), KeyboardInterrupt()])
def test_the_arena_is_closed_on_an_error(error: BaseException) -> None:
    arena = CardArena()
    with pytest.raises(type(error)), Session(arena, concurrent_battles=4):
        raise error
    assert arena.is_closed


def test_a_policy_that_cannot_play_here_is_refused(session: Session, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="heuristic"):
        session.load(open_store(str(tmp_path)), [PolicyId("heuristic")])


def test_self_play_records_both_seats_and_goes_on() -> None:
    with Session(CardArena(), concurrent_battles=4) as session:
        session.policies[A] = UniformPolicy("a")
        played = session.play(BATTLES.self_play(A))
        seats = [[episode.seat for episode in next(played).episodes] for _ in range(50)]
    assert seats == [[0, 1]] * 50
