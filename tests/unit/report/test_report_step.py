"""The report step on runs whose strengths are known: its numbers follow from the documents of the run alone."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

import nashdex
from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.metagame.analysis.solving import EmpiricalGame, solve_game
from nashdex.metagame.evidence.estimates import cell_intervals
from nashdex.metagame.evidence.ledger import LEDGER
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.population import newest
from nashdex.metagame.solvers.registry import meta_solver
from nashdex.report import step as report_step
from nashdex.report.assembly.evidence import sampled_embedding
from nashdex.report.assembly.iterations import CURVE_POINTS, thinned
from nashdex.report.assembly.report import assemble
from nashdex.report.document import Embedding, Report, policy_names, replays_to_embed
from nashdex.report.page.render import render_page, typeset
from nashdex.report.page.views.matrix import matrix_view
from nashdex.report.page.views.policies import battle_to_watch
from nashdex.report.sources import read_iteration, read_manifests
from nashdex.settings.opponents import SelfPlaySettings
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.attempt import Attempt, find_manifest
from nashdex.store.protocol import ObjectStore
from support.made_runs import TRAINED_ELO, made_settings, make_iteration, trained_policy
from support.tournaments import matrix

ITERATIONS = 3
BASE, BEST = trained_policy(0), trained_policy(2)


def make_run(directory: Path, settings: RunSettings) -> ObjectStore:
    store = open_store(str(directory)).at("made-run")
    for iteration in range(settings.iterations):
        make_iteration(store, settings, iteration)
        report_step.run(store, settings, iteration, 0)
    return store


def read_report(store: ObjectStore, iteration: int = ITERATIONS - 1) -> Report:
    return Report.from_json(store.get(keys.published(iteration, keys.REPORT)), "report.json")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ObjectStore:
    return make_run(tmp_path_factory.mktemp("store"), made_settings(iterations=ITERATIONS))


def test_payoffs_are_the_ledgers_counts_in_order_of_rating(store: ObjectStore) -> None:
    report = read_report(store)
    counted = SampledCounts.from_json(store.get(keys.published(2, keys.INTERACTION_MATRIX)), "matrix")
    order = report.payoffs.policies
    low, high = cell_intervals(counted.tally)
    assert report.payoffs.cells is not None
    assert sorted(order) == sorted(counted.policies)
    assert [row.id for row in report.policies] == list(order)
    ratings = [row.rating.elo.value for row in report.policies]
    assert ratings == sorted(ratings, reverse=True)
    for one, row in zip(order, report.payoffs.cells, strict=True):
        for other, cell in zip(order, row, strict=True):
            i, j = counted.policies.index(one), counted.policies.index(other)
            if one == other:
                assert cell is None
                continue
            assert cell is not None
            assert (cell.wins, cell.draws, cell.losses) == (counted.wins[i][j], counted.draws[i][j], counted.wins[j][i])
            assert (cell.rate.low, cell.rate.high) == (low[i, j], high[i, j])
            assert cell.effective_battles == counted.tally.effective_games()[i, j]


def test_every_iteration_has_its_row(store: ObjectStore) -> None:
    report = read_report(store)
    assert [row.iteration for row in report.iterations] == [0, 1, 2]
    assert [row.oracle for row in report.iterations] == ["clone", "ppo", "ppo"]
    for iteration, row in enumerate(report.iterations):
        published = json.loads(store.get(keys.published(iteration, keys.META_STRATEGY)))
        assert {p.policy: p.probability.value for p in row.meta_strategy} == published["meta_strategy"]
        entropy = -sum(p * math.log(p) for p in published["meta_strategy"].values() if p)
        assert row.entropy.value == pytest.approx(entropy)
        assert row.entropy.low <= row.entropy.value <= row.entropy.high
        assert row.new_policies == (trained_policy(iteration),)
        assert row.collection.throughput.battles == 60
        assert row.collection.throughput.seconds == 5.0
        assert row.collection.throughput.battles_per_second == 60 / 5.0
        interval = row.collection.throughput.battles_per_second_interval
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx((9.323, 15.445), abs=1e-3)  # of 60 battles, over 5 s
        assert row.collection.throughput.decisions_per_cpu_second == 3000 / 16.0
        assert row.collection.throughput.failures == {"deadline": 1}
        assert row.collection.throughput.rejected_choices == 6
        assert sum(o.wins + o.draws + o.losses for o in row.collection.opponents) == 60
        analysis = json.loads(store.get(keys.published(iteration, keys.META_GAME_ANALYSIS)))["exploitability"]
        told = {e.estimator: e.value for e in row.exploitability}
        assert told == {name: estimate["value"] for name, estimate in analysis.items() if estimate is not None}
    assert [len(row.meta_strategy) for row in report.iterations] == [4, 5, 6]


def test_versions_are_those_that_the_run_was_made_with(store: ObjectStore) -> None:
    versions = read_report(store).versions
    assert versions["pokemon-showdown"] == "0.11.11"
    assert versions["nashdex"] == nashdex.__version__


def test_policies_of_one_name_are_told_apart(store: ObjectStore) -> None:
    rows = [row.model_copy(update={"name": row.name.rstrip(" 012")}) for row in read_report(store).policies]
    names = policy_names(rows)
    assert len(set(names.values())) == len(rows)
    assert (names[PolicyId("random")], names[BASE]) == ("random", "clone of heuristic")
    assert names[BEST] == f"best response {BEST[:6]}"


def test_one_name_of_two_networks_that_play_differently_is_told_apart(store: ObjectStore) -> None:
    """A target of another run may have its exploiter's name, and be played by another rule."""
    row = next(row for row in read_report(store).policies if row.id == BEST)
    greedy = row.model_copy(update={"id": PolicyId("p0123456789abcdef@greedy"), "short_id": "p01234@greedy"})
    assert list(policy_names([row, greedy]).values()) == [f"{row.name} {BEST[:6]}", f"{row.name} p01234@greedy"]
    same = row.model_copy(update={"id": PolicyId(f"{BEST}@greedy"), "short_id": f"{BEST[:6]}@greedy"})
    assert list(policy_names([row, same]).values()) == [row.name, f"{row.name} @greedy"]


