"""What an experiment shows: Elo whose unit is the seed, a verdict by the stated rule, a page and a drawing."""

import math
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from nashdex.core.results import Evaluation
from nashdex_lab.experiments.comparing import holm
from nashdex_lab.experiments.estimates import fixed_reference_elo, over_seeds
from nashdex_lab.experiments.page import page, publish
from nashdex_lab.experiments.places import ThisMachine
from nashdex_lab.experiments.plan import Plan, read_plan
from nashdex_lab.experiments.records import Exploited, Match, Results, RunRecord, Status, read_results
from nashdex_lab.experiments.registration import registered
from nashdex_lab.experiments.report import make_report
from nashdex_lab.experiments.running import RESULTS_SUFFIX, ExperimentOptions, begin, prepare

ROOT = Path(__file__).parents[3]

PLAN = """
hypothesis = "It helps | much."
base = "base.toml"
seeds = [1, 2, 3]
follow_ups = ["More seeds."]
[measure]
anchors = { random = 100.0 }
battles = 400
[verdict]
RULE
[[arms]]
name = "base"
[[arms]]
name = "other"
settings = { "train.oracle.learning_rate" = 1e-3 }
"""
DIFFERENCE = 'kind = "difference"\ncontrol = "base"'


def plan_of(folder: Path, rule: str = DIFFERENCE, more: str = "") -> Plan:
    (folder / "base.toml").write_text(
        'format = "kuhn_poker"\ncollect.teacher = "random"\npopulation.initial = ["random"]\n'
    )
    (folder / "plan.toml").write_text(PLAN.replace("RULE", rule) + more)
    return read_plan(folder / "plan.toml")


def match(score: float, battles: int = 400, half: float = 0.05) -> Match:
    wins = round(score * battles)
    return Match(
        wins=wins, draws=0, losses=battles - wins, score=score, low=score - half, high=score + half, battles=battles,
        command="nashdex battle",
    )  # fmt: skip


def evaluation(decisions: int, score: float) -> Evaluation:
    return Evaluation(
        decisions=decisions, cpu_seconds=decisions / 1000, anchor="random", style="greedy", score=score,
        low=score - 0.05, high=score + 0.05, battles=100, draws=0,
    )  # fmt: skip


def results_of(plan: Plan, scores: dict[str, list[float]]) -> Results:
    """Return results with a completed run for each score."""
    records = [
        RunRecord(
            run=run.id, arm=run.arm, seed=run.seed, status=Status.COMPLETED, command="nashdex run", settings="0",
            policy="p1", decisions=1000, cpu_minutes=2.0, matches={"random": match(scores[run.arm][run.seed - 1])},
            summary={"entropy": 0.3}, curve=(evaluation(0, 0.5), evaluation(1000, scores[run.arm][run.seed - 1])),
        )
        for run in plan.runs
        if run.seed <= len(scores[run.arm])
    ]  # fmt: skip
    return Results(experiment="plan", began="now", runs=tuple(records))


def test_elo_against_one_reference_is_the_logit_of_the_score_above_it() -> None:
    elo, error = fixed_reference_elo({"random": match(0.75, 40_000, 0.004)}, {"random": 100.0})
    assert elo == pytest.approx(100 + 400 * math.log10(3), abs=0.1)
    slope = 400 / math.log(10) / (0.75 * 0.25)
    assert error == pytest.approx(slope * 0.004 / 1.96, rel=1e-3)


def test_elo_against_several_references_lies_between_those_of_each() -> None:
    matches = {"a": match(0.6), "b": match(0.3)}
    anchors = {"a": 0.0, "b": 200.0}
    one, other = (fixed_reference_elo({key: matches[key]}, anchors)[0] for key in matches)
    both, error = fixed_reference_elo(matches, anchors)
    assert min(one, other) < both < max(one, other)
    assert error < fixed_reference_elo({"a": matches["a"]}, anchors)[1]
    assert math.isfinite(fixed_reference_elo({"a": match(1.0, half=0.0)}, anchors)[0])


def test_the_seed_is_the_unit_of_an_interval() -> None:
    """Student's quantile with 2 degrees of freedom is 4.303."""
    found = over_seeds([10.0, 20.0, 30.0], [1.0, 1.0, 1.0])
    assert (found.value, found.unit) == (20.0, "seeds")
    assert found.high - 20 == pytest.approx(4.303 * 10 / math.sqrt(3), rel=1e-3)
    assert over_seeds([10.0], [5.0]).unit == "battles"
    assert over_seeds([10.0], [5.0]).high == pytest.approx(10 + 1.96 * 5, rel=1e-3)


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ([0.7, 0.71, 0.72], "stronger"),
        ([0.3, 0.31, 0.29], "weaker"),
        ([0.4, 0.8, 0.5], "nothing shown"),
        ([], "no result"),
    ],
)
def test_the_verdict_follows_the_rule(tmp_path: Path, other: list[float], found: str) -> None:
    plan = plan_of(tmp_path)
    report = make_report(plan, results_of(plan, {"base": [0.5, 0.51, 0.49], "other": other}))
    assert [(one.arm, one.other, one.found) for one in report.comparisons] == [("other", "base", found)]
    assert [arm.judgement for arm in report.arms] == [None, None]


