"""What a field needs of another one of its section, and the lines about values that are set in vain."""

from typing import Annotated

import pytest

from nashdex.core.section import Needs, Section, without_effect

VAIN_SIZE = (
    "train.pool.size has no effect with train.pool.share = 0.0: leave it out, or give train.pool.share another value"
)


class Pool(Section):
    share: float = 0.2
    size: Annotated[int, Needs("share")] = 20


class Training(Section):
    test: str = "none"
    battles: Annotated[int, Needs("test", "sprt")] = 100
    pool: Pool = Pool()


@pytest.mark.parametrize(
    "values",
    [{}, {"battles": 100}, {"test": "sprt", "battles": 7}, {"pool": {"size": 3}}, {"pool": {"share": 0}}],
)
def test_a_default_or_a_value_whose_need_is_met_is_no_problem(values: dict[str, object]) -> None:
    assert list(without_effect(Training.model_validate(values))) == []


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (
            {"battles": 7},
            "train.battles has no effect with train.test = 'none': leave it out, or give train.test 'sprt'",
        ),
        (
            {"pool": {"share": 0, "size": 3}},
            VAIN_SIZE,
        ),
    ],
)
def test_a_value_in_vain_is_one_line_with_both_keys_and_what_to_do(values: dict[str, object], line: str) -> None:
    assert list(without_effect(Training.model_validate(values), "train.")) == [line]
