"""The charts of learning curves: common ones, and one for each other metric that an oracle declares."""

from nashdex.core.ids import PolicyId
from nashdex.core.results import Evaluation
from nashdex.report.document import Curve, Training
from nashdex.report.page.views.learning import (
    ClonedGroup,
    cloned_groups,
    constant_curves,
    learning_views,
    strength_views,
)


def trained_by(oracle: str, **curves: tuple[float, ...]) -> Training:
    """Return one trained policy with these values by curve."""
    return Training(
        policy=PolicyId("p1"),
        kind="network",
        name="best response 1",
        parent=None,
        oracle=oracle,
        preset=None,
        reference="none",
        num_updates=10,
        num_decisions=100,
        num_parameters=12,
        rollbacks=0,
        seconds=1.0,
        summary={},
        curves=tuple(Curve(name=n, updates=tuple(range(len(v))), values=v) for n, v in curves.items()),
    )


def test_a_metric_that_only_the_oracle_knows_is_drawn_with_its_words() -> None:
    views = learning_views(trained_by("q-learning", exploration=(1.0, 0.5), best_response_value=(2.0, 1.0)))
    assert [view.text.title for view in views] == ["Exploration", "Best response value"]
    assert views[0].text.caption == "ε, the share of actions drawn uniformly"
    assert "Exploration by update" in views[0].svg


def test_an_oracle_s_own_words_win_where_a_name_is_common() -> None:
    """Q-learning has no critic, so its value loss is not the common one."""
    (view,) = learning_views(trained_by("q-learning", value_loss=(2.0, 1.0)))
    assert (view.text.title, view.text.caption) == ("Value loss", "mean squared error of the updated action values")
    (view,) = learning_views(trained_by("ppo", value_loss=(2.0, 1.0)))
    assert (view.text.title, view.text.caption) == ("Value loss", "of the critic")
    (view,) = learning_views(trained_by("q-learning", loss=(2.0, 1.0)))
    assert view.text.title == "Loss", "it clones nobody"


def test_a_metric_of_ppo_without_a_common_chart_is_drawn_with_its_words() -> None:
    (view,) = learning_views(trained_by("ppo", prediction_loss=(2.0, 1.0)))
    assert (view.text.title, view.text.caption) == ("Prediction loss", "cross-entropy of what the opponent chose, nats")


def test_curves_that_belong_together_share_a_chart() -> None:
    (view,) = learning_views(trained_by("clone", loss=(2.0, 1.0), validation_loss=(2.0, 1.5)))
    assert (view.text.title, len(view.legend)) == ("Cloning loss", 2)


def test_a_metric_of_an_oracle_that_is_not_installed_is_drawn_without_words() -> None:
    (view,) = learning_views(trained_by("elsewhere", best_payoff=(0.1, 0.2)))
    assert (view.text.title, view.text.caption) == ("Best payoff", "")


def test_a_constant_metric_is_a_line_of_text_and_no_chart() -> None:
    training = trained_by("q-learning", exploration=(0.5, 0.5))
    assert learning_views(training) == []
    assert [(curve.name, title) for curve, title in constant_curves(training)] == [("exploration", "exploration")]


def test_a_clone_of_replays_has_a_row_for_each_group_of_players_and_no_chart_of_them() -> None:
    values = {"loss": 1.0, "accuracy": 0.5, "decisions": 40.0}
    groups = ("replays_1200_1399", "replays_0800_0999", "replays_unrated", "metamon_grunt")
    summary = {f"validation_{name}_{group}": value for group in groups for name, value in values.items()}
    training = trained_by("clone", **{name: (value, value + 1) for name, value in summary.items()})
    assert learning_views(training) == constant_curves(training) == []
    rows = list(cloned_groups(training.model_copy(update={"summary": summary}), "metamon:grunt"))
    assert [row.players for row in rows] == [
        "metamon:grunt",
        "players of replays, rating 800 to 999",
        "players of replays, rating 1200 to 1399",
        "players of replays without a rating",
    ]
    assert rows[0] == ClonedGroup("metamon:grunt", 0.5, 1.0, 40)
    assert list(cloned_groups(trained_by("clone"), "heuristic")) == []


def evaluated(decisions: int, anchor: str, style: str, score: float) -> Evaluation:
    return Evaluation(
        decisions=decisions,
        cpu_seconds=decisions / 1000,
        anchor=anchor,
        style=style,
        score=score,
        low=score - 0.1,
        high=score + 0.1,
        battles=400,
        draws=0,
    )


def test_the_score_against_anchors_is_drawn_by_decisions_and_by_cpu_time_in_each_style() -> None:
    evaluations = tuple(
        evaluated(decisions, anchor, style, 0.4 + decisions / 2e7)
        for decisions in (0, 2_000_000, 4_000_000)
        for style in ("greedy", "sampled")
        for anchor in ("heuristic", "start")
    )
    views = strength_views(trained_by("ppo").model_copy(update={"evaluations": evaluations}))
    assert [view.text.title for view in views] == [
        f"Score against fixed anchors, {style} play, by {x}"
        for style in ("greedy", "sampled")
        for x in ("million decisions", "CPU minutes")
    ]
    for view, label in zip(views, ("million decisions", "CPU minutes") * 2, strict=True):
        assert f"by {label}" in view.svg
        assert [name for _, name in view.legend] == ["heuristic", "where training began"]
        assert view.svg.count("<polygon") == 2, "a band a curve"
        assert view.svg.count("<circle") == 6
    assert "0.600 [0.500, 0.700] against start after 4,000,000 decisions, 66.7 CPU minutes; 400 battles" in views[0].svg


def test_a_training_without_evaluations_has_no_such_chart() -> None:
    assert strength_views(trained_by("ppo")) == []
