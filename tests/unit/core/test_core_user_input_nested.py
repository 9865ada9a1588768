"""Nested mappings."""

from nashdex.core.user_input import flatten, merge


def test_mappings_are_merged_and_anything_else_is_replaced() -> None:
    base = {"a": {"b": 1, "c": {"d": 2}}, "e": "x", "f": [1, 2]}
    over = {"a": {"c": {"d": 3, "g": 4}}, "e": {"h": 5}, "f": [3]}
    assert merge(base, over) == {"a": {"b": 1, "c": {"d": 3, "g": 4}}, "e": {"h": 5}, "f": [3]}
    assert base["a"] == {"b": 1, "c": {"d": 2}}, "the base stays as it is"
    assert merge({"a": {"b": 1}}, {"a": "name"}) == {"a": "name"}


def test_leaves_have_dotted_keys() -> None:
    assert dict(flatten({"a": {"b": 1, "c": {"d": 2}}, "e": 3})) == {"a.b": 1, "a.c.d": 2, "e": 3}