def test_the_first_iteration_knows_no_gap_and_no_progress(store: ObjectStore) -> None:
    report = read_report(store, 0)
    assert report.progress is None
    assert {e.estimator for e in report.iterations[0].exploitability} == {"restricted", "legacy_dominance_gap"}
    assert report.findings[0].startswith("Clone of heuristic, where training begins, scores ")
    assert "The mixture so far" in report.findings[2]


def test_a_report_leads_with_what_was_trained(store: ObjectStore) -> None:
    report = read_report(store)
    trained = report.trained
    assert trained is not None
    assert (trained.policy, trained.base) == (BEST, BASE)
    assert report.payoffs.cells is not None
    row = report.payoffs.cells[report.payoffs.policies.index(BEST)]
    against = dict(zip(report.payoffs.policies, row, strict=True))
    anchors = {policy.id for policy in report.policies if policy.anchor}
    assert {score.opponent for score in trained.scores} == anchors - {BEST} > {BASE}
    assert all((cell := against[score.opponent]) and score.rate == cell.rate for score in trained.scores)
    newest, began, progress, mixture, *_ = report.findings
    assert "the newest trained policy, scores " in newest
    assert "against clone of heuristic" in newest
    assert began.startswith("Training began from clone of heuristic, which scored ")
    assert "the run's first network" in progress
    assert mixture.startswith("The final mixture ")


def test_a_policy_of_another_seed_did_not_begin_where_the_first_network_did(store: ObjectStore) -> None:
    """With several seeds, iteration 0 has several clones. The newest policy here descends from none of the others."""
    report, settings = read_report(store), made_settings(iterations=ITERATIONS)
    sources = read_iteration(store, read_manifests(store, settings, ITERATIONS - 1))
    entries = [
        entry.model_copy(update={"parent": None}) if entry.id == BEST else entry
        for entry in sources.population.policies
    ]
    apart = replace(sources, population=sources.population.model_copy(update={"policies": tuple(entries)}))
    found = assemble(report.run, settings, apart, rows=report.iterations, replays=())
    assert found.trained is not None
    assert (found.trained.policy, found.trained.base) == (BEST, None)
    assert "where training begins, scores " in found.findings[0]
    assert "Training began from" not in " ".join(found.findings)


