"""Metamon's baselines: the quantities that they judge by, and their choices, equal metamon's own."""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from poke_env.battle import Pokemon

from nashdex.games.showdown.poke_env_players import PokeEnvSeat
from nashdex_metamon.baselines.arithmetic import Arithmetic
from nashdex_metamon.baselines.gym_leader import gym_leader
from nashdex_metamon.baselines.heuristics import easy_poke_env_heuristic, poke_env_heuristic
from nashdex_metamon.baselines.kaizo.player import emerald_kaizo, emerald_kaizo_repaired, emerald_kaizo_risky
from nashdex_metamon.baselines.orders import Chooser, Order
from nashdex_metamon.baselines.simple import (
    basic_switcher,
    bug_catcher,
    gen1_boss,
    gen1_trainer,
    gen1_trainer_good_switching,
    grunt,
    max_base_power,
    uniform,
)
from nashdex_metamon.baselines.situation import Situation
from support.metamon_goldens import BATTLES, golden

PLAYERS = ("Anna", "Bert")
SEEDS = 16
BASELINES: dict[str, Chooser] = {
    "Grunt": grunt,
    "GymLeader": gym_leader,
    "BugCatcher": bug_catcher,
    "Gen1Trainer": gen1_trainer,
    "Gen1BossAI": gen1_boss,
    "BasicSwitcher": basic_switcher,
    "MaxBPBaseline": max_base_power,
    "PokeEnvHeuristic": poke_env_heuristic,
    "EmeraldKaizo": emerald_kaizo,
}
DRAWING = ("Grunt", "Gen1Trainer", "Gen1BossAI", "EmeraldKaizo")
DRAWS = 48
PERMUTATIONS = 1000
MOST_DIFFERENT = {"GymLeader": 1, "PokeEnvHeuristic": 1}
"""Decisions that differ: one switch; one hazard that poke-env 0.8.3 does not lay."""


def _decisions(battle: str) -> Iterator[tuple[PokeEnvSeat, dict[str, Any], dict[str, Arithmetic]]]:
    """Yield each decision: poke-env's battle, the golden row, and each baseline's own arithmetic."""
    format_id = battle.partition("-")[0]
    for seat, rows in enumerate(golden("baselines", battle)["seats"]):
        player = PokeEnvSeat(format_id, seat)
        player.battle.player_username = PLAYERS[seat]
        arithmetics = {name: Arithmetic(int(format_id[3])) for name in BASELINES}
        expected = iter(rows)
        for row in golden("battles", battle)["rows"]:
            request = row["request"]
            if row["seat"] != seat or not request:
                continue
            player.read(row["lines"], request)
            if not request.get("wait") and not request.get("teamPreview"):
                yield player, next(expected), arithmetics
        assert next(expected, None) is None
        assert player.num_oddities == 0


@pytest.mark.parametrize("battle", BATTLES)
def test_quantities(battle: str) -> None:
    """Every quantity is equal to the digits that the goldens have, on a battle about which nothing was assumed."""
    for player, row, _ in _decisions(battle):
        quantities = row["quantities"]

        def fresh(player: PokeEnvSeat = player) -> Situation:
            return Situation(player.battle, Arithmetic(player.battle.gen), Random(0))

        assert fresh().outspeed_chance() == pytest.approx(quantities["outspeed_chance"], abs=1e-6)
        for pokemon in fresh().bench:
            score = quantities["switch_scores"][pokemon.species]
            assert fresh().switch_score(pokemon, 1.0, 1.0, 0.001) == pytest.approx(score, abs=1e-6)
        for move in fresh().moves:
            if (expected := quantities["moves"].get(move.id)) is None:
                assert move.id == "hiddenpower"  # poke-env 0.16.1 does not know the type of a copied one.
                continue
            assert {
                "type_advantage": fresh().advantage(move.type),
                "accuracy": fresh().accuracy(move),
                "crit_chance": fresh().arithmetic.crit_chance(move, fresh().own),
                "damage_min_uniform": fresh().damage(move, "min", round_up=False),
                "damage_mean_uniform": fresh().damage(move, "mean"),
                "damage_crit_mean_uniform": fresh().damage(move, "mean", crit=True),
                "expected_damage": fresh().expected_damage(move),
                "worst_case_damage": fresh().worst_case(move),
            } == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", BASELINES)
def test_the_only_move_is_used_whatever_it_is(name: str) -> None:
    """A request that offers ``recharge`` or ``fight`` alone leaves nothing to score."""
    num_decisions = 0
    for battle in BATTLES:
        for player, _, arithmetics in _decisions(battle):
            offered = [move.id for move in player.battle.available_moves]
            if offered in (["recharge"], ["fight"]):
                num_decisions += 1
                order = BASELINES[name](Situation(player.battle, arithmetics[name], Random(0)))
                assert "switch" in _text(order) or _text(order) == f"/choose move {offered[0]}"
    assert num_decisions >= 3


