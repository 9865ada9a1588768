"""Plans of experiments: which runs they mean, and which of them are refused before anything runs."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import PolicyId
from nashdex.planning.dag import iteration_steps
from nashdex_lab.experiments.commands import as_typed, exploit_arguments, match_arguments, run_arguments
from nashdex_lab.experiments.plan import Measurement, literal, read_plan
from nashdex_lab.experiments.running import prepare

ROOT = Path(__file__).parents[3]

PLAN = """
hypothesis = "Annealing helps."
base = "base.toml"
seeds = [3, 4]
settings = { "evaluate.battles_per_pair" = 20 }

[verdict]
kind = "difference"
control = "full"

[[arms]]
name = "full"

[[arms]]
name = "no-annealing"
[arms.settings.train.oracle.annealing]
learning_rate = 1.0
"""


def written(folder: Path, text: str = PLAN, base: str = 'format = "gen1ou"\n') -> Path:
    """Write a plan and its base settings; return the plan's path."""
    (folder / "base.toml").write_text(base)
    path = folder / "Some Plan.toml"
    path.write_text(text)
    return path


def test_a_plan_is_arms_times_seeds_with_all_arms_of_a_seed_together(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path))
    assert [run.key for run in plan.runs] == ["full/3", "no-annealing/3", "full/4", "no-annealing/4"]
    assert plan.runs[3].id == "some-plan-no-annealing-4"
    assert plan.runs[3].overrides == (
        "evaluate.battles_per_pair=20",
        "train.oracle.annealing.learning_rate=1.0",
        "seed=4",
    )
    assert plan.beside(".md") == tmp_path / "Some Plan.md"


def test_arms_that_differ_only_in_what_they_play_share_a_run(tmp_path: Path) -> None:
    same = PLAN[PLAN.rindex("[arms.settings") :]
    plan = read_plan(written(tmp_path, f'{PLAN}[[arms]]\nname = "mixture"\nplays = "mixture"\n{same}'))
    stored = {run.key: run.stored for run in plan.runs}
    assert stored["mixture/3"] == "some-plan-no-annealing-3" == stored["no-annealing/3"]
    assert stored["mixture/4"] == "some-plan-no-annealing-4"
    assert stored["full/3"] == "some-plan-full-3"
    shared = next(run for run in plan.runs if run.key == "mixture/3")
    assert shared.id == "some-plan-mixture-3", "each has its own record"
    assert "some-plan-no-annealing-3" in run_arguments(plan, shared, "runs")


EXPLOITED = f"""{PLAN}
[measure]
exploiter = {{ decisions = 9000, battles = 200 }}
"""


def test_an_exploiter_of_each_policy_is_a_command_and_a_measure(tmp_path: Path) -> None:
    compared = 'control = "full"\ncomparisons = [{ arm = "no-annealing", other = "full", measure = "exploiter" }]'
    text = EXPLOITED.replace('control = "full"', compared)
    plan = read_plan(written(tmp_path, text))
    measure = plan.experiment.measure
    assert measure.scores == ("heuristic", "exploiter")
    assert measure.exploiter is not None
    typed = as_typed(exploit_arguments(plan, plan.runs[3], PolicyId("p0123456789abcdef"), measure.exploiter, "runs"))
    assert typed == (
        "nashdex exploit 'runs/some-plan-no-annealing-4#p0123456789abcdef' --from-target --oracle ppo --decisions 9000 "
        "--battles 200 --seed 4 --store runs --run some-plan-no-annealing-4-exploiter --processes 1 --json"
    )
    without = text.replace("exploiter = {", "# exploiter = {")
    with pytest.raises(ConfigurationError, match="measure 'exploiter'; expected one of elo, heuristic"):
        read_plan(written(tmp_path, without))