def test_of_one_iterations_policies_the_highest_rated_is_the_newest(store: ObjectStore) -> None:
    """As ``#newest`` names it: with several seeds, an iteration trains several policies."""
    report, settings = read_report(store), made_settings(iterations=ITERATIONS)
    sources = read_iteration(store, read_manifests(store, settings, ITERATIONS - 1))
    ratings = {policy: rating.elo for policy, rating in sources.analysis.ratings.items()}
    assert ratings[trained_policy(1)] < ratings[BEST]
    entries = [
        entry.model_copy(update={"iteration": 2}) if entry.id == trained_policy(1) else entry
        for entry in sources.population.policies
    ]
    together = replace(sources, population=sources.population.model_copy(update={"policies": tuple(entries)}))
    found = assemble(report.run, settings, together, rows=report.iterations, replays=())
    assert found.trained is not None
    assert found.trained.policy == newest(entries, ratings).id == BEST


def test_the_battle_to_watch_is_one_of_the_newest_policy(store: ObjectStore) -> None:
    report = read_report(store)
    assert battle_to_watch(report, embedded=()) is None
    embedded = {replay.name for replay in report.replays}
    battle = battle_to_watch(report, embedded)
    assert battle is not None
    assert BEST in battle.policies
    met = {policy for replay in report.replays if BEST in replay.policies for policy in replay.policies} - {BEST}
    strongest = next(policy for policy in report.payoffs.policies if policy in met)
    assert strongest in battle.policies


def test_progress_is_measured_from_where_training_began(tmp_path: Path) -> None:
    store = make_run(tmp_path, made_settings(iterations=ITERATIONS, battles_per_pair=400, replays_per_pair=0))
    progress = read_report(store).progress
    assert progress is not None
    assert (progress.best, progress.base) == (BEST, BASE)
    true_difference = TRAINED_ELO[2] - TRAINED_ELO[0]
    assert abs(progress.elo.value - true_difference) < 3 * progress.standard_error
    assert 0 < progress.standard_error < 50


def test_anchors_are_the_scripted_policies_and_the_first_trained_one(store: ObjectStore) -> None:
    report = read_report(store)
    anchors = {"random", "max-power", "heuristic", BASE}
    assert {row.id for row in report.policies if row.anchor} == anchors
    strategy = {p.policy: p.probability.value for p in report.iterations[-1].meta_strategy}
    assert report.payoffs.cells is not None
    cells = dict(zip(report.payoffs.policies, report.payoffs.cells, strict=True))
    assert {score.opponent for score in report.anchor_scores} <= anchors
    for score in report.anchor_scores:
        place = report.payoffs.policies.index(score.opponent)
        expected = 0.0
        for policy, share in strategy.items():
            cell = cells[policy][place]
            expected += share * (0.5 if cell is None else cell.rate.value)
        assert score.rate.value == pytest.approx(expected)
        assert score.rate.low <= score.rate.value <= score.rate.high


def test_curves_keep_their_ends_and_stay_short(store: ObjectStore) -> None:
    (training,) = read_report(store).iterations[2].training
    names = {curve.name for curve in training.curves}
    assert {"kl_round_start", "kl_reference", "kl_iteration_start", "entropy", "clip_fraction"} <= names
    for curve in training.curves:
        assert len(curve.updates) == len(curve.values) == CURVE_POINTS
        assert (curve.updates[0], curve.updates[-1]) == (0, 299)
    cloned = {curve.name: curve for curve in read_report(store).iterations[0].training[0].curves}
    assert cloned["validation_loss"].updates == (49, 99, 149, 199, 249, 299)
    assert thinned([(0, 1.0), (1, 2.0)]) == [(0, 1.0), (1, 2.0)]


def test_replays_name_their_logs_and_who_won(store: ObjectStore) -> None:
    report = read_report(store)
    assert len(report.replays) == 15 * 2, "two of each match-up"
    assert len({replay.name for replay in report.replays}) == len(report.replays)
    for replay in report.replays:
        assert len(store.get(replay.key)) == replay.size_bytes
        assert replay.winner is None or replay.winner in replay.policies


def test_when_room_is_short_every_match_up_keeps_one_replay(store: ObjectStore) -> None:
    report = read_report(store)
    largest = max(replay.size_bytes for replay in report.replays)
    chosen = replays_to_embed(report.replays, max_bytes=15 * largest)
    assert len({frozenset(replay.policies) for replay in chosen}) == 15
    page = render_page(report, {replay.name: "|win|a" for replay in chosen})
    assert f"it contains {len(chosen)} of 30 replays" in page


