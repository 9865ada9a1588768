"""Settings that do not fit the game or each other are refused in one line, before a run begins."""

import json
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.games.registry import game_of_run, tabular_game_of_run
from nashdex.games.tabular.tree import uniform_table
from nashdex.games.tabular.values import nash_conv
from nashdex.runs.creation import open_run, resolve_settings
from support.altered import rewrite
from support.begun_runs import begin_run

ROOT = Path(__file__).parents[3]
EXACT = 'format = "kuhn_poker"\n[population]\ninitial = ["first-action"]\n[train]\noracle = "exact"\n'
PPO = 'format = "kuhn_poker"\n[population]\ninitial = ["random"]\n[collect]\nteacher = "random"\n'
DISTIL = 'format = "gen1ou"\n[collect]\nteacher = "runs/a#newest"\n[train]\nfirst = "distil"\n'
RPS = {"policies": ["r", "p", "s"], "payoffs": [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]}


@pytest.mark.parametrize(
    ("text", "override", "says"),
    [
        (
            EXACT,
            'population.initial=["random", "heuristic"]',
            r"population\.initial holds 'heuristic', which does not play kuhn_poker; expected some of 'first-action'",
        ),
        (
            EXACT,
            "format=gen1ou",
            "the oracle 'exact' reads a game's tree, which gen1ou is too large for",
        ),
        (EXACT, "train.oracle=q-learning", None),
        (EXACT, "train.reward=shaped", r"train\.reward 'shaped' does not fit"),
        (EXACT, "train.oracle.damping.preset=none", r"train\.oracle\.damping: no such key"),
        (EXACT, "train.oracle.decisions=3", r"train\.oracle\.decisions: no such key"),
        (EXACT, "train.first.num_epochs=3", r"train\.first has no effect with the oracle 'exact'"),
        (PPO, "train.oracle=clone", r"'clone' would clone the teacher in every iteration"),
        (EXACT, "train.seeds=3", r"train\.seeds = 3 has no effect"),
        (EXACT, "teams=teams.txt", "kuhn_poker takes no teams: leave `teams` out"),
        (EXACT, "matrix=game.json", "kuhn_poker takes no payoffs: leave `matrix` out"),
        (
            PPO,
            "train.first=exact",
            r"train\.first 'exact' does not make the first network; expected 'clone' or",
        ),
        (
            'format = "gen1ou"',
            "train.first=exact",
            r"train\.first 'exact' reads a game's tree, which gen1ou is too large for; expected 'clone' or 'distil'",
        ),
        ('format = "gen1ou"', "train.first=distil", r"collect\.teacher 'heuristic' is scripted"),
        (DISTIL, "collect.teacher=zoo:gen1randombattle", None),
        (DISTIL, "collect.teacher=ensembles#e0123456789abcdef", None),
        (DISTIL, "collect.teacher=search:zoo:gen1randombattle", r"collect\.teacher 'search:zoo:\S+' searches"),
        (
            'format = "gen9randomdoublesbattle"',
            "collect.teacher=search:runs/a#newest",
            r"collect\.teacher 'search:runs/a#newest' does not play gen9randomdoublesbattle",
        ),
        (DISTIL, "collect.teacher=runs/a#newest@greedy", "a teacher plays its own distribution"),
        (DISTIL, "network.kind=memory", r"learns from single decisions, and network\.kind 'memory' remembers"),
        (
            'format = "gen1ou"\n[train.first.replays]\npath = "logs"\nshare = 0.5',
            "network.kind=memory",
            r"train\.first\.replays\.share is 0\.5, which mixes .* network\.kind 'memory' learns from whole battles",
        ),
        (EXACT, "format=matrix", "format matrix needs payoffs: set `matrix`"),
        (EXACT, "collect.teacher=heuristic", None),
        (PPO, "seed=1", None),
        (PPO, "collect.teacher=heuristic", r"collect\.teacher 'heuristic' does not play kuhn_poker"),
        ('format = "gen1ou"', "matrix=game.json", "gen1ou takes no payoffs: leave `matrix` out"),
        ('format = "gen1ou"', 'population.initial=["first-action"]', None),
        (
            EXACT,
            "team_schedule=[{from_iteration=0, sets={own=1}}]",
            "kuhn_poker takes no teams: leave `team_schedule` out",
        ),
        (
            'format = "gen1ou"\niterations = 3',
            "team_schedule=[{from_iteration=0, sets={own=1}}, {from_iteration=3, sets={mine=1}}]",
            r"team_schedule has a stage from iteration 3, and the last of the run's iterations is 2",
        ),
        (
            'format = "gen1ou"',
            "team_schedule=[{from_iteration=1, sets={own=1}}]",
            "the first stage begins at iteration 1; expected from_iteration = 0",
        ),
        (
            'format = "gen1ou"',
            "team_schedule=[{from_iteration=0, sets={a=1}}, {from_iteration=2, sets={}}, {from_iteration=2, sets={}}]",
            "a stage from iteration 2 follows one from iteration 2; expected from_iteration to increase",
        ),
        (
            'format = "gen1ou"',
            "team_schedule=[{from_iteration=0, sets={own=0, mine=0.0}}]",
            "the stage from iteration 0 has no set with a weight above 0",
        ),
        ('format = "gen1ou"', "team_schedule=[{from_iteration=0, sets={}}]", "no set with a weight above 0"),
        ('format = "gen1ou"', "team_schedule=[{from_iteration=0, sets={own=-1}}]", r"team_schedule\.0\.sets\.own"),
        (
            'format = "gen1ou"',
            "team_schedule=[{from_iteration=0, sets={own=1}}, {from_iteration=2, sets={own=1, mine=2.5}}]",
            None,
        ),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, text: str, override: str, says: str | None) -> None:
    (tmp_path / "run.toml").write_text(text)
    if says is None:
        resolve_settings(tmp_path / "run.toml", [override])
        return
    with pytest.raises(ConfigurationError, match=says):
        begin_run(str(tmp_path / "store"), tmp_path / "run.toml", overrides=[override])
    assert not (tmp_path / "store").exists()


@pytest.fixture
def matrix_run(tmp_path: Path) -> Path:
    """Return the configuration of a run of a matrix game."""
    (tmp_path / "game.json").write_text(json.dumps(RPS))
    config = tmp_path / "run.toml"
    config.write_text(f'matrix = "{tmp_path / "game.json"}"\n' + EXACT.replace("kuhn_poker", "matrix"))
    return config


def test_a_run_keeps_its_payoffs_whatever_becomes_of_the_file(matrix_run: Path, tmp_path: Path) -> None:
    run = begin_run(str(tmp_path / "store"), matrix_run)
    (tmp_path / "game.json").unlink()
    opened = open_run(run.store.uri)
    tree = tabular_game_of_run(opened.store, opened.settings).tree
    assert tree.action_names == ("r", "p", "s")
    assert nash_conv(tree, [uniform_table(tree)], [1.0]) == pytest.approx(0.0, abs=1e-12)
    assert game_of_run(opened.store, opened.settings).format == "matrix"


def test_a_run_refuses_to_go_on_with_other_payoffs(matrix_run: Path, tmp_path: Path) -> None:
    begin_run(str(tmp_path / "store"), matrix_run)
    begin_run(str(tmp_path / "store"), matrix_run)
    (tmp_path / "game.json").write_text(json.dumps({**RPS, "payoffs": [[0, -1, 1], [1, 0, -2], [-1, 2, 0]]}))
    with pytest.raises(ConfigurationError, match=r"matrix: the content of .*game\.json has changed"):
        begin_run(str(tmp_path / "store"), matrix_run)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"payoffs": [[0, 1], [1]]}, "expected rows of one length"),
        ({**RPS, "symmetric": True, "payoffs": [[0, -1, 1], [1, 0, 5], [-1, 1, 0]]}, "not antisymmetric"),
        ({**RPS, "column_payoffs": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]}, "is not zero-sum"),
        ({"payoffs": [[0, "x"]]}, r"payoffs\.0\.1"),
    ],
)
def test_a_wrong_matrix_is_wrong_data_and_nothing_is_written(
    matrix_run: Path, tmp_path: Path, document: dict[str, object], says: str
) -> None:
    (tmp_path / "game.json").write_text(json.dumps(document))
    with pytest.raises(DataError, match=says):
        begin_run(str(tmp_path / "store"), matrix_run)
    assert not (tmp_path / "store").exists()