def test_the_target_of_a_mixtures_exploiter_is_the_mixture(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path, f'{EXPLOITED}[[arms]]\nname = "other"\nplays = "mixture"\n'))
    measure = plan.experiment.measure.exploiter
    assert measure is not None
    run = next(run for run in plan.runs if run.key == "other/4")
    arguments = exploit_arguments(plan, run, None, measure, "runs")
    assert arguments[:3] == ["exploit", f"runs/{run.stored}#nash", "--from-target"]
    assert arguments[arguments.index("--run") + 1] == "some-plan-other-4-exploiter", "a shared run has one for each arm"


def test_no_arm_plays_a_magnet_without_a_moving_average(tmp_path: Path) -> None:
    arm = '[[arms]]\nname = "other"\nplays = "{}"\n'
    plan = read_plan(written(tmp_path, PLAN + arm.format("magnet")))
    with pytest.raises(ConfigurationError, match=r"arm 'other' with seed 3: it plays the magnet; expected .*\"ema\""):
        prepare(plan)


def test_every_arm_is_checked_as_a_run_before_anything_starts(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path))
    settings = prepare(plan)["some-plan-no-annealing-4"].settings
    assert (settings.seed, settings.run, settings.evaluate.battles_per_pair) == (4, "some-plan-no-annealing-4", 20)
    wrong = read_plan(written(tmp_path, PLAN.replace("learning_rate = 1.0", "learning_rate = 2.0")))
    with pytest.raises(ConfigurationError, match=r"arm 'no-annealing' with seed 3: .*annealing.learning_rate"):
        prepare(wrong)
    with pytest.raises(DataError, match=r"arm 'full' with seed 3: .*nowhere.toml does not exist"):
        prepare(read_plan(written(tmp_path, PLAN.replace("base.toml", "nowhere.toml"))))


_KUHN = 'format = "kuhn_poker"\npopulation = { initial = ["random"] }\ntrain = { oracle = "exact" }\n'


@pytest.mark.parametrize(
    ("base", "measure", "message"),
    [
        (
            _KUHN,
            "",
            "measure.anchors holds 'heuristic', which does not play kuhn_poker; expected some of 'first-action'",
        ),
        (
            _KUHN,
            "[measure]\nanchors = { random = 0.0 }\nexploiter = {}\n",
            "measure.exploiter begins with a network's weights, and the policies of the oracle 'exact' are tables",
        ),
        (
            'format = "gen1ou"\n',
            f'[measure]\nexploiter = {{}}\n[[arms]]\nname = "{40 * "x"}"\n',
            f"run id 'some-plan-{40 * 'x'}-34567-exploiter' is invalid: expected",
        ),
    ],
)
def test_a_policy_that_could_not_be_measured_is_refused_before_its_training(
    tmp_path: Path, base: str, measure: str, message: str
) -> None:
    plan = PLAN[: PLAN.index("[arms.settings")]
    plan = plan.replace('settings = { "evaluate.battles_per_pair" = 20 }\n', "").replace("[3, 4]", "[34567]")
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        prepare(read_plan(written(tmp_path, plan + measure, base)))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ('control = "none"', "verdict.control 'none' is not an arm; expected one of full, no-annealing"),
        ('control = "full"\nspeed = 1', "speed: no such key"),
        ("level = 0.05", "verdict compares nothing; expected verdict.control, or verdict.comparisons"),
        ('comparisons = [{ arm = "x", other = "full" }]', "verdict.comparisons names 'x', which is not an arm"),
        ('comparisons = [{ arm = "full", other = "full" }]', "compares 'full' with itself; expected two arms"),
        (
            'comparisons = [{ arm = "no-annealing", other = "full", measure = "random" }]',
            "has measure 'random'; expected one of elo, heuristic",
        ),
        (
            'control = "full"\ncomparisons = [{ arm = "full", other = "no-annealing" }]',
            "'full' and 'no-annealing' are compared twice by elo; expected once",
        ),
        ('control = "full"\n[measure]\nanchors = { nobody = 0.0 }', "unknown anchor 'nobody': expected one of"),
        ('control = "full"\n[measure]\nbattles = 101', "measure.battles"),
        ('control = "full"\n[measure]\nbattles = 20_000_000', "measure.battles"),
        (
            'control = "full"\n[invalid]\n"full/9" = "a fault"',
            "which is not a run; did you mean full/4 or full/3?",
        ),
        ('control = "fulll"', "verdict.control 'fulll' is not an arm; did you mean full? Expected one of full,"),
        ('controll = "full"', "verdict.controll: no such key (got 'full'); did you mean control?"),
        ('control = "full"\n[measure]\nbatles = 10', "measure.batles: no such key (got 10); did you mean battles?"),
        ('control = "full"\n[[arms]]\nname = "b"\nsetting = { iterations = 1 }', "did you mean settings?"),
        ('control = "full"\n[measure]\nanchors = { hueristic = 0.0 }', "'hueristic': did you mean heuristic?"),
        ('comparisons = [{ arm = "ful", other = "no-annealing" }]', "which is not an arm; did you mean full?"),
        ('control = "full"\n[[arms]]\nname = "full"', "two arms are called 'full'"),
        ('control = "full"\n[[arms]]\nname = "Full Stop"', "arms.0.name"),
        ('control = "full"\n[sweep]\nkind = "grid"\nvalues = { a = [] }', "values of 'a' is empty"),
        (
            'control = "full"\n[sweep]\nkind = "random"\nnum_arms = 2\nvalues = { a = { low = 2, high = 1 } }',
            "low is 2 and high 1",
        ),
    ],
)
def test_a_bad_plan_is_one_line_that_says_what_to_do(tmp_path: Path, changed: str, message: str) -> None:
    path = written(tmp_path, PLAN.replace('control = "full"', changed))
    with pytest.raises(ConfigurationError, match=re.escape(message)) as refused:
        read_plan(path)
    assert "\n" not in str(refused.value)


