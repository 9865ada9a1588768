"""Packages of extras: imported when they are needed, and named when they are missing."""

import json

import pytest

from nashdex.core.errors import ConfigurationError
from nashdex.core.extras import required


def test_a_module_and_an_attribute_are_returned() -> None:
    assert required("json", extra="local", needed_by="a test") is json
    assert required("json:loads", extra="local", needed_by="a test") is json.loads


@pytest.mark.parametrize("name", ["nashdex_absent", "nashdex_absent.inner:function"])
def test_a_missing_package_is_named_with_its_extra(name: str) -> None:
    message = r"a frame needs the Python package nashdex_absent; install it with: pip install 'nashdex\[pandas\]'"
    with pytest.raises(ConfigurationError, match=message):
        required(name, extra="pandas", needed_by="a frame")