def test_a_finished_step_returns_at_once_and_changes_nothing(store: ObjectStore) -> None:
    before = store.get(keys.published(2, keys.REPORT))
    first = report_step.run(store, made_settings(iterations=ITERATIONS), 2, 0)
    assert report_step.run(store, made_settings(iterations=ITERATIONS), 2, 0) == first
    assert store.get(keys.published(2, keys.REPORT)) == before


def test_a_new_attempt_publishes_the_same_bytes(tmp_path: Path) -> None:
    settings = made_settings(iterations=1)
    store = make_run(tmp_path, settings)
    documents = [keys.published(0, name) for name in (keys.REPORT, keys.REPORT_PAGE)]
    before = [store.get(key) for key in documents]
    store.delete(keys.manifest(0, StepName.REPORT, 0))
    report_step.run(store, settings, 0, 0)
    assert [store.get(key) for key in documents] == before


def test_earlier_iterations_told_before_are_told_alike(tmp_path: Path) -> None:
    """The report before saves the reading of earlier iterations; without it, or with a broken one, nothing differs."""
    settings = made_settings(iterations=ITERATIONS)
    store = make_run(tmp_path, settings)
    document = keys.published(2, keys.REPORT)
    before = store.get(document)
    for key in [key for key in store.list("iterations/0001/report/") if key.endswith("report.json")]:
        store.put(key, b"{}")
    store.delete(keys.manifest(2, StepName.REPORT, 0))
    report_step.run(store, settings, 2, 0)
    assert store.get(document) == before
    for key in [key for key in store.list("iterations/0001/report/") if key.endswith("report.json")]:
        store.delete(key)
    store.delete(keys.manifest(2, StepName.REPORT, 0))
    report_step.run(store, settings, 2, 0)
    assert store.get(document) == before


def test_what_ran_again_is_read_again(tmp_path: Path) -> None:
    settings = made_settings(iterations=2)
    store = make_run(tmp_path, settings)
    manifest = find_manifest(store, 0, StepName.TRAIN, 0)
    assert manifest is not None
    store.delete(keys.manifest(0, StepName.TRAIN, 0))
    store.delete(keys.manifest(1, StepName.REPORT, 0))
    again = Attempt(store, 0, StepName.TRAIN, 0)
    result = TrainingResult.from_json(store.get(manifest.objects[TRAINING_RESULT].key), "result")
    again.write(TRAINING_RESULT, result.model_copy(update={"num_decisions": 4321}).to_json())
    again.finish({})
    report_step.run(store, settings, 1, 0)
    assert read_report(store, 1).iterations[0].training[0].num_decisions == 4321


def test_ladder_ratings_stand_beside_the_ratings(store: ObjectStore) -> None:
    rows = {row.id: row for row in read_report(store).policies}
    for row in rows.values():
        assert row.ladder is not None
        assert 0 < row.ladder.glicko_deviation < 350
        assert 0 < row.ladder.gxe < 100
    weak, strong = rows[PolicyId("random")].ladder, rows[BEST].ladder
    assert weak is not None
    assert strong is not None
    assert weak.online_elo < strong.online_elo
    assert weak.gxe < 50 < strong.gxe


def test_gates_and_opponent_rules_are_told(tmp_path: Path) -> None:
    settings = made_settings(iterations=2, gated=True)
    store = open_store(str(tmp_path)).at("made-run")
    for iteration in range(2):
        make_iteration(store, settings, iteration, elo={trained_policy(1): 100.0})
        report_step.run(store, settings, iteration, 0)
    report = read_report(store, 1)
    assert [[gate.decision for gate in row.gates] for row in report.iterations] == [["exempt"], ["reject"]]
    assert report.iterations[1].rule == "meta-strategy"
    assert report.iterations[1].new_policies == ()
    assert "No policy joined" in " ".join(report.findings)
    page = render_page(report, {})
    assert "rejected" in page
    assert typeset("best response 1") in page, "who was rejected has a name, though it is no member"


def test_training_against_no_mixture_is_not_judged_as_a_best_response(tmp_path: Path) -> None:
    settings = made_settings(iterations=2, replays_per_pair=0).model_copy(update={"opponents": SelfPlaySettings()})
    findings = read_report(make_run(tmp_path, settings), 1).findings
    assert "Training was against itself, not against the mixture, so there is no best-response gap." in findings