def test_the_score_against_an_exploiter_is_compared_like_any_other(tmp_path: Path) -> None:
    compared = '\ncomparisons = [{ arm = "other", other = "base", measure = "exploiter" }]'
    plan = plan_of(tmp_path, DIFFERENCE + compared, "[measure.exploiter]\ndecisions = 5000\n")
    exploited = {"base": [0.4, 0.41, 0.42], "other": [0.48, 0.49, 0.47]}
    results = results_of(plan, {"base": [0.5, 0.51, 0.49], "other": [0.5, 0.52, 0.5]})
    for run in results.runs:
        score = exploited[run.arm][run.seed - 1]
        found = Exploited(
            score=score, low=score - 0.01, high=score + 0.01, battles=1000, decisions=5000, cpu_minutes=1.0, command=""
        )
        results = results.with_record(run.model_copy(update={"exploiter": found}))
    report = make_report(plan, results)
    by_elo, by_exploiter = report.comparisons
    assert (by_elo.found, by_exploiter.found) == ("nothing shown", "stronger")
    assert by_exploiter.sentence.startswith("other is stronger than base: +0.070 [+0.0")
    assert "in score against its exploiter" in by_exploiter.sentence
    written = page(report)
    assert "| arm | seeds | Elo | score against random | score against its exploiter |" in written
    assert "An exploiter learns from 5,000 decisions" in written


def test_paired_differences_do_not_contain_what_the_seeds_have_in_common(tmp_path: Path) -> None:
    """Each seed's difference is nearly the same, although the seeds differ much."""
    scores = {"base": [0.3, 0.5, 0.7], "other": [0.35, 0.55, 0.75]}
    found = {}
    for variance in ("pooled", "paired"):
        plan = plan_of(tmp_path, f'{DIFFERENCE}\nvariance = "{variance}"')
        (found[variance],) = make_report(plan, results_of(plan, scores)).comparisons
    pooled, paired = found["pooled"].difference, found["paired"].difference
    assert pooled is not None
    assert paired is not None
    assert pooled.high - pooled.low > 500
    assert paired.high - paired.low < 40
    assert (found["pooled"].found, found["paired"].found) == ("nothing shown", "stronger")


THIRD_ARM = """
[[arms]]
name = "third"
settings = { "train.oracle.decisions" = 600_000 }
"""


def test_every_registered_comparison_counts_in_the_correction_with_or_without_a_result(tmp_path: Path) -> None:
    rule = """kind = "difference"
control = "base"
[[verdict.comparisons]]
arm = "other"
other = "base"
measure = "random"
[[verdict.comparisons]]
arm = "other"
other = "third"
"""
    plan = plan_of(tmp_path, rule, THIRD_ARM)
    results = results_of(plan, {"base": [0.5, 0.51, 0.49], "other": [0.52, 0.56, 0.6], "third": []})
    report = make_report(plan, results)
    by_elo, no_result, by_score, _ = report.comparisons
    assert (by_elo.measure, by_score.measure, no_result.found) == ("elo", "random", "no result")
    assert [one.p_holm for one in report.comparisons] == holm([by_elo.p, 1.0, by_score.p, 1.0])
    assert "score against random" in by_score.sentence
    alone = plan_of(tmp_path)
    (only,) = make_report(alone, results_of(alone, {"base": [0.5, 0.51, 0.49], "other": [0.52, 0.56, 0.6]})).comparisons
    assert only.difference is not None
    assert by_elo.difference is not None
    assert by_elo.difference.low < only.difference.low
    text = page(report)
    assert "(Bonferroni, 98.75 % each)" in text
    assert "| other | base | score against random | " in text


def test_sentences_name_registered_budgets_that_differ(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, more=THIRD_ARM)
    results = registered(plan, Results(experiment="plan", began="now", runs=()), prepare(plan))
    done = results_of(plan, {"base": [0.5, 0.51], "other": [0.5, 0.52], "third": [0.5, 0.53]})
    report = make_report(plan, done.model_copy(update={"registration": results.registration}))
    other, third = report.comparisons
    assert other.budgets is None
    assert third.budgets == (2_400_000, 1_200_000)
    assert third.sentence.endswith("third learns from 2,400,000 decisions and base from 1,200,000.")


