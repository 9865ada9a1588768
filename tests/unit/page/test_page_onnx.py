"""What an export says where its packages are missing."""

import sys

import pytest

from nashdex.core.errors import ConfigurationError
from nashdex.policies.networks.actor_critic import make_network
from nashdex.settings.networks import SlotsSettings
from nashdex_play.page.onnx import export_network
from support.battle_spaces import battle_space


@pytest.mark.parametrize("package", ["onnx", "onnxscript"])
def test_without_a_package_that_exports_the_extra_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("onnx", "onnxscript"):
        monkeypatch.setitem(sys.modules, name, None if name == package else sys)
    with pytest.raises(ConfigurationError, match=rf"package {package}; .*pip install 'nashdex\[export\]'"):
        export_network(make_network(battle_space(), SlotsSettings()))
