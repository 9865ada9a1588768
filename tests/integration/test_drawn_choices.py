"""An arena that plays `random` itself plays the battles that the policy would."""

from contextlib import closing
from dataclasses import replace

import pytest

from nashdex.core.ids import PolicyId
from nashdex.games.interface import Outcome
from nashdex.games.registry import game_for
from nashdex.games.showdown.arena import ShowdownArena
from nashdex.games.teams import TeamPool
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Rollout, require_finished
from nashdex.rollout.seats import Seats

pytestmark = pytest.mark.integration

RANDOM = PolicyId("random")
NUM_BATTLES = 4


@pytest.mark.parametrize("format_id", ["gen1randombattle", "gen9randomdoublesbattle"])
def test_a_gateway_draws_the_choices_of_random(format_id: str) -> None:
    battles = PairedBattles(3, TeamPool(game_for(format_id).teams()), deadline_seconds=200.0)
    assignments = [battles.assignment(number, (RANDOM, RANDOM), log=True) for number in range(NUM_BATTLES)]
    with closing(ShowdownArena(format_id, num_gateways=1)) as arena:
        policies = {RANDOM: scripted_policy(RANDOM, arena.space)}
        played = list(Rollout(arena, policies, NUM_BATTLES).play(assignments))
        answered = {finished.assignment.number: require_finished(finished) for finished in played}

        seats = Seats(policies, NUM_BATTLES)
        arena.start([seats.running(each.number, each.spec, each.seats, arena_draws=True) for each in assignments])
        drawn: dict[int, Outcome] = {}
        while len(drawn) < NUM_BATTLES:
            events = arena.poll()
            assert not events.decisions
            assert not events.failures
            drawn |= {outcome.battle: outcome for outcome in events.outcomes}
    assert len({outcome.log for outcome in drawn.values()}) == NUM_BATTLES
    for number, outcome in drawn.items():
        assert outcome == replace(answered[number], battle=number)