def test_budgets_are_equal_only_where_both_are_known(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, more='[[arms]]\nname = "exact"\nsettings = { "train.oracle" = "exact" }\n')
    results = registered(plan, Results(experiment="plan", began="now", runs=()), prepare(plan))
    done = results_of(plan, {"base": [0.5, 0.51], "other": [0.5, 0.52], "exact": [0.5, 0.53]})
    report = make_report(plan, done.model_copy(update={"registration": results.registration}))
    other, exact = report.comparisons
    assert (other.budgets, exact.budgets) == (None, (None, 1_200_000))
    assert "learns from" not in exact.sentence
    rows = [line for line in page(report).splitlines() if "| base | Elo |" in line]
    assert [row.split(" | ")[-2] for row in rows] == ["equal", "no such number against 1,200,000"]
    assert all(one.budgets is None for one in make_report(plan, done).comparisons), "nothing is registered"


def test_a_score_has_to_be_reached_in_each_seed(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, 'kind = "score"\nanchor = "random"\nabove = 0.6')
    scores = {"base": [0.66, 0.67, 0.68], "other": [0.66, 0.67, 0.64]}
    assert [arm.judgement for arm in make_report(plan, results_of(plan, scores)).arms] == ["reached", "not reached"]


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ([0.66, 0.67, 0.68], "other: 3 of 3 seeds reach the aim, so it is reached."),
        ([0.66, 0.67, 0.64], "other: 2 of 3 seeds reach the aim, so it is not reached."),
        ([0.66, 0.64, 0.63], "other: 1 of 3 seeds reaches the aim, so it is not reached."),
        ([0.5, 0.51, 0.52], "other: 0 of 3 seeds reach the aim, so it is not reached."),
        ([0.66, 0.67], "other: 2 of 2 finished seeds reach the aim; 3 are planned. "),
        ([0.66], "other: 1 of 1 finished seed reaches the aim; 3 are planned. "),
        ([0.66, 0.64], "other: 1 of 2 finished seeds reaches the aim, so it is not reached; 3 are planned. "),
        ([], "other: no result yet. "),
    ],
)
def test_a_verdict_by_score_says_how_many_seeds_reach_the_aim(tmp_path: Path, other: list[float], says: str) -> None:
    plan = plan_of(tmp_path, 'kind = "score"\nanchor = "random"\nabove = 0.6')
    report = make_report(plan, results_of(plan, {"base": [0.66, 0.67, 0.68], "other": other}))
    assert says in " ".join(report.verdict) + " "
    assert report.verdict[0].startswith("base: 3 of 3 seeds reach the aim, so it is reached.")
    assert report.arms[1].reached == tuple(seed for seed, score in enumerate(other, 1) if score > 0.65)