SCORE = PLAN[: PLAN.index("[verdict]")] + 'verdict = { kind = "score", above = 0.5 }\n'
RANDOM = SCORE + '[sweep]\nkind = "random"\nnum_arms = 2\nvalues = { "a.b" = VALUES }\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLAN.replace("[3, 4]", "[]"), "seeds: expected at least 1 item, not 0"),
        (SCORE.replace("score", "scores"), "verdict.kind: expected one of 'difference', 'score' (got 'scores')"),
        (SCORE.replace('kind = "score", ', ""), "verdict.kind: missing; expected one of 'difference', 'score'"),
        (SCORE.replace("0.5", "1.5"), "verdict.above: must be less than 1 (got 1.5)"),
        (SCORE, "there is no arm; expected arms or a sweep"),
        (RANDOM.replace("VALUES", '{ low = 1, high = "a" }'), "sweep.values.a.b.high: expected a number (got 'a')"),
        (
            RANDOM.replace("VALUES", "{ low = 2, high = 1 }"),
            "sweep.values.a.b: low is 2 and high 1; expected low to be the smaller",
        ),
        (RANDOM.replace("VALUES", "{ low = 2 }"), "sweep.values.a.b.high: missing; expected a value"),
        (
            RANDOM.replace("VALUES", "3"),
            "sweep.values.a.b: expected a list of values, or a range such as { low = 1, high = 2 } (got 3)",
        ),
    ],
)
def test_an_error_is_one_sentence_under_the_key_that_the_file_has(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigurationError) as refused:
        read_plan(path)
    assert str(refused.value) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (PLAN.replace("settings = {", "settings = { KEY = 5,"), "settings"),
        (PLAN + '[[arms]]\nname = "other"\nsettings = { KEY = 5 }\n', "the settings of arm 'other'"),
        (PLAN + '[sweep]\nkind = "grid"\nvalues = { KEY = [5, 6] }\n', "sweep.values"),
        (RANDOM.replace('"a.b" = VALUES', "KEY = { low = 1, high = 9, whole = true }"), "sweep.values"),
    ],
)
@pytest.mark.parametrize(
    ("key", "instead"), [("seed", "list the runs' seeds in `seeds`"), ("run", "begin the runs' ids with `name`")]
)
def test_what_the_plan_gives_each_run_is_no_setting(
    tmp_path: Path, text: str, place: str, key: str, instead: str
) -> None:
    path = written(tmp_path, text.replace("KEY", key))
    with pytest.raises(ConfigurationError) as refused:
        read_plan(path)
    why = "because the plan gives each run its own"
    assert str(refused.value) == f"{path}: {key!r} in {place} has no effect, {why}: leave it out, and {instead}"


