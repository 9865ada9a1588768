"""Plausible mistakes of a first hour: each gets one line that says what is wrong and what to do, and leaves nothing."""

import json
import shlex
from pathlib import Path

import pytest

from nashdex_cli import cli

EXPORT = "policy export zoo:gen1randombattle --onnx"
PANEL = "panel zoo:gen1randombattle --only random --output"
EXTERNAL = "battle --format gen1randombattle --p1 random --p2 external:"

FILES = {
    "here.toml": "iterations = 1\n",
    "configs/gen1ou.toml": 'format = "gen1ou"\n',
    "broken.toml": "= 1\n",
    "yaml.toml": "format: gen1ou\n",
    "typo.toml": "iteration = 3\n",
    "word.toml": 'iterations = "three"\n',
    "half.toml": "[train.oracle]\ndecisions = 1.5\n",
    "negative.toml": "[collect]\nbattles = -1\n",
    "teams-gone.toml": 'format = "gen1ou"\nteams = "gone.txt"\n',
    "teams-random.toml": 'format = "gen1randombattle"\nteams = "teams.txt"\n',
    "player.toml": 'format = "gen1randombattle"\n[population]\ninitial = ["heuristics"]\n',
    "player-of-kuhn.toml": 'format = "kuhn_poker"\n[population]\ninitial = ["heuristic"]\n',
    "plan.toml": "arms = 3\n",
    "made/demo/config.json": "{}",
    "players.toml": '[mine]\nclass = "my_bot:MyPlayer"\nfolder = "nowhere"\n',
    "teams.txt": "Pikachu\n- Surf\n",
    "ragged.json": json.dumps({"payoffs": [[0, 1], [1]]}),
    "rates.json": json.dumps({"payoffs": [[0.5, 0.6], [0.4, 0.5]], "symmetric": True}),
    "other.json": json.dumps({"matrix": [[0]]}),
    "empty.json": "",
}

