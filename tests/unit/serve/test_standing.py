"""The score of a record: by battle, by series, and as a rating."""

import pytest

from nashdex.serve.record import rating_of, standing_of
from nashdex.serve.room import OpenSeries, ServedBattle, series_of


def _battle(number: int, result: str | None, opponent: str = "one", series: str | None = None) -> ServedBattle:
    return ServedBattle.model_validate(
        {
            "room": f"battle-gen1ou-{number}",
            "format": "gen1ou",
            "policy": "random",
            "name": "me",
            "opponent": opponent,
            "seat": 0,
            "result": result,
            "void": None if result else "gone",
            "series": series,
            "turns": 9,
            "decisions": 9,
            "refused": 0,
            "untracked": number % 2,
            "rating": None,
        }
    )


def test_equal_results_against_two_opponents_are_the_mean_rating() -> None:
    battles = [_battle(n, "win" if n % 2 else "loss", f"user {n // 10}") for n in range(20)]
    rating = rating_of(battles)
    assert rating.rating == pytest.approx(1500)
    assert rating.low < 1450
    assert rating.high == pytest.approx(3000 - rating.low)


def test_a_score_of_three_quarters_is_191_elo_and_more_battles_narrow_the_interval() -> None:
    few, many = ([_battle(n, "loss" if n % 4 == 0 else "win") for n in range(count)] for count in (40, 4000))
    assert rating_of(many).rating == pytest.approx(1500 + 190.8, abs=1)
    assert rating_of(many).high - rating_of(many).low < (rating_of(few).high - rating_of(few).low) / 8


def test_void_battles_and_unfinished_series_do_not_count() -> None:
    first, second, third = (f"game-bestof3-gen1ou-{n}" for n in (1, 2, 3))
    battles = [
        *(_battle(n, "win", series=first) for n in (1, 2)),
        _battle(3, "win", series=second),
        _battle(4, "loss", series=third),
        _battle(5, "win", series=third),
        _battle(6, "loss", series=third),
        _battle(7, None),
    ]
    standing = standing_of(battles)
    assert (standing.battles, standing.void, standing.untracked) == (6, 1, 4)
    assert (standing.series, standing.series_won, standing.series_lost) == (2, 1, 1)
    assert "2 series: 1 won, 1 lost" in standing.text()
    assert "4 decisions not followed" in standing.text()


def test_a_record_without_battles_has_no_score() -> None:
    standing = standing_of([])
    assert standing.text() == "0 battles: 0 won, 0 lost, 0 tied, 0 choices refused"


def test_a_series_asks_whether_its_players_are_ready_and_ends_with_a_result() -> None:
    room = "game-bestof3-gen1ou-1"
    line = f'|uhtml|bestof|<h2><strong>Game 1</strong> of <a href="/{room}">a best-of-3</a></h2>'
    assert series_of(line) == room
    assert series_of("|uhtml|other|x") is None
    series = OpenSeries()
    assert series.read(room, ("|init|battle",)) == []
    button = f'|c|~|/uhtml controls,<button name="send" value="/msgroom {room},/confirmready">'
    assert series.read(room, (button,)) == ["/confirmready"]
    assert series.read(room, (button.replace("<button", "<button disabled"),)) == []
    assert series.is_open(room)
    assert series.read(room, ("|win|me",)) == ["/leave"]
    assert not series.is_open(room)
