"""The built images: what they run as, what is in them and what is not, how large they are, and how they end.

They are those of this version, or of the tag in NASHDEX_TEST_IMAGES (``make images TORCH=cpu`` builds them). Every
container runs as a pod of a restricted namespace would, and with its root read-only.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import nashdex
from nashdex.core import keys
from nashdex.core.steps import StepName
from nashdex.planning.dag import iteration_steps
from nashdex.settings.loading import load_settings
from support.image_packages import ABSENT_PACKAGES, IMAGE_OF_STEP
from support.pages import install_package, titled_block

ROOT = Path(__file__).parents[2]
TAG = os.environ.get("NASHDEX_TEST_IMAGES") or nashdex.__version__
PYTHON_IMAGES = ("control", "collector", "evaluator", "trainer")
NAMES = (*PYTHON_IMAGES, "showdown")
BUDGETS_MB = {"control": 350, "collector": 450, "evaluator": 450, "trainer": 350, "showdown": 450}
BASE_MB = {"python": 130, "node": 205}
"""Unpacked, of the official python:3.11-slim-bookworm and node:20-bookworm-slim. The base that was built on may carry
more, such as wheels, so the budget counts these sizes and what an image adds to its base."""
BASES = {"python": "python:3.11-slim-bookworm", "node": "node:20-bookworm-slim"}
IMPORTED = {
    "control": (
        "boto3, kubernetes.client, kubernetes.config, kubernetes.watch, argo_workflows, pyspiel, jinja2, scipy.stats",
        "nashdex_cli.cli, nashdex.solver.step, nashdex.report.step, nashdex_cluster.exporter.service",
    ),
    "collector": (
        "boto3, pyspiel, poke_env",
        "nashdex_cli.cli, nashdex.collector.step, nashdex.policies.sources, nashdex_metamon.checkpoints.playing",
    ),
    "evaluator": (
        "boto3, pyspiel, poke_env",
        "nashdex_cli.cli, nashdex.evaluator.step, nashdex.policies.sources, nashdex_metamon.checkpoints.playing",
    ),
    "trainer": (
        "boto3, pyspiel, torch.distributed.run",
        "nashdex_cli.cli, nashdex.trainer.step, nashdex.learning.updates.training",
    ),
}
STORE = "/tmp/runs"  # noqa: S108 - a memory file system of the container
RESTRICTED = ("--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--network=none")
SECONDS = 120


def docker(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    command = ["docker", *arguments]
    return subprocess.run(command, check=check, capture_output=True, text=True, timeout=SECONDS)


def _reason_to_skip() -> str | None:
    if shutil.which("docker") is None or docker("version", check=False).returncode:
        return "no Docker engine answers"
    missing = [name for name in NAMES if docker("image", "inspect", image(name), check=False).returncode]
    return f"not built: {', '.join(missing)}; run 'make images TORCH=cpu'" if missing else None


def image(name: str) -> str:
    return f"nashdex/{name}:{TAG}"


@pytest.fixture(scope="module", autouse=True)
def _images() -> None:
    if reason := _reason_to_skip():
        pytest.skip(reason)


def inspect(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(docker("image", "inspect", name).stdout)[0]
    return document


def run(name: str, *arguments: str, entrypoint: str | None = None) -> subprocess.CompletedProcess[str]:
    chosen = () if entrypoint is None else (f"--entrypoint={entrypoint}",)
    return docker("run", "--rm", *RESTRICTED, *chosen, image(name), *arguments, check=False)


@contextmanager
def started(name: str, *arguments: str, options: tuple[str, ...] = ()) -> Iterator[str]:
    container = docker("run", "--detach", *RESTRICTED, *options, image(name), *arguments).stdout.strip()
    try:
        yield container
    finally:
        docker("rm", "--force", container)


def wait_for_log(container: str, text: str) -> None:
    deadline = time.monotonic() + SECONDS
    while True:
        logs = docker("logs", container)
        if text in logs.stdout + logs.stderr:
            return
        assert time.monotonic() < deadline, logs
        assert inspect_state(container)["Running"], logs
        time.sleep(0.2)


def inspect_state(container: str) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(docker("inspect", container).stdout)[0]["State"]
    return state


def exit_code_of_stopping(container: str) -> int:
    """Stop a container as the kubelet does; 137 means that it had to be killed."""
    docker("stop", "--time=30", container)
    return int(inspect_state(container)["ExitCode"])


@pytest.mark.parametrize("name", NAMES)
def test_says_its_version_as_nobody_on_a_read_only_root(name: str) -> None:
    result = run(name, "--version")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(("nashdex ", "nashdex-showdown "))
    assert nashdex.__version__ in result.stdout
    assert run(name, "-u", entrypoint="id").stdout == "10001\n"


@pytest.mark.parametrize("name", NAMES)
def test_is_labelled_and_runs_as_a_numbered_user(name: str) -> None:
    config = inspect(image(name))["Config"]
    assert config["User"] == "10001:10001"  # by number, so that runAsNonRoot can be checked
    assert config["Labels"]["org.opencontainers.image.version"] == nashdex.__version__
    assert config["Labels"]["org.opencontainers.image.source"].startswith("https://")


@pytest.mark.parametrize("name", NAMES)
def test_keeps_its_budget(name: str) -> None:
    kind = "node" if name == "showdown" else "python"
    size_bytes = inspect(image(name))["Size"] - inspect(BASES[kind])["Size"]
    if name in {"collector", "evaluator", "trainer"}:
        torch = (
            "import sysconfig, pathlib; p = pathlib.Path(sysconfig.get_path('purelib')); print(sum(f.lstat().st_size "
        )
        torch += "for n in ('torch', 'nvidia', 'triton') for f in (p / n).rglob('*') if f.is_file()))"
        size_bytes -= int(run(name, "-c", torch, entrypoint="python").stdout)
    assert BASE_MB[kind] + size_bytes / 1e6 <= BUDGETS_MB[name]


@pytest.mark.parametrize("name", PYTHON_IMAGES)
def test_what_it_needs_is_importable_and_what_it_must_not_have_is_absent(name: str) -> None:
    absent = f"from importlib.util import find_spec; print([n for n in {ABSENT_PACKAGES[name]} if find_spec(n)])"
    assert run(name, "-c", absent, entrypoint="python").stdout == "[]\n"
    needed = run(name, "-c", "; ".join(f"import {names}" for names in IMPORTED[name]), entrypoint="python")
    assert needed.returncode == 0, needed.stderr


@pytest.mark.parametrize("name", NAMES)
def test_has_no_compiler(name: str) -> None:
    find = "for program in gcc cc g++ c++ clang make ld strip; do command -v $program; done; true"
    assert run(name, "-c", find, entrypoint="sh").stdout == ""


def test_showdown_has_no_python() -> None:
    find = "for program in python python3 pip; do command -v $program; done; true"
    assert run("showdown", "-c", find, entrypoint="sh").stdout == ""


def test_an_iteration_is_done_by_each_step_in_its_own_image(tmp_path: Path) -> None:
    """Kuhn poker: what plans and solves has scipy and the report's templates, what trains has torch, and so on."""
    tmp_path.chmod(0o777)
    (tmp_path / "config.toml").write_text('run = "kuhn"\n' + (ROOT / "configs" / "kuhn.toml").read_text())
    options = (*RESTRICTED, f"--volume={tmp_path}:/store")

    def do(name: str, *arguments: str) -> None:
        result = docker("run", "--rm", *options, image(name), *arguments, check=False)
        assert result.returncode == 0, f"{arguments}: {result.stderr}"

    do("control", "begin", "/store/config.toml", "--store", "/store")
    for iteration in range(2):
        for step in iteration_steps(load_settings(tmp_path / "config.toml")):
            do(IMAGE_OF_STEP[step.name], "step", step.name, "--run=/store/kuhn", f"--iteration={iteration}")
    assert (tmp_path / "kuhn" / keys.published(1, keys.REPORT)).exists()


