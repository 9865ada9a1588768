"""What is wrong with a document, in one line that names the key."""

import re
from typing import Annotated, Literal, Self

import pytest
from pydantic import Field, model_validator

from nashdex.core.documents import Document, Model
from nashdex.core.errors import DataError


class _Circle(Model):
    kind: Literal["circle"]


class _Square(Model):
    kind: Literal["square"]


class _Drawing(Document):
    name: str = Field("one", min_length=1)
    sizes: tuple[int, ...] = Field((1, 2), min_length=1)
    shape: Annotated[_Circle | _Square, Field(discriminator="kind")] = _Circle(kind="circle")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.sizes) > 3:
            raise ValueError("it has more than three sizes; expected at most three")
        return self


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"sizes": []}', "sizes: expected at least 1 item, not 0"),
        ('{"sizes": 3}', "sizes: expected a list (got 3)"),
        ('{"sizes": ["many"]}', "sizes.0: expected an integer (got 'many')"),
        ('{"name": ""}', "name: expected at least 1 character (got '')"),
        ('{"shape": {"kind": "star"}}', "shape.kind: expected one of 'circle', 'square' (got 'star')"),
        ('{"shape": {}}', "shape.kind: missing; expected a value"),
        ('{"sizes": [1, 2, 3, 4]}', "it has more than three sizes; expected at most three"),
        ("3", "the document: must be an object (got 3)"),
    ],
)
def test_a_problem_is_one_line_under_its_key(text: str, message: str) -> None:
    with pytest.raises(DataError, match=f"^here is not a valid _Drawing: {re.escape(message)}$"):
        _Drawing.from_json(text.encode(), "here")


@pytest.mark.parametrize("number", ["1" * 21, "1" * 400, "-" + "1" * 5000])
def test_an_integer_that_no_array_holds_is_refused(number: str) -> None:
    with pytest.raises(DataError, match=r"^here has an integer of \d+ digits; expected 20 at most$"):
        _Drawing.from_json(f'{{"sizes": [{number}]}}'.encode(), "here")


def test_digits_that_are_no_integer_are_kept() -> None:
    name = f"{'1' * 64}, battle {'2' * 30}"
    assert _Drawing.from_json(f'{{"name": "{name}"}}'.encode(), "here").name == name