def test_an_adaptive_schedule_is_measured_against_the_full_table(tmp_path: Path) -> None:
    more = {"first_battles": 10, "adaptive_battles": 20}
    settings = made_settings(iterations=2, evaluate=more, replays_per_pair=0)
    payoffs = read_report(make_run(tmp_path, settings), 1).payoffs
    assert payoffs.full_table_battles == 10 * 40
    assert payoffs.battles < payoffs.full_table_battles
    assert (
        read_report(make_run(tmp_path / "uniform", made_settings(iterations=1)), 0).payoffs.full_table_battles is None
    )


def cyclic_embedding(score: int) -> Embedding | None:
    """Return the picture of three policies that beat each other in a circle, ``score`` times of 200."""
    three = (PolicyId("heuristic"), PolicyId("max-power"), PolicyId("random"))
    wins = [[{0: 0, 1: score, 2: 200 - score}[(column - row) % 3] for column in range(3)] for row in range(3)]
    counted = matrix(three, wins, [[0 if row == column else 200 for column in range(3)] for row in range(3)])
    _, analysis = solve_game(EmpiricalGame(counted), meta_solver("nash"), num_draws=100, seed=1)
    return sampled_embedding(analysis, counted)


def test_a_cycle_is_pictured_only_where_it_is_no_chance() -> None:
    picture = cyclic_embedding(140)
    assert picture is not None
    assert [point.policy for point in picture.points] == ["heuristic", "max-power", "random"]
    assert picture.share == pytest.approx(1.0)
    radii = [math.hypot(point.x, point.y) for point in picture.points]
    assert max(radii) == pytest.approx(min(radii))
    assert cyclic_embedding(103) is None, "noise has discs too"


def test_a_made_up_payoff_is_marked(store: ObjectStore) -> None:
    report = read_report(store)
    assert report.payoffs.cells is not None
    first, *others = report.payoffs.cells
    unplayed = report.payoffs.model_copy(update={"cells": ((None, None, *first[2:]), *others)})
    made_up = unplayed.model_copy(update={"imputed": (tuple(sorted(report.payoffs.policies[:2])),)})
    for payoffs, mark in ((unplayed, "unplayed"), (made_up, "imputed")):
        cell = matrix_view(report.model_copy(update={"payoffs": payoffs})).rows[0][1]
        assert (cell.title, cell.value) == (mark, None)


def test_an_unfinished_iteration_names_the_step_to_run(tmp_path: Path) -> None:
    settings = made_settings(iterations=1)
    store = open_store(str(tmp_path)).at("made-run")
    with pytest.raises(DataError, match="nashdex step plan"):
        report_step.run(store, settings, 0, 0)
    assert not store.exists(keys.published(0, keys.REPORT))


def test_an_altered_ledger_is_refused(tmp_path: Path) -> None:
    settings = made_settings(iterations=1)
    store = open_store(str(tmp_path)).at("made-run")
    make_iteration(store, settings, 0)
    (ledger, _) = [key for key in store.list("iterations/0000/evaluate/") if key.endswith(LEDGER)]
    data = store.get(ledger)
    store.put(ledger, data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(DataError, match="sha256"):
        report_step.run(store, settings, 0, 0)


def test_write_page_copies_the_newest_page(store: ObjectStore, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    report_step.write_page(store, output)
    assert output.read_bytes() == store.get(keys.published(2, keys.REPORT_PAGE))
    assert list(tmp_path.iterdir()) == [output]


def test_write_page_says_what_is_missing(store: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no report yet"):
        report_step.write_page(open_store(str(tmp_path)).at("empty"), tmp_path / "report.html")
    with pytest.raises(DataError, match="cannot be written"):
        report_step.write_page(store, tmp_path / "missing" / "report.html")


def test_an_attempt_that_was_suspended_until_another_one_was_done_publishes_the_same_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_run(tmp_path, made_settings(iterations=2))
    published = {key: store.get(key) for key in store.list("iterations/") if "/report.json" in key}
    monkeypatch.setattr(report_step, "find_done", lambda *_: None)  # it looked before
    for iteration in range(2):
        report_step.run(store, made_settings(iterations=2), iteration, 0)
    assert {key: store.get(key) for key in published} == published