def test_a_file_that_is_missing_or_no_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_plan(tmp_path / "nowhere.toml")
    with pytest.raises(DataError, match="is not TOML"):
        read_plan(written(tmp_path, "a = = b"))
    with pytest.raises(DataError, match="is not TOML"):
        read_plan(written(tmp_path, f"a = {'[' * 5000}"))


def test_a_grid_has_every_combination_and_random_draws_are_repeatable(tmp_path: Path) -> None:
    only = PLAN[: PLAN.index("[[arms]]")].replace('control = "full"', 'control = "sweep-01"')
    grid = only + '[sweep]\nkind = "grid"\n[sweep.values]\n"a.b" = [1, 2]\nc = ["x", "y", "z"]\n'
    arms = read_plan(written(tmp_path, grid)).experiment.all_arms
    assert [arm.name for arm in arms] == [f"sweep-0{i}" for i in range(1, 7)]
    assert [arm.settings for arm in arms][:2] == [{"a.b": 1, "c": "x"}, {"a.b": 1, "c": "y"}]
    drawn = only + '[sweep]\nkind = "random"\nnum_arms = 50\n[sweep.values]\n'
    drawn += 'rate = { low = 1e-5, high = 1e-1, scale = "log" }\nsize = { low = 1, high = 3, whole = true }\n'
    found = [read_plan(written(tmp_path, drawn)).experiment.all_arms for _ in range(2)]
    assert found[0] == found[1]
    rates = sorted(arm.settings["rate"] for arm in found[0])
    assert 1e-5 <= rates[0] < 1e-4
    assert 1e-2 < rates[-1] <= 1e-1
    assert {arm.settings["size"] for arm in found[0]} == {1, 2, 3}


def test_matches_of_one_seed_are_the_same_battles_and_those_of_seeds_differ() -> None:
    def typed(policy: str | None, seed: int, style: str = "greedy") -> list[str]:
        measure = Measurement.model_validate({"style": style, "battles": 20})
        played = None if policy is None else PolicyId(policy)
        return match_arguments(measure, "gen1ou", "runs/one", played, "heuristic", seed)

    def battles_seed(arguments: list[str]) -> str:
        return arguments[arguments.index("--seed") + 1]

    assert battles_seed(typed("p1", 1)) == battles_seed(typed("p2", 1)) != battles_seed(typed("p1", 2))
    played = [typed(*given)[2] for given in (("p1", 1), ("p1", 1, "sampled"), (None, 1))]
    assert played == ["runs/one#p1@greedy", "runs/one#p1", "runs/one#nash"]


@pytest.mark.parametrize("path", sorted((ROOT / "configs" / "experiments").glob("*.toml")), ids=lambda path: path.stem)
def test_the_experiments_that_ship_are_whole(path: Path) -> None:
    plan = read_plan(path)
    prepared = prepare(plan)
    different = {(prepared[run.id].settings.fingerprint(), run.plays) for run in plan.runs}
    assert len(different) == len(plan.runs), "no two runs are the same"
    for run in plan.runs:
        assert iteration_steps(prepared[run.id].settings)


@pytest.mark.parametrize("value", [True, 3, 1e-05, 'a "b" \\ c', [1, "x"], {"a b": [{"c": False}]}, [], {}])
def test_values_are_given_to_a_run_as_the_plan_has_them(value: Any) -> None:  # noqa: ANN401
    assert tomllib.loads(f"value = {literal(value)}")["value"] == value
