"""Mixtures follow ids, whatever their order."""

from collections import Counter

import numpy as np
import pytest

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.policies.mixture import Mixture

WEIGHTS = {PolicyId("pb"): 0.5, PolicyId("random"): 0.3, PolicyId("pa"): 0.2}


def test_draws_are_by_id_however_the_weights_are_ordered() -> None:
    """Weights that were applied by position would follow another policy after a reorder."""
    one, other = Mixture(WEIGHTS), Mixture(dict(sorted(WEIGHTS.items(), reverse=True)))
    uniforms = np.random.default_rng(0).random(500).tolist()
    assert [one.draw(u) for u in uniforms] == [other.draw(u) for u in uniforms]


def test_draws_have_the_given_frequencies() -> None:
    mixture = Mixture(WEIGHTS)
    drawn = Counter(mixture.draw((i + 0.5) / 1000) for i in range(1000))
    assert drawn == {"pb": 500, "random": 300, "pa": 200}


def test_a_policy_without_weight_is_never_drawn() -> None:
    mixture = Mixture({PolicyId("a"): 0.0, PolicyId("b"): 1.0, PolicyId("c"): 0.0})
    assert mixture.support == ("b",)
    assert {mixture.draw(u) for u in (0.0, 0.5, float(np.nextafter(1, 0)))} == {"b"}


def test_rounding_errors_leave_no_gap_at_the_end() -> None:
    mixture = Mixture({PolicyId(f"p{i}"): 0.1 for i in range(10)})
    assert mixture.draw(float(np.nextafter(1, 0))) == "p9"
    assert mixture.draw(0.0) == "p0"


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({}, "sum to 0"),
        ({"a": 0.5, "b": 0.4}, "sum to 0.9"),
        ({"a": 1.5, "b": -0.5}, r"wrong are \{'b': -0.5\}"),
        ({"a": float("nan")}, "wrong are"),
        ({"a": float("inf")}, "wrong are"),
    ],
)
def test_what_is_no_distribution_is_refused(weights: dict[PolicyId, float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Mixture(weights)
