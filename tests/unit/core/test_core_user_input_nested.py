"""Nested mappings, and modules that are imported late."""

import subprocess
import sys

from nashdex.core.user_input.nested import flatten, merge


def test_mappings_are_merged_and_anything_else_is_replaced() -> None:
    base = {"a": {"b": 1, "c": {"d": 2}}, "e": "x", "f": [1, 2]}
    over = {"a": {"c": {"d": 3, "g": 4}}, "e": {"h": 5}, "f": [3]}
    assert merge(base, over) == {"a": {"b": 1, "c": {"d": 3, "g": 4}}, "e": {"h": 5}, "f": [3]}
    assert base["a"] == {"b": 1, "c": {"d": 2}}, "the base stays as it is"
    assert merge({"a": {"b": 1}}, {"a": "name"}) == {"a": "name"}


def test_leaves_have_dotted_keys() -> None:
    assert dict(flatten({"a": {"b": 1, "c": {"d": 2}}, "e": 3})) == {"a.b": 1, "a.c.d": 2, "e": 3}


LAZY = """
import sys
from nashdex.core.lazy import LazyModule
decimal = LazyModule("decimal")
print("decimal" in sys.modules, decimal.Decimal("0.5") + 1, "decimal" in sys.modules)
"""


def test_a_lazy_module_is_imported_when_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", LAZY], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "1.5", "True"]