@pytest.mark.slow
def test_choices() -> None:
    """Where metamon's baseline always chooses the same, so does ours; where it draws, ours draws among the same."""
    different = dict.fromkeys(MOST_DIFFERENT, 0)
    num_decisions = 0
    for battle in BATTLES:
        for player, row, arithmetics in _decisions(battle):
            if any(move.id in {"recharge", "fight", "hiddenpower"} for move in player.battle.available_moves):
                continue
            num_decisions += 1
            for name, chooser in BASELINES.items():
                # With 16 draws each, two samples of one distribution share a choice; the first one is enough.
                theirs = set(row["choices"][name])
                ours = (
                    _text(chooser(Situation(player.battle, arithmetics[name], Random(seed)))) for seed in range(SEEDS)
                )
                if theirs.isdisjoint(ours):
                    assert name in different, (name, battle, row["quantities"]["turn"], theirs)
                    different[name] += 1
    assert num_decisions > 1000
    assert all(different[name] <= most for name, most in MOST_DIFFERENT.items()), different


@pytest.mark.slow
def test_baselines_that_draw_have_metamons_distributions() -> None:
    """Total variation between metamon's 16 draws and ours, summed over decisions, is that of parts of one pool.

    A permutation test: under one distribution, all ways to deal out the pooled draws are equally likely.
    """
    rng = np.random.default_rng(0)
    observed, permuted = dict.fromkeys(DRAWING, 0.0), {name: np.zeros(PERMUTATIONS) for name in DRAWING}
    num_drawn = dict.fromkeys(DRAWING, 0)
    for battle in BATTLES:
        for place, (player, row, arithmetics) in enumerate(_decisions(battle)):
            if place % 8 or any(m.id in {"recharge", "fight", "hiddenpower"} for m in player.battle.available_moves):
                continue
            for name in DRAWING:
                theirs = Counter(row["choices"][name])
                ours = Counter(
                    _text(BASELINES[name](Situation(player.battle, arithmetics[name], Random(seed))))
                    for seed in range(DRAWS)
                )
                options = sorted(theirs | ours)
                if len(options) == 1 or len(theirs) == len(ours) == 1:
                    continue  # test_choices compares the certain ones
                num_drawn[name] += 1
                pooled = np.array([theirs[option] + ours[option] for option in options])
                dealt = rng.multivariate_hypergeometric(pooled, SEEDS, size=PERMUTATIONS)
                observed[name] += _variation(np.array([[theirs[option] for option in options]]), pooled)[0]
                permuted[name] += _variation(dealt, pooled)
    for name in DRAWING:
        assert num_drawn[name] > 5, name
        assert np.mean(permuted[name] >= observed[name]) > 0.001, (name, observed[name], permuted[name].max())


def _variation(first: NDArray[np.int64], pooled: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the total variation between a sample's shares and those of the rest of the pool, of each row."""
    rest = pooled - first
    shares = first / first.sum(axis=1, keepdims=True) - rest / rest.sum(axis=1, keepdims=True)
    variation: NDArray[np.float64] = np.abs(shares).sum(axis=1) / 2
    return variation


def _text(order: Order | None) -> str:
    assert order is not None
    assert order.order is not None
    if isinstance(order.order, Pokemon):
        return f"/choose switch {order.order.species}"
    return f"/choose move {getattr(order.order, 'id', '')}{' terastallize' if order.terastallize else ''}"


@pytest.mark.parametrize(
    "chooser",
    [uniform, gen1_trainer_good_switching, easy_poke_env_heuristic, emerald_kaizo_risky, emerald_kaizo_repaired],
)
def test_baselines_without_goldens_answer_what_is_offered(chooser: Chooser) -> None:
    """They answer with an offered move or Pokémon."""
    for player, _, arithmetics in _decisions("gen9ou-9000"):
        order = chooser(Situation(player.battle, arithmetics["Grunt"], Random(1)))
        offered = [*player.battle.available_moves, *player.battle.available_switches]
        assert order is not None
        assert order.order in offered


def test_unused_ideas_make_the_easy_form_differ() -> None:
    """The easy form forgets ideas: it answers otherwise than the full form at many decisions."""
    rows = [
        (
            _text(poke_env_heuristic(Situation(player.battle, arithmetics["Grunt"], Random(seed)))),
            _text(easy_poke_env_heuristic(Situation(player.battle, arithmetics["Grunt"], Random(seed)))),
        )
        for seed, (player, _, arithmetics) in enumerate(_decisions("gen4ou-9000"))
    ]
    assert 0.1 < sum(full != easy for full, easy in rows) / len(rows) < 0.9
