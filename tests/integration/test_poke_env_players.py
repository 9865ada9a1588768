"""Seats that play by poke-env's heuristics, in real battles through the gateway."""

import random
from collections import Counter

import numpy as np
import pytest

from nashdex.games.interface import BattleSpec, RunningBattle
from nashdex.games.registry import showdown_game
from nashdex.games.showdown.poke_env_players import HeuristicSeats, PokeEnvSeat

pytestmark = pytest.mark.integration

NUM_BATTLES = 24


def play(format_id: str, seed: int) -> tuple[list[int | None], HeuristicSeats, list[int]]:
    """Return the winners of battles of the heuristics (seat 0) against random choices, and what was chosen."""
    game = showdown_game(format_id)
    teams = game.teams()
    generator = np.random.default_rng(seed)
    heuristics = HeuristicSeats(format_id)
    winners: dict[int, int | None] = {}
    actions: dict[tuple[int, int], list[int]] = {}
    arena = game.open_arena(num_gateways=1)
    try:
        arena.start(
            [
                RunningBattle(
                    battle,
                    BattleSpec(
                        seed=seed + battle,
                        teams=(teams[battle % len(teams)], teams[-1 - battle % len(teams)]) if teams else (None, None),
                        team_seeds=(battle, battle + NUM_BATTLES),
                    ),
                    lines=(True, False),
                )
                for battle in range(NUM_BATTLES)
            ]
        )
        while len(winners) < NUM_BATTLES:
            events = arena.poll()
            assert not events.failures
            for outcome in events.outcomes:
                winners[outcome.battle] = outcome.winner
                heuristics.forget(outcome.battle, 0)
            for batch in events.decisions:
                chosen = np.empty(len(batch), dtype=np.int64)
                for row, (battle, seat) in enumerate(zip(batch.battle.tolist(), batch.seat.tolist(), strict=True)):
                    if seat == 0:
                        said = batch.lines[battle, seat]
                        chosen[row] = heuristics.choose(battle, seat, said.lines, said.request, batch.legal[row], 0.5)
                        actions.setdefault((battle, seat), []).append(int(chosen[row]))
                    else:
                        chosen[row] = generator.choice(np.flatnonzero(batch.mask[row]))
                    assert batch.mask[row, chosen[row]]
                arena.act(batch.battle, batch.seat, chosen)
    finally:
        arena.close()
    firsts = [actions[battle, 0][0] for battle in range(NUM_BATTLES)]
    return [winners[battle] for battle in range(NUM_BATTLES)], heuristics, firsts


@pytest.mark.slow
@pytest.mark.parametrize("format_id", ["gen1ou", "gen9randombattle"])
def test_heuristics_beat_random_choices_without_falling_back(format_id: str) -> None:
    winners, heuristics, _ = play(format_id, 5)

    assert Counter(winners)[0] >= 0.8 * NUM_BATTLES
    assert heuristics.fallbacks == 0
    assert len(heuristics) == 0, "nothing is kept of battles that ended"


@pytest.mark.slow
def test_the_same_seed_makes_the_same_first_choices() -> None:
    assert play("gen1ou", 8)[2] == play("gen1ou", 8)[2]


POKEMON = [
    {
        "ident": f"p1: {name}",
        "details": name,
        "condition": "300/300",
        "active": name == "Starmie",
        "stats": {"atk": 200, "def": 200, "spa": 200, "spd": 200, "spe": 200},
        "moves": ["surf", "psychic", "recover", "thunderwave"],
        "baseAbility": "noability",
        "item": "",
    }
    for name in ("Starmie", "Snorlax")
]
MOVES = [{"id": move, "pp": 8, "maxpp": 8, "disabled": False} for move in ("surf", "psychic", "recover", "thunderwave")]
START = [
    "|player|p1|Player 1||",
    "|player|p2|Player 2||",
    "|gen|1",
    "|teamsize|p1|2",
    "|teamsize|p2|6",
    "|switch|p1a: Starmie|Starmie|300/300",
]
OPPONENT = "|switch|p2a: Rhydon|Rhydon|100/100"
REQUEST = {"active": [{"moves": MOVES}], "side": {"pokemon": POKEMON}}


def test_what_poke_env_draws_follows_from_the_decision_s_draw_alone() -> None:
    outside = random.getstate()
    player = PokeEnvSeat("gen9randomdoublesbattle", 0, num_slots=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(player, "_choose", lambda: random.randrange(10**9))
        assert player.choose(0.25) == player.choose(0.25) != player.choose(0.75)
    assert random.getstate() == outside


def test_the_chosen_move_has_its_place_in_the_request() -> None:
    player = PokeEnvSeat("gen1ou", 0)

    player.read([*START, OPPONENT, "|turn|1"], REQUEST)

    assert player.choose(0.5) == 6, "Surf does four times its damage to Rhydon"


def test_what_the_mask_forbids_is_replaced_and_counted() -> None:
    seats = HeuristicSeats("gen1ou")
    legal = np.array([1, 8], dtype=np.uint16)

    drawn = [
        seats.choose(n, 0, [*START, OPPONENT, "|turn|1"], REQUEST, legal, u) for n, u in enumerate((0.1, 0.49, 0.51))
    ]

    assert drawn == [1, 1, 8], "by the given number alone, whatever the battle's"
    assert seats.fallbacks == 3


def test_lines_that_poke_env_does_not_know_are_counted_and_survived() -> None:
    player = PokeEnvSeat("gen1ou", 0)

    player.read([*START, "|-brandnew|p2a: Rhydon", "|-boost|p2a: Rhydon|nosuchstat|1", OPPONENT, "|turn|1"], REQUEST)

    assert player.num_oddities == 2
    assert player.choose(0.5) == 6


def test_before_the_opponent_is_seen_any_legal_action_is_drawn_and_not_counted() -> None:
    seats = HeuristicSeats("gen1ou")
    legal = np.array([7], dtype=np.uint16)

    assert seats.choose(0, 0, START, REQUEST, legal, 0.99) == 7
    assert seats.fallbacks == 0
