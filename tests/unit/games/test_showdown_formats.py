"""Showdown formats: their teams, their audits, and what an unsupported one is refused with."""

import re
from pathlib import Path

import pytest

from nashdex.core.errors import ConfigurationError
from nashdex.games.registry import FORMATS, game_for
from nashdex.games.showdown.audits import load_audits
from nashdex.games.showdown.names import DOUBLES, DOUBLES_TIERS, OTHER_VGC, RANDOM_BATTLES, SERIES, SHOWDOWN, TIERS, VGC
from nashdex.settings.run import RunSettings, canonical_format

MIN_TEAMS = 50


def test_every_generation_has_random_battles_and_ou() -> None:
    for generation in range(1, 10):
        assert not FORMATS[f"gen{generation}randombattle"].takes_teams
        assert FORMATS[f"gen{generation}ou"].takes_teams


@pytest.mark.parametrize("name", [*TIERS, *DOUBLES_TIERS, *OTHER_VGC])
def test_a_format_whose_players_bring_teams_has_a_set(name: str) -> None:
    teams = game_for(name).teams()
    assert len(set(teams)) >= MIN_TEAMS
    assert all(4 <= len(team.split("]")) <= 6 for team in teams)


@pytest.mark.parametrize("name", [*VGC, *SERIES])
def test_a_vgc_format_has_tournament_teams(name: str) -> None:
    teams = game_for(name).teams()
    assert len(set(teams)) == len(teams) >= 2
    assert all(4 <= len(team.split("]")) <= 6 for team in teams)
    assert FORMATS[name].num_slots == 2


def test_a_format_can_be_named_as_elite_furret_names_it() -> None:
    assert RunSettings(format="gen9vgc2023regulationc").format == "gen9vgc2023regc"
    assert canonical_format("gen1ou") == "gen1ou"


def test_a_random_format_has_no_teams() -> None:
    assert all(not game_for(name).teams() for name in RANDOM_BATTLES)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gen9triples", "three active Pokémon"),
        ("gen9multirandombattle", "four players"),
        ("gen4outt", "did you mean gen4ou"),
        ("gen1xu", "did you mean gen1uu, gen1ou or gen1nu?"),
        ("chess", "unknown format 'chess': `nashdex formats` lists"),
    ],
)
def test_an_unsupported_format_is_refused_with_the_reason_or_a_near_name(name: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(says)):
        FORMATS[name]


def test_doubles_are_listed_for_every_generation_that_has_them() -> None:
    for generation in range(3, 10):
        assert f"gen{generation}doublesou" in DOUBLES
    assert all(FORMATS[name].num_slots == 2 for name in DOUBLES)


@pytest.mark.parametrize("name", SHOWDOWN)
def test_every_listed_format_was_played_and_compared_with_the_published_simulator(name: str) -> None:
    audit = load_audits().formats[name]
    assert None not in (audit.mask, audit.match, audit.conformance)


@pytest.mark.parametrize("name", SHOWDOWN)
def test_every_listed_format_was_compared_with_poke_env_in_500_battles(name: str) -> None:
    audit = load_audits().formats[name]
    assert audit.tracker is not None
    assert audit.tracker.battles >= 500


def test_audits_are_of_shipped_formats_and_found_nothing_wrong() -> None:
    for name, audit in load_audits().formats.items():
        assert name in SHOWDOWN
        assert audit.tracker is None or audit.tracker.unexplained == 0, name
        assert audit.mask is None or (audit.mask.preventable, audit.mask.failed) == (0, 0), name
        assert audit.match is None or audit.match.failed == 0, name
        assert audit.conformance is None or audit.conformance.differences == 0, name


def test_audits_are_of_the_simulator_in_use() -> None:
    lock = Path(__file__).parents[3] / "services" / "showdown" / "package.json"
    assert f'"pokemon-showdown": "{load_audits().simulator}"' in lock.read_text(encoding="utf-8")
