"""Scripted policies: legal, as strong as they say, and clear about what they need."""

import subprocess
import sys
from collections.abc import Mapping

import numpy as np
import pytest
from pydantic import ValidationError

from nashdex.core.errors import ConfigurationError
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.space import ObservationBlock, ObservationField, Space
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.policies.scripted.declaration import ScriptedPolicy
from nashdex.policies.scripted.max_power import MaxPowerPlayer
from nashdex.policies.scripted.playing import scripted_policy, scripted_table
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES, max_concurrent_battles, scripted_policies_of
from nashdex.settings.population import PopulationSettings
from support.spaces import tiny_space
from support.tables import first_action_table

MOVE_FIELDS = ("power", "accuracy", "effectiveness", "stab")
ACTIONS = ("switch 1", "switch 2", "move 1", "move 2", "move 3", "move 1 mega")


def power_space() -> Space:
    """Return a space of two Pokémon with three moves each, with the fields that max-power reads."""
    own = ObservationBlock(
        name="own",
        offset=0,
        rows=2,
        stride=1,
        fields=(ObservationField(name="active", offset=0, size=1, kind="number"),),
    )
    moves = ObservationBlock(
        name="own_moves",
        offset=2,
        rows=6,
        stride=4,
        fields=tuple(ObservationField(name=n, offset=i, size=1, kind="number") for i, n in enumerate(MOVE_FIELDS)),
    )
    return Space(
        game="tiny",
        format="tiny",
        version="1",
        observation_size=26,
        num_actions=6,
        actions=ACTIONS,
        vocabularies={},
        blocks=(own, moves),
    )


def choose(moves: Mapping[tuple[int, int], tuple[float, float, float, float]], active: int, legal: str) -> str:
    """Return the action of max-power where Pokémon p's move m is ``moves[p, m]`` and all other moves do nothing."""
    space = power_space()
    observation = np.zeros((1, 26), np.float32)
    space.view(observation, "own", "active")[0, active, 0] = 1
    for (p, m), values in moves.items():
        for field, value in zip(MOVE_FIELDS, values, strict=True):
            space.view(observation, "own_moves", field)[0, 3 * p + m, 0] = value
    mask = np.array([[action in legal.split(", ") for action in ACTIONS]])
    rows = Decisions(
        np.zeros(1, np.int64), np.zeros(1, np.int8), np.zeros(1, np.bool_), observation, LegalActions.of_mask(mask)
    )
    answers = MaxPowerPlayer(space, stab=1.5).act(rows, np.zeros(1))
    assert answers.log_prob.tolist() == [0.0]
    return ACTIONS[answers.action[0]]


MOVES = "move 1, move 2, move 3"


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ({(0, 0): (0.5, 1, 0, 0), (0, 1): (0.8, 1, 0, 0)}, "move 2"),
        ({(0, 0): (0.5, 1, 0, 0), (0, 1): (0.8, 0.5, 0, 0)}, "move 1"),
        ({(0, 0): (0.5, 1, 0.5, 0), (0, 1): (0.8, 1, 0, 0)}, "move 1"),
        ({(0, 0): (0.6, 1, 0, 1), (0, 1): (0.8, 1, 0, 0)}, "move 1"),
        ({(0, 0): (0.5, 1, 0, 1), (0, 1): (0.8, 1, 0, 0)}, "move 2"),
        ({(0, 0): (2.0, 1, -1.5, 1), (0, 1): (0.1, 1, -1, 0)}, "move 2"),
        ({(1, 0): (2.0, 1, 0, 0), (0, 2): (0.1, 1, 0, 0)}, "move 3"),
    ],
    ids=["power", "accuracy", "twice effective", "stab", "stab is 1.5", "no effect at all", "of the active"],
)
def test_max_power_plays_the_strongest_move_of_the_active(
    moves: dict[tuple[int, int], tuple[float, float, float, float]], expected: str
) -> None:
    assert choose(moves, 0, f"switch 2, {MOVES}") == expected


def test_max_power_reads_the_active_pokemon_wherever_it_stands() -> None:
    moves = {(0, 0): (1.0, 1, 0, 0), (1, 2): (0.1, 1, 0, 0)}
    assert choose(moves, 1, MOVES) == "move 3"


def test_max_power_plays_only_what_is_legal() -> None:
    moves = {(0, 0): (1.0, 1, 0, 0), (0, 1): (0.1, 1, 0, 0)}
    assert choose(moves, 0, "switch 1, move 2, move 3") == "move 2"
    assert choose({}, 0, "switch 1, move 3") == "move 3", "a move that does nothing rather than a switch"
    assert choose(moves, 0, "move 1 mega") == "move 1 mega"


