"""The charts of learning curves: common ones, and one for each other metric that an oracle declares."""

from nashdex.core.ids import PolicyId
from nashdex.report.document import Curve, Training
from nashdex.report.page.views.learning import constant_curves, learning_views


def trained_by(oracle: str, **curves: tuple[float, ...]) -> Training:
    """Return one trained policy with these values by curve."""
    return Training(
        policy=PolicyId("p1"),
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