MISTAKES = [
    # The command line.
    ("nosuch", 64, "No such command 'nosuch'", "try --help"),
    ("rnu here.toml", 64, "No such command 'rnu'", "Did you mean 'run'?"),
    ("config shwo here.toml", 64, "No such command 'shwo'", "Did you mean 'show'?"),
    ("--nosuch", 64, "--nosuch", "try --help"),
    ("run", 64, "Missing argument 'CONFIG.toml'", "try --help"),
    ("run here.toml --iterations 3", 64, "No such option: --iterations", "--set iterations=VALUE"),
    ("run here.toml --processes 0", 64, "--processes", "greater than or equal to 1"),
    ("run here.toml --set seed", 64, "--set 'seed'", "expected KEY=VALUE, such as collect.battles=500"),
    ("formats --json extra", 64, "extra", "try --help"),
    # Files of settings.
    ("run gen1ou.toml", 65, "gen1ou.toml does not exist", "did you mean configs/gen1ou.toml?"),
    ("run configs/gen1oo.toml", 65, "configs/gen1oo.toml does not exist", "did you mean configs/gen1ou.toml?"),
    ("run gone.toml", 65, "gone.toml does not exist", "expected a TOML file of settings"),
    ("run configs", 65, "Is a directory", "expected a TOML file of settings"),
    ("run broken.toml", 65, "broken.toml is not TOML", "at line 1, column 1"),
    ("run yaml.toml", 65, "yaml.toml is not TOML", "Expected '=' after a key"),
    ("config show gone.toml", 65, "gone.toml does not exist", "expected a TOML file of settings"),
    # Keys and values.
    ("run typo.toml", 64, "typo.toml: iteration: no such key", "did you mean iterations?"),
    ("run here.toml --set collect.bogus=1", 64, "collect.bogus: no such key", "`nashdex config show FILE.toml` lists"),
    ("config show here.toml --set train.devcie=cuda", 64, "no such key", "did you mean train.device?"),
    ("run word.toml", 64, "iterations", "expected an integer (got 'three')"),
    ("run half.toml", 64, "train.oracle.decisions", "expected an integer (got 1.5)"),
    ("run negative.toml", 64, "collect.battles", "must be greater than or equal to 1 (got -1)"),
    ("run here.toml --set collect.battles=many", 64, "collect.battles", "expected an integer (got 'many')"),
    ("run here.toml --set solve.meta_solver=nsh", 64, "unknown meta-solver 'nsh'", "expected one of nash,"),
    ("run here.toml --set train.oracle=pp0", 64, "unknown oracle 'pp0'", "expected one of ppo,"),
    ("run here.toml --set network.kind=resnet", 64, "unknown network 'resnet'", "expected one of "),
    ("run here.toml --set opponents=psro", 64, "unknown opponent rule 'psro'", "expected one of meta-strategy,"),
    ("run here.toml --set train.oracle.damping.preset=strong", 64, "damping.preset", "must be 'none',"),
    # Formats, teams and players.
    ("run here.toml --set format=gen5uu", 64, "unknown format 'gen5uu'", "did you mean gen5ou,"),
    ("run here.toml --set format=gen1random", 64, "'gen1random'", "did you mean gen1randombattle,"),
    ("run teams-gone.toml", 65, "gone.txt: cannot be read", "expected a text file of teams"),
    ("run teams-random.toml", 64, "gen1randombattle takes no teams", "leave `teams` out"),
    ("run player.toml", 64, "unknown scripted policy 'heuristics'", "did you mean heuristic?"),
    ("run player-of-kuhn.toml", 64, "does not play kuhn_poker", "expected some of"),
    # Runs and stores.
    ("run here.toml --run Not/Good", 64, "run id 'Not/Good' is invalid", "expected lower-case letters"),
    ("run here.toml --store ftp://there", 64, "'ftp://there' is not a store", "expected a path,"),
    ("begin here.toml --store zoo:", 64, "zoo: holds the policies that nashdex comes with", "name another store"),
    ("check-store --store zoo:", 64, "zoo: holds the policies that nashdex comes with", "name another store"),
    ("policy get zoo:gen1randombattle zoo:", 64, "that nashdex comes with", "name another store"),
    ("run here.toml --store s3://", 64, "no usable bucket name", "expected 3 to 63 lower-case letters"),
    ("report runs/gone --output r.html", 65, "runs/gone holds no run", "expected the URI that `nashdex run` prints"),
    ("report runs/gone", 64, "Missing option '--output'", "try --help"),
    ("verify made/demmo", 65, "made/demmo holds no run", "did you mean made/demo? expected the URI"),
    ("report made --output r.html", 65, "made holds no run", "it is the store of demo: name one, such as made/demo;"),
    ("policy list made/demmo", 65, "holds no run and no policies", "made/demo? expected the URI of a run"),
    ("battle --format gen1ou --p1 made#nash --p2 random", 65, "made holds no run with a solved", "such as"),
    ("solve made/", 65, "made/ holds no run", "it is the store of demo: name one, such as made/demo;"),
    ("verify configs", 65, "configs holds no run", "expected the URI that `nashdex run` prints"),
    ("status runs/gone", 65, "runs/gone holds no run", "expected the URI that `nashdex run` prints"),
    ("cost runs/gone", 65, "runs/gone holds no run", "expected the URI that `nashdex run` prints"),
    ("calibrate gone", 65, "gone holds no run", "expected the URI that `nashdex run` prints"),
    ("step plan --run r --iteration 0", 65, "r holds no run", "expected the URI that `nashdex run` prints"),
    ("step colect --run r --iteration 0", 64, "'colect' is not one of 'plan', 'collect'", "try --help"),
    ("step plan --run r", 64, "Missing option '--iteration'", "try --help"),
    ("step plan --run r --iteration -1", 64, "--iteration", "greater than or equal to 0"),
    # Battles and exploiters.
    ("battle --p1 random --p2 random", 64, "the format is missing", "name the format, such as gen1ou"),
    ("battle --format gen1ou --p1 random --p2 hueristic", 64, "'hueristic'", "did you mean heuristic?"),
    ("battle --format gen1ou --p1 random --p2 random --battles 0", 64, "--battles", "greater than or equal to 1"),
    ("battle --format gen1ou --p1 random --p2 random --best-of 2", 64, "--best-of is 2", "expected one of 1, 3, 5, 7"),
    ("battle --format gen1ou --p1 runs/gone#nash --p2 random", 65, "runs/gone holds no run", "expected the URI"),
    ("battle --format kuhn_poker --p1 heuristic --p2 random", 64, "does not play kuhn_poker", "expected one of"),
    ("exploit runs/gone#nash", 65, "runs/gone holds no run", "expected the URI of a run"),
    ("exploit random", 64, "a scripted target plays several games", "name one with --format"),
    ("exploit random --format gen1ou --oracle q", 64, "unknown oracle 'q'", "expected one of ppo,"),
    ("bench collect", 64, "Missing option '--format'", "try --help"),
    ("bench collect --format gen5uu", 64, "unknown format 'gen5uu'", "did you mean gen5ou,"),
    # Stored policies.
    ("policy show heuristic", 64, "'heuristic' is scripted: it has no card", "expected a stored policy: zoo:NAME,"),
    ("policy show hueristic", 64, "unknown scripted policy 'hueristic'", "did you mean heuristic?"),
    ("policy show configs", 64, "'configs' names a store and no policy in it", "expected one such as configs#newest"),
    ("policy get runs/gone there", 64, "names a store and no policy", "expected one such as runs/gone#newest"),
    ("policy get heuristic there", 64, "comes with every installation", "expected a stored policy: zoo:NAME,"),
    ("policy publish runs/gone#newest its-name", 64, "Missing option '--zoo'", "try --help"),
    ("policy show zoo:gen1randombatle", 65, "has no policy 'gen1randombatle'", "did you mean gen1randombattle"),
    ("policy show zoo:gen9", 65, "error: zoo: has no policy 'gen9': e", "`nashdex policy list zoo:` prints them"),
    ("policy show zoo:newest", 65, "zoo: is no run, so it has no newest", "expected a name: zoo:gen1ou-4m, "),
    ("policy show zoo:nash", 65, "zoo: is no run, so it has no newest and no nash", "zoo:gen1randombattle-2.5m"),
    ("battle --p1 zoo:newest --p2 random", 65, "zoo: is no run", "expected a name: zoo:gen1ou-4m, "),
    ("policy levels heuristic", 64, "'heuristic' is not one stored policy", "expected one without '@'"),
    ("policy calibrate zoo:gen1randombattle --against hueristic", 64, "'hueristic'", "did you mean heuristic?"),
    ("policy calibrate zoo:gen1randombattle@greedy", 64, "is not one stored policy", "expected one without '@'"),
    ("panel zoo:gen1randombattle --only random --only hueristic", 64, "'hueristic'", "did you mean heuristic?"),
    # Files to write: refused before the work.
    (f"{EXPORT} configs", 65, "'configs' cannot be written: it is a folder", "choose another --onnx"),
    (f"{EXPORT} gone/p.onnx", 65, "gone does not exist", "choose another --onnx"),
    (f"{PANEL} configs", 65, "'configs' cannot be written: it is a folder", "choose another --output"),
    (f"{PANEL} here.toml/p.json", 65, "here.toml is not a folder", "choose another --output"),
    (f"{PANEL} ''", 65, "it is a folder; expected a file", "choose another --output"),
    (f"{PANEL} {'p' * 300}", 65, "File name too long", "choose another --output"),
    ("report runs/gone --output configs", 65, "'configs' cannot be written", "choose another --output"),
    ("play random --format gen1ou --output here.toml", 65, "here.toml is a file", "choose another --output"),
    ("play random --format gen1ou --output here.toml/p", 65, "here.toml is a file", "choose another --output"),
    ("analyse gone.log --output here.toml", 65, "here.toml is a file", "choose another --output"),
    # Players of other programs.
    (f"{EXTERNAL}", 64, "'external:' names no player", "expected external:NAME or external:module:Class"),
    (f"{EXTERNAL}mien", 64, "declares no player 'mien': did you mean mine?", "Add a table [mien] to the file"),
    (f"{EXTERNAL}mine", 64, "its folder nowhere does not exist", "correct it in players.toml"),
    # Files of payoffs, counts and plans.
    ("solve gone.json", 65, "gone.json: cannot be read", "expected a JSON file with a matrix"),
    ("solve configs", 65, "configs holds no run with a solved iteration", "or the URI of a run"),
    ("rate configs", 65, "configs holds no run with a solved iteration", "or the URI of a run"),
    ("solve empty.json", 65, "Invalid JSON", "Expected a JSON object with payoffs"),
    ("solve other.json", 65, "matrix: no such key", "Expected a JSON object with payoffs"),
    ("solve ragged.json", 65, "row 1 has 1 entries, row 0 has 2", "expected rows of one length"),
    ("solve rates.json", 65, "payoffs is not antisymmetric", "take ½ from each"),
    ("solve ragged.json --meta-solver nahs", 64, "unknown meta-solver 'nahs'", "did you mean nash?"),
    ("rate rates.json", 65, "rates.json: it has payoffs and no battles", "expected all of wins, draws and games"),
    ("rate gone.json --anchor random", 64, "--anchor 'random'", "such as random=1000"),
    ("tabular value kuhn", 64, "'kuhn' is not a tabular game", "expected one of kuhn_poker,"),
    ("experiment run plan.toml", 64, "hypothesis: missing", "expected a value"),
]


@pytest.mark.parametrize(("command", "code", "wrong", "to_do"), MISTAKES, ids=[mistake[0] for mistake in MISTAKES])
def test_a_mistake_gets_one_line_and_leaves_nothing(
    command: str,
    code: int,
    wrong: str,
    to_do: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NASHDEX_DEBUG", "")
    monkeypatch.setenv("NASHDEX_PLAYERS", "players.toml")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    before = sorted(tmp_path.rglob("*"))
    assert cli.run_command_line(shlex.split(command)) == code
    out, err = capsys.readouterr()
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert wrong in err
    assert to_do in err
    assert out == ""
    assert sorted(tmp_path.rglob("*")) == before