ORACLE_PAGE = "how-to/new-oracle.md"


@pytest.fixture
def with_added_oracle(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Add the page's package to each image by the page's Dockerfile, and return the built images by name."""
    folder = tmp_path / "package"
    install_package(ORACLE_PAGE, "by_trial.py", folder / "site")
    (folder / "Dockerfile").write_text(titled_block(ORACLE_PAGE, "Dockerfile"))
    built = {name: f"nashdex-by-trial/{name}:{TAG}" for name in PYTHON_IMAGES}
    try:
        for name, tag in built.items():
            docker("build", f"--build-arg=IMAGE={image(name)}", f"--tag={tag}", str(folder))
        yield built
    finally:
        docker("image", "rm", *built.values(), check=False)


def test_an_added_oracle_solves_kuhn_in_the_images(with_added_oracle: dict[str, str], tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    store.chmod(0o777)
    (store / "config.toml").write_text(titled_block(ORACLE_PAGE, "kuhn-by-trial.toml"))

    def do(name: str, *arguments: str) -> None:
        options = (*RESTRICTED, f"--volume={store}:/store")
        result = docker("run", "--rm", *options, with_added_oracle[name], *arguments, check=False)
        assert result.returncode == 0, f"{arguments}: {result.stderr}"

    do("control", "begin", "/store/config.toml", "--store", "/store")
    steps = (StepName.PLAN, StepName.COLLECT, StepName.TRAIN, StepName.EVALUATE, StepName.SOLVE)
    for iteration in range(12):
        for step in steps:
            do(IMAGE_OF_STEP[step], "step", step, "--run=/store/kuhn-by-trial", f"--iteration={iteration}")
    analysis = json.loads((store / "kuhn-by-trial" / keys.published(11, keys.META_GAME_ANALYSIS)).read_text())
    assert analysis["exploitability"]["exact"]["value"] == pytest.approx(0.0, abs=1e-9)


def test_trainer_takes_an_optimiser_step() -> None:
    """The first step imports far more of torch than torch itself does."""
    program = "import torch; p = torch.nn.Linear(2, 2); o = torch.optim.AdamW(p.parameters()); "
    program += "p(torch.ones(1, 2)).sum().backward(); o.step(); print('done')"
    result = run("trainer", "-W", "error", "-c", program, entrypoint="python")
    assert result.stdout == "done\n", result.stderr


def test_the_exporter_ends_well_at_sigterm_as_the_first_process() -> None:
    with started(
        "control",
        "exporter",
        "--store",
        STORE,
        options=("--env=NASHDEX_METRICS_PORT=9090",),
    ) as container:
        deadline = time.monotonic() + SECONDS
        probe = "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9090/healthz', timeout=5)"
        while docker("exec", container, "python", "-c", probe, check=False).returncode:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert exit_code_of_stopping(container) == 0


def test_a_command_without_a_handler_of_its_own_ends_at_sigterm_as_the_first_process() -> None:
    program = "import sys, time, nashdex_cli.cli as c; c.app.command('wait')(lambda: (print('waits', flush=True), "
    program += "time.sleep(600))); c.main(['wait'])"
    with started("control", "-c", program, options=("--entrypoint=python",)) as container:
        wait_for_log(container, "waits")
        assert exit_code_of_stopping(container) == 143


def test_showdown_runs_the_gateway_that_answers_probes_and_ends_well() -> None:
    with started("showdown") as container:
        wait_for_log(container, "answering probes")
        probe = "fetch('http://127.0.0.1:7401/healthz').then(r => process.exit(r.status === 200 ? 0 : 1))"
        assert docker("exec", container, "node", "-e", probe, check=False).returncode == 0
        assert exit_code_of_stopping(container) == 0


def test_showdown_runs_the_stock_server_by_argument() -> None:
    with started("showdown", "server", "--host=0.0.0.0") as container:
        wait_for_log(container, '"event":"ready"')
        probe = "fetch('http://127.0.0.1:8000/').then(r => process.exit(r.status < 500 ? 0 : 1))"
        assert docker("exec", container, "node", "-e", probe, check=False).returncode == 0
        assert exit_code_of_stopping(container) == 0


def test_showdown_refuses_what_it_does_not_know() -> None:
    result = run("showdown", "serve")
    assert result.returncode == 64
    assert "none of gateway and server" in result.stderr
