"""``compose.yaml`` names files, commands, ports and folders that exist, and its parts agree on them."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from nashdex_cli.cli import app

pytestmark = pytest.mark.contract

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
FOLDER = ROOT / "images" / "compose"


def mounts(service: str) -> dict[str, str]:
    """Return what a service mounts, by the path inside."""
    return {each.split(":")[1]: each.split(":")[0] for each in SERVICES[service].get("volumes", ())}


def provisioned(name: str) -> Any:  # noqa: ANN401 - any YAML
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text())


def test_every_file_that_is_mounted_or_built_from_exists() -> None:
    for name, service in SERVICES.items():
        for source in mounts(name).values():
            assert (ROOT / source).exists() if source.startswith("./") else source in COMPOSE["volumes"], source
        if build := service.get("build"):
            dockerfile = (ROOT / build["dockerfile"]).read_text()
            assert build.get("args", {}).keys() <= set(re.findall(r"^ARG (\w+)", dockerfile, re.MULTILINE))
    assert (ROOT / "requirements" / f"{SERVICES['demo']['build']['args']['REQUIREMENTS']}.txt").is_file()


@pytest.mark.parametrize("service", ["demo", "exporter"])
def test_commands_have_options_that_nashdex_takes(service: str) -> None:
    name, *arguments = SERVICES[service]["command"]
    command = get_command(app).commands[name]  # type: ignore[attr-defined]  # the app is a group
    known = {option for parameter in command.params for option in parameter.opts}
    assert {each for each in arguments if each.startswith("--")} <= known


def test_the_demo_is_that_of_the_readme_and_uses_the_gateway() -> None:
    assert SERVICES["demo"]["command"][1] == "/configs/${CONFIG:-demo.toml}"
    assert mounts("demo")["/configs"] == "./configs"
    gateway = SERVICES["showdown"]["command"]
    assert SERVICES["demo"]["environment"]["NASHDEX_GATEWAY_ADDRESS"] == gateway[gateway.index("--listen") + 1]
    assert SERVICES["demo"]["network_mode"] == "service:showdown", "the gateway listens there alone"


def test_the_exporter_reads_the_runs_and_prometheus_the_exporter() -> None:
    commands = {name: SERVICES[name]["command"] for name in ("demo", "exporter")}
    (store,) = {command[command.index("--store") + 1] for command in commands.values()}
    for name in commands:
        assert mounts(name)[str(Path(store).parent)] == "runs"
    (scraped,) = provisioned("prometheus")["scrape_configs"][0]["static_configs"]
    assert scraped["targets"] == [f"exporter:{SERVICES['exporter']['environment']['NASHDEX_METRICS_PORT']}"]
    assert "namespace" in scraped["labels"], "dashboards and alerts select by it"


def test_grafana_shows_the_charts_dashboards_from_prometheus() -> None:
    (source,) = provisioned("datasources")["datasources"]
    assert source["url"] == "http://prometheus:9090"
    assert source["isDefault"]
    (provider,) = provisioned("dashboards")["providers"]
    folder = ROOT / mounts("grafana")[provider["options"]["path"]]
    assert len(list(folder.glob("*.json"))) == 5


def test_nothing_is_open_to_other_machines() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert len(ports) == 2
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_prometheus_accepts_its_configuration() -> None:
    program = shutil.which("promtool") or pytest.skip("promtool is not on this machine")
    accepts(program, "check", "config", str(FOLDER / "prometheus.yaml"))


def test_docker_compose_accepts_it() -> None:
    program = shutil.which("docker") or pytest.skip("docker is not on this machine")
    if subprocess.run([program, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("docker has no compose on this machine")
    accepts(program, "compose", "config", "--quiet")


def accepts(*command: str) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
