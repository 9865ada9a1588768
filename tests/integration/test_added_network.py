"""A network of an installed package: the how-to page's own files, trained and played."""

import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import torch

from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.policies.networks.observed import Observed
from nashdex.store import open_store
from nashdex.store.documents import read_from_shards
from support.packages import install, run_nashdex
from support.pages import commands, titled_block
from support.spaces import tiny_space

pytestmark = pytest.mark.integration

PAGE = "how-to/new-network.md"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "kuhn-plain.toml").write_text(titled_block(PAGE, "kuhn-plain.toml"))
    project = tomllib.loads(titled_block(PAGE, "pyproject.toml"))["project"]
    sources = {name: titled_block(PAGE, name) for name in ("plain.py", "plain_network.py")}
    return install(tmp_path / "site", project["name"], sources, project["entry-points"])


@pytest.mark.slow
def test_an_added_network_is_trained_and_plays(site: Path) -> None:
    (command,) = commands(PAGE)
    done = run_nashdex(site, *command)
    assert done.returncode == 0, done.stderr
    store = open_store(str(site.parent / "runs" / "kuhn-plain"))
    (result,) = read_from_shards(store, 1, StepName.TRAIN, 1, TRAINING_RESULT, TrainingResult)
    assert result.num_updates > 0
    assert (site.parent / "runs" / "kuhn-plain" / "iterations" / "0001" / "report.html").exists()


def test_an_added_network_acts_as_it_trains(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(site))
    settings = importlib.import_module("plain").PlainSettings()
    space = tiny_space()
    network = importlib.import_module("plain_network").PlainNetwork(space, settings)
    torch.nn.init.normal_(network.actor[2].weight)
    observations = np.random.default_rng(0).normal(size=(5, space.observation_size)).astype(np.float32)
    trained = network.logits(torch.from_numpy(observations)).detach().numpy()
    assert np.ptp(trained) > 0.1
    np.testing.assert_allclose(network.for_acting().logits(Observed(observations)), trained, rtol=1e-6)


def test_settings_of_an_added_network_are_checked(site: Path) -> None:
    refused = run_nashdex(site, "config", "show", "kuhn-plain.toml", "--set", "network.hidden_size=0")
    assert refused.returncode == 64
    assert "network.hidden_size: must be greater than or equal to 1" in refused.stderr


def test_declaring_a_network_does_not_import_torch(site: Path) -> None:
    program = "import sys, plain; sys.exit('torch' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(site)}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == 0