def test_one_seed_is_said_to_be_one(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    report = make_report(plan, results_of(plan, {"base": [0.5], "other": [0.9]}))
    assert report.verdict[0].startswith("Between the recipes other and base nothing can be shown with one seed.")
    assert "other is stronger than base: +" in report.verdict[0]


def test_an_unfinished_experiment_says_that_its_sentences_are_provisional(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    results = results_of(plan, {"base": [0.5, 0.51, 0.49], "other": [0.7, 0.71, 0.72]})
    assert len(make_report(plan, results).verdict) == 1
    (last, *_) = (one for one in results.runs if one.run == "plan-other-3")
    running = results.with_record(last.model_copy(update={"status": Status.RUNNING}))
    assert make_report(plan, running).verdict[1:] == (
        "1 of 6 runs are missing.",
        "Sentences before the last run are provisional: the level does not hold for looks in between.",
    )


def test_the_page_holds_everything_and_the_drawing_is_well_formed(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    publish(plan, results_of(plan, {"base": [0.5, 0.51, 0.49], "other": [0.7, 0.71, 0.72]}))
    page = (tmp_path / "plan.md").read_text()
    for text in (
        "It helps | much.",
        "at 5 % for the one comparison",
        "**Not registered**",
        "nashdex experiment run plan.toml",
        "More seeds.",
        "![Learning curves]",
    ):
        assert text in page
    assert "| other | 3 of 3 | " in page
    drawing = ET.parse(tmp_path / "plan.svg")  # noqa: S314 - made here
    assert len(drawing.findall(".//{http://www.w3.org/2000/svg}polygon")) == 2, "a band each arm"


def test_arms_with_the_same_curves_are_one_line_with_both_names(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    publish(plan, results_of(plan, {"base": [0.5, 0.6], "other": [0.5, 0.6]}))
    drawing = (tmp_path / "plan.svg").read_text()
    assert ">base, other</text>" in drawing
    assert drawing.count("<polygon") == 1


def test_results_are_kept_and_invalid_runs_do_not_count(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    options = ExperimentOptions(place=ThisMachine(str(tmp_path / "runs")), logs=tmp_path, say=lambda _: None)
    prepared = prepare(plan)
    done = results_of(plan, {"base": [0.5, 0.51, 0.49], "other": [0.7]})
    prints = {run.id: prepared[run.id].settings.fingerprint() for run in plan.runs}
    done = done.model_copy(
        update={"runs": tuple(one.model_copy(update={"settings": prints[one.run]}) for one in done.runs)}
    )
    path = plan.beside(RESULTS_SUFFIX)
    path.write_bytes(done.to_json())
    begun = begin(plan, options, prepared)
    assert read_results(path) == begun
    assert [record.status for record in begun.runs].count(Status.PLANNED) == 2

    text = (tmp_path / "plan.toml").read_text()
    (tmp_path / "plan.toml").write_text(text.replace("[measure]", '[invalid]\n"other/1" = "swapping"\n[measure]'))
    invalid = read_plan(tmp_path / "plan.toml")
    begun = begin(invalid, options, prepared)
    record = begun.record("plan-other-1")
    assert record is not None
    assert (record.status, record.reason) == (Status.INVALIDATED, "swapping")
    assert make_report(invalid, begun).comparisons[0].found == "no result"
    (tmp_path / "plan.toml").write_text(text)
    again = begin(plan, options, prepared).record("plan-other-1")
    assert again is not None
    assert again.status is Status.COMPLETED


def test_a_run_that_is_valid_again_is_completed_only_if_all_was_measured(tmp_path: Path) -> None:
    """It may have been stopped, or have failed, between its matches and its exploiter."""
    plan = plan_of(tmp_path, more='[measure.exploiter]\n[invalid]\n"other/1" = "a fault"\n')
    options = ExperimentOptions(place=ThisMachine(str(tmp_path / "runs")), logs=tmp_path, say=lambda _: None)
    prepared = prepare(plan)
    fingerprint = prepared["plan-other-1"].settings.fingerprint()
    record = results_of(plan, {"base": [], "other": [0.7]}).runs[0]
    failed = record.model_copy(update={"settings": fingerprint, "status": Status.FAILED, "reason": "no exploiter"})
    plan.beside(RESULTS_SUFFIX).write_bytes(Results(experiment="plan", began="now", runs=(failed,)).to_json())
    assert begin(plan, options, prepared).record("plan-other-1") == failed.model_copy(
        update={"status": Status.INVALIDATED, "reason": "a fault"}
    )
    plan.path.write_text(plan.path.read_text().replace('"other/1"', '# "other/1"'))
    plan = read_plan(plan.path)
    begun = begin(plan, options, prepared)
    again = begun.record("plan-other-1")
    assert again is not None
    assert again.status is Status.PLANNED
    assert make_report(plan, begun).comparisons[0].found == "no result"


def test_the_page_gives_settings_of_all_arms_once(tmp_path: Path) -> None:
    common = 'follow_ups = ["More seeds."]\nsettings = { "evaluate.battles_per_pair" = 20 }'
    plan = plan_of(tmp_path)
    plan.path.write_text(plan.path.read_text().replace('follow_ups = ["More seeds."]', common))
    plan = read_plan(plan.path)
    text = page(make_report(plan, results_of(plan, {"base": [0.5], "other": [0.6]})))
    assert text.count("evaluate.battles_per_pair=20") == 1
    assert "- every arm: `evaluate.battles_per_pair=20`\n- `base`: no more\n" in text
    assert "- `other`: `train.oracle.learning_rate=0.001`\n" in text


def test_the_page_names_the_run_in_the_store_of_an_arm_that_shares_one(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    plan.path.write_text(plan.path.read_text() + '[[arms]]\nname = "mixture"\nplays = "mixture"\n')
    plan = read_plan(plan.path)
    options = ExperimentOptions(place=ThisMachine(str(tmp_path / "runs")), logs=tmp_path, say=lambda _: None)
    text = page(make_report(plan, begin(plan, options, prepare(plan))))
    assert "| base | 2 | `plan-base-2` | planned |" in text
    assert "| mixture | 2 | `plan-base-2` | planned |" in text
    assert "`plan-mixture-2`" not in text


EXPERIMENTS = Path("configs") / "experiments"


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / EXPERIMENTS).glob("*.md")))
def test_the_pages_in_the_repository_are_what_the_command_prints(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Renewed by ``nashdex experiment report configs/experiments/NAME.toml``. The page in docs/research quotes it."""
    monkeypatch.chdir(ROOT)
    plan = read_plan(EXPERIMENTS / f"{name}.toml")
    results = read_results(plan.beside(RESULTS_SUFFIX))
    assert results is not None
    assert results.registration is not None
    report = make_report(plan, results)
    assert plan.beside(".md").read_text() == page(report, f"{name}.svg")
    research = " ".join(Path(f"docs/research/{name}.md").read_text().split())
    for sentence in report.verdict:
        assert sentence in research