def test_an_altered_stored_matrix_is_wrong_data(matrix_run: Path, tmp_path: Path) -> None:
    run = begin_run(str(tmp_path / "store"), matrix_run)
    stored = run.store.get(keys.MATRIX)
    run.store.put(keys.MATRIX, stored.replace(b"1", b"2", 1))
    with pytest.raises(DataError, match=r"matrix\.json has sha256"):
        game_of_run(run.store, run.settings)
    rewrite(
        run.store, keys.MATRIX, b'{"schema_version": 1, "row_policies": ["r"], "column_policies": [], "payoffs": []}'
    )
    with pytest.raises(DataError, match=r"matrix\.json is not a valid MatrixDocument"):
        game_of_run(run.store, run.settings)


# Every file of settings; prices.toml is for `nashdex cost`.
CONFIGS = sorted(path for path in (ROOT / "configs").glob("*.toml") if path.name != "prices.toml")


@pytest.mark.parametrize("config", CONFIGS, ids=lambda path: path.stem)
def test_the_configurations_that_ship_fit(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run = begin_run(str(tmp_path), config)
    assert game_of_run(run.store, run.settings).format == run.settings.format


@pytest.mark.parametrize(
    ("text", "override", "kind"),
    [
        ('format = "gen1ou"', "seed=1", "pointer"),
        ('format = "gen1ou"', "network.predicts_opponent=true", "pointer"),
        ('format = "gen1ou"', "network=slots", "slots"),
        ('format = "gen1ou"', "network.kind=memory", "memory"),
        ('format = "gen9vgc2023regulationc"', "seed=1", "pointer-pairs"),
        (PPO, "seed=1", "slots"),
        (PPO, "network.hidden_size=64", "slots"),
    ],
)
def test_the_default_network_follows_the_format(tmp_path: Path, text: str, override: str, kind: str) -> None:
    (tmp_path / "run.toml").write_text(text)
    assert resolve_settings(tmp_path / "run.toml", [override]).network.kind == kind
