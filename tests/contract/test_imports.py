"""What an image does not install, its code does not import; and what everybody imports is light."""

import ast
import re
import subprocess
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from nashdex.core.steps import StepName
from nashdex.planning.dag import MODULES

pytestmark = pytest.mark.contract

ROOT = Path(__file__).parents[2]
HEAVY = ["torch", "boto3", "botocore", "poke_env", "kubernetes", "argo_workflows", "scipy", "pyspiel"]
IMPORT_NAMES = {"argo-workflows": "argo_workflows", "open-spiel": "pyspiel", "poke-env": "poke_env"}
"""Of distributions that are imported under another name."""

# Imports the modules named by the arguments, where the packages named in the first are not installed.
WITHOUT = """
import importlib, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"{name} is not installed in this image")

absent = set(sys.argv[1].split(","))
sys.meta_path.insert(0, Absent())
for module in sys.argv[2:]:
    importlib.import_module(module)
"""
LOADED = """
import importlib, sys
for module in sys.argv[1:]:
    importlib.import_module(module)
print(*{name.partition(".")[0] for name in sys.modules})
"""


STEPS = [*(set(MODULES.values()) - {MODULES[StepName.ACT]}), "nashdex.policies.sources", "nashdex.policies.tables"]
"""All of a run whose oracle trains no network: torch, which takes seconds to import, must not be among it."""


def packages_of(extra: str) -> set[str]:
    """Return the import names of what an extra of pyproject.toml installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = set()
    for requirement in project["optional-dependencies"][extra]:
        if inner := re.match(r"nashdex\[(.*)\]", requirement):
            found |= set().union(*(packages_of(name) for name in inner[1].split(",")))
        else:
            name = re.split(r"[^A-Za-z0-9_-]", requirement)[0]
            found.add(IMPORT_NAMES.get(name, name))
    return found


def modules_of(package: str) -> list[str]:
    """Return every module of a package, named by its folder below services."""
    source = ROOT / "services"
    return [
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted((source / package).rglob("*.py"))
    ]


TRAINING = {
    f"nashdex.oracles.{name}"
    for name in ("clone", "distil", "global_psro", "ppo.loss", "ppo.processes", "ppo.training", "rounds", "untrained")
}
"""Imported late, by a training: the registry names them by string paths."""
CLUSTER_CLIENTS = {f"nashdex_cluster.{name}" for name in ("argo_server", "connection", "kubernetes_api", "pod_logs")}
"""Imported late, by commands that talk to a cluster."""


@pytest.mark.parametrize(
    ("image", "modules"),
    [
        ("collector", ["nashdex_cli.cli", "nashdex.collector.step", "nashdex.actor.step"]),
        ("evaluator", ["nashdex_cli.cli", "nashdex.evaluator.step"]),
        (
            "trainer",
            [
                "nashdex_cli.cli",
                "nashdex.trainer.step",
                "nashdex.learning.updates.training",
                "nashdex.learning.rounds.players",
            ],
        ),
        (
            "control",
            [
                "nashdex_cli.cli",
                "nashdex.solver.step",
                "nashdex.report.step",
                "nashdex_cluster.exporter.service",
                "nashdex.planning.step",
                "nashdex.local.runner",
            ],
        ),
    ],
)
def test_an_image_needs_only_what_its_extra_installs(image: str, modules: list[str]) -> None:
    absent = packages_of("local") - packages_of(image)
    assert absent
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT, ",".join(sorted(absent)), *modules], check=False, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("modules", "allowed"),
    [
        (["nashdex_cli.cli"], []),
        (modules_of("nashdex/core"), []),
        ([module for module in modules_of("nashdex/store") if module != "nashdex.store.s3"], []),
        (modules_of("nashdex/telemetry"), []),
        (modules_of("nashdex/trajectory"), []),
        (["nashdex.games.interface", "nashdex.games.registry", "nashdex.games.space"], []),
        (modules_of("nashdex/metagame"), []),
        ([module for module in modules_of("nashdex_cluster") if module not in CLUSTER_CLIENTS], []),
        ([*modules_of("nashdex/planning"), *modules_of("nashdex/runs"), *modules_of("nashdex/settings")], []),
        (modules_of("nashdex/local"), []),
        (modules_of("nashdex/games/tabular"), []),
        ([*(set(modules_of("nashdex/oracles")) - TRAINING), *modules_of("nashdex/learning/damping")], []),
        (STEPS, []),
    ],
    ids=[
        "cli",
        "core",
        "store",
        "telemetry",
        "trajectory",
        "games",
        "metagame",
        "cluster",
        "planning",
        "local",
        "tabular",
        "oracles",
        "steps",
    ],
)
def test_what_everybody_imports_is_light(modules: list[str], allowed: list[str]) -> None:
    result = subprocess.run([sys.executable, "-c", LOADED, *modules], check=True, capture_output=True, text=True)
    assert sorted(set(result.stdout.split()) & set(HEAVY)) == allowed


def imports_between_modules() -> dict[str, set[str]]:
    """Return which modules each module imports, also for types alone and inside functions."""
    services = ROOT / "services"
    paths = {
        ".".join(path.relative_to(services).with_suffix("").parts).removesuffix(".__init__"): path
        for path in services.glob("nashdex*/**/*.py")
    }
    found: dict[str, set[str]] = {}
    for module, path in paths.items():
        imported = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                inner = (f"{node.module}.{alias.name}" for alias in node.names)
                imported |= {name if name in paths else node.module for name in inner}
            elif isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
        found[module] = imported & paths.keys()
    return found


def circle(imports: dict[str, set[str]]) -> list[str]:
    """Return modules that import each other, or nothing where no two do."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_not_even_for_types_or_inside_functions() -> None:
    assert circle(imports_between_modules()) == []


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert circle({"a": {"b", "c"}, "b": {"c"}}) == []


def test_poke_envs_players_need_no_environments() -> None:
    # poke-env's own environments read the sources of pettingzoo's games, which images hold as bytecode only.
    command = [sys.executable, "-c", WITHOUT, "gymnasium,pettingzoo", "nashdex.games.showdown.poke_env_players"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