def test_max_power_switches_to_the_strongest_where_it_must() -> None:
    moves = {(0, 0): (0.5, 1, 0, 0), (1, 2): (0.6, 1, 0, 0)}
    assert choose(moves, 0, "switch 1, switch 2") == "switch 2"
    assert choose(moves, 0, "switch 1, move 1 mega") == "switch 1"


def test_max_power_names_what_a_space_lacks() -> None:
    with pytest.raises(ConfigurationError, match=r"reads field 'active' of block 'own'.*its blocks: own, field"):
        MaxPowerPlayer(tiny_space(), stab=1.5)


def test_random_draws_uniformly_from_the_legal_actions() -> None:
    mask = np.array([[True, False, True, True, False, True]]).repeat(400, 0)
    rows = Decisions(
        np.arange(400),
        np.zeros(400, np.int8),
        np.zeros(400, np.bool_),
        np.zeros((400, 26), np.float32),
        LegalActions.of_mask(mask),
    )
    answers = scripted_policy("random", tiny_space()).act(rows, (np.arange(400) + 0.5) / 400)
    assert np.bincount(answers.action, minlength=6).tolist() == [100, 0, 100, 100, 0, 100]
    np.testing.assert_allclose(answers.log_prob, -np.log(4), rtol=1e-6)


def test_first_action_plays_the_lowest_that_is_legal() -> None:
    mask = np.array([[True, True, True], [False, True, True], [False, False, True]])
    rows = Decisions(
        np.arange(3),
        np.zeros(3, np.int8),
        np.zeros(3, np.bool_),
        np.zeros((3, 7), np.float32),
        LegalActions.of_mask(mask),
    )
    answers = scripted_policy("first-action", tiny_space(3)).act(rows, np.zeros(3))
    assert answers.action.tolist() == [0, 1, 2]
    assert answers.log_prob.tolist() == [0.0, 0.0, 0.0]


def test_names_are_ids() -> None:
    assert scripted_policy("random", tiny_space()).id == "random"


def test_what_each_declares() -> None:
    own = tuple(name for name in SCRIPTED_POLICIES.names if ":" not in name)
    assert own == ("random", "max-power", "heuristic", "first-action")
    assert scripted_policies_of("kuhn_poker", "tabular") == ("first-action", "random")
    declared = SCRIPTED_POLICIES.all()
    assert all(
        policy.needs_lines == (name == "heuristic" or name.startswith(("metamon:", "search:")))
        for name, policy in declared.items()
    )
    assert [name for name, policy in declared.items() if policy.needs_state] == ["metamon:mini-rnn"]


def test_slow_policies_play_fewer_battles_at_once() -> None:
    assert max_concurrent_battles(("random", "p0123"), 64) == 64
    assert max_concurrent_battles(("search:matrix", "random"), 64) < 64
    assert max_concurrent_battles(("random", "search:matrix-1s"), 64) == 1


def test_a_policy_plays_the_formats_that_it_declares() -> None:
    declared = ScriptedPolicy(SCRIPTED_POLICIES["random"].player, formats="gen[1-4](?![0-9])")
    played = [name for name in ("gen1ou", "gen4ou", "gen5ou", "gen10ou", "gen9ou") if declared.plays(name, "showdown")]
    assert played == ["gen1ou", "gen4ou"]
    assert "metamon:mini-rnn" in scripted_policies_of("gen4ou", "showdown")
    assert "metamon:mini-rnn" not in scripted_policies_of("gen9randombattle", "showdown")


def test_the_heuristic_refuses_other_games() -> None:
    with pytest.raises(ConfigurationError, match="'heuristic' does not play tiny; expected one of first-action"):
        scripted_policy("heuristic", tiny_space())


def test_an_unknown_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ConfigurationError, match="unknown scripted policy 'nobody': expected one of random, max-power"):
        scripted_policy("nobody", tiny_space())
    with pytest.raises(ValidationError, match="unknown scripted policy 'nobody': expected one of random"):
        PopulationSettings(initial=("random", "nobody"))
    items = PopulationSettings.model_json_schema()["properties"]["initial"]["items"]
    assert "first-action" in items["anyOf"][0]["enum"]


def test_a_deterministic_policy_needs_no_table() -> None:
    tree = openspiel_tree("leduc_poker")
    np.testing.assert_array_equal(scripted_table("first-action", tree), first_action_table(tree))


def test_scripted_policies_and_mixtures_import_neither_torch_nor_poke_env() -> None:
    program = (
        "import sys, nashdex.policies.scripted.playing, nashdex.policies.mixture, nashdex.policies.document\n"
        "print([m for m in ('torch', 'poke_env') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
