"""What a site sets of pods and Workflows: sizes, nodes, labels, eviction, deadlines, retries."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from chart.charts import CHART, Object, ci_values, container, one, patch, render, site
from nashdex.settings.external import declared_player

POD_SETTINGS = {
    "nodeSelector": {"pool": "research"},
    "tolerations": [{"key": "research", "operator": "Exists"}],
    "priorityClassName": "research",
    "runtimeClassName": "sandboxed",
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}
    ],
    "terminationGracePeriodSeconds": 300,
}
NO_EVICTION = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}


def test_a_collector_requests_a_core_for_itself_and_one_for_its_gateway() -> None:
    """What docs/how-to/runbook.md measured; less overcommits a node."""
    for step in ("collect", "evaluate"):
        for name in ("main", "showdown"):
            requests = container(patch(render(), step), name)["resources"]["requests"]
            assert requests == {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize("step", ["collect", "train", "evaluate", "control"])
def test_every_step_takes_the_same_pod_settings(step: str) -> None:
    values = ci_values("everywhere")
    found = patch(render(values), step)
    assert {key: found[key] for key in POD_SETTINGS} == POD_SETTINGS
    assert found["affinity"] == values["collect"]["affinity"]
    main = container(found, "main")
    resources = main.pop("resources")
    assert resources["requests"]["cpu"] == "500m"
    assert resources["limits"] == {"memory": "1Gi"}
    assert main == {
        "name": "main",
        "env": values["collect"]["extraEnv"],
        "volumeMounts": values["collect"]["extraVolumeMounts"],
    }
    assert values["collect"]["extraVolumes"][0] in found["volumes"]


@pytest.mark.parametrize("name", ["nashdex-exporter", "nashdex-showdown-server", "nashdex-store"])
def test_every_service_takes_the_same_pod_settings(name: str) -> None:
    values = ci_values("everywhere")
    spec: dict[str, Any] = one(render(values), "Deployment", name)["spec"]["template"]["spec"]
    assert {key: spec[key] for key in POD_SETTINGS} == POD_SETTINGS
    assert spec["affinity"] == values["collect"]["affinity"]
    (only,) = spec["containers"]
    assert only["resources"]["requests"]["cpu"] == "500m"
    assert only["resources"]["limits"]["memory"] == "1Gi"
    assert values["collect"]["extraEnv"][0] in only["env"]
    assert values["collect"]["extraVolumeMounts"][0] in only["volumeMounts"]
    assert values["collect"]["extraVolumes"][0] in spec["volumes"]


@pytest.mark.parametrize("step", ["collect", "train", "evaluate", "control"])
def test_argos_own_containers_are_restricted_and_have_what_a_quota_asks_for(step: str) -> None:
    resources = {"requests": {"cpu": "20m", "memory": "96Mi"}, "limits": {"memory": "128Mi"}}
    found = patch(render({"argo": {"executor": {"resources": resources}}}), step)
    (init,) = found["initContainers"]
    for argos in (init, container(found, "wait")):
        assert argos["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        assert argos["resources"] == resources


def test_the_leagues_pods_go_where_the_control_pods_go() -> None:
    resources = {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}}
    objects = render({"control": POD_SETTINGS, "argo": {"executor": {"resources": resources}}})
    found = patch(objects, "league")
    assert {key: found[key] for key in POD_SETTINGS} == POD_SETTINGS
    assert [each["name"] for each in found["containers"]] == ["main"], "Argo adds no wait to it"
    for argos in (*found["containers"], *found["initContainers"]):
        assert argos["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        assert argos["resources"] == resources


PLAYERS: list[Object] = [
    {
        "name": "mine",
        "image": "registry.example.org/mine:1",
        "args": ["my_bot:Mine", "--listen", "127.0.0.1:7500"],
        "port": 7500,
        "env": [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "mine", "key": "key"}}}],
        "resources": {"requests": {"cpu": "1"}},
        "decisionSeconds": 10,
        "atOnce": 2,
    },
    {"name": "theirs", "image": "theirs:2", "command": ["listen"], "port": 7501},
]


def test_a_player_of_another_program_is_a_restricted_sidecar_of_evaluate_alone() -> None:
    objects = render({"evaluate": {"players": PLAYERS, "extraEnv": [{"name": "A", "value": "b"}]}})
    found = patch(objects, "evaluate")
    mine, theirs = found["initContainers"][-2:]
    assert {key: mine[key] for key in ("name", "image", "args", "env", "resources", "restartPolicy")} == {
        "name": "player-mine",
        "restartPolicy": "Always",
        **{key: PLAYERS[0][key] for key in ("image", "args", "env", "resources")},
    }
    assert (theirs["name"], theirs["command"]) == ("player-theirs", ["listen"])
    for sidecar in (mine, theirs):
        assert sidecar["securityContext"]["readOnlyRootFilesystem"] is True
        assert sidecar["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert sidecar["volumeMounts"] == [{"name": sidecar["name"], "mountPath": "/tmp"}]  # noqa: S108
    assert {volume["name"] for volume in found["volumes"]} == {"players", "player-mine", "player-theirs"}
    main = container(found, "main")
    path = next(each["value"] for each in main["env"] if each["name"] == "NASHDEX_PLAYERS")
    assert {"name": "A", "value": "b"} in main["env"]
    assert path.startswith(main["volumeMounts"][0]["mountPath"])
    for step in ("collect", "train", "control"):
        assert "player" not in json.dumps(patch(objects, step))


def test_evaluators_read_the_players_as_this_chart_declares_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = render({"evaluate": {"players": PLAYERS}})
    file = tmp_path / "players.toml"
    file.write_text(one(objects, "ConfigMap", "nashdex-players")["data"]["players.toml"])
    monkeypatch.setenv("NASHDEX_PLAYERS", str(file))
    mine, theirs = (declared_player(f"external:{name}") for name in ("mine", "theirs"))
    assert (mine.address, mine.decision_seconds, mine.at_once) == ("127.0.0.1:7500", 10, 2)
    assert (theirs.address, theirs.decision_seconds) == ("127.0.0.1:7501", 30)
    assert not [each for each in render() if each["metadata"]["name"] == "nashdex-players"]


def test_a_player_by_websocket_has_a_showdown_server_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program: Object = {"name": "bot", "image": "bot:1", "args": ["play"], "port": 8100, "username": "TheirBot"}
    objects = render({"evaluate": {"players": [*PLAYERS, program]}, "images": {"references": {"showdown": "s@x"}}})
    found = patch(objects, "evaluate")
    server, bot = found["initContainers"][-2:]
    assert (server["name"], server["image"], server["restartPolicy"]) == ("player-bot-server", "s@x", "Always")
    assert server["args"] == ["server", "--host", "127.0.0.1", "--port", "8100"]
    assert "connect(8100," in server["startupProbe"]["exec"]["command"][-1], "the program starts when it listens"
    assert server["securityContext"] == bot["securityContext"]
    assert (bot["name"], bot["args"]) == ("player-bot", ["play"])
    volumes = {volume["name"] for volume in found["volumes"]}
    assert {mount["name"] for each in (server, bot) for mount in each["volumeMounts"]} <= volumes
    file = tmp_path / "players.toml"
    file.write_text(one(objects, "ConfigMap", "nashdex-players")["data"]["players.toml"])
    monkeypatch.setenv("NASHDEX_PLAYERS", str(file))
    declared = declared_player("external:bot")
    assert (declared.server, declared.username, declared.address) == ("127.0.0.1:8100", "TheirBot", None)


@pytest.mark.parametrize(
    ("second", "more", "message"),
    [
        ({"name": "mine", "port": 7501}, {}, "names mine twice"),
        ({"name": "other", "port": 7500}, {}, "other listens at the same port as mine"),
        ({"name": "other", "port": 7400}, {}, "other listens at the same port as the gateway"),
        ({"name": "other", "port": 7501}, {"extraEnv": [{"name": "NASHDEX_PLAYERS", "value": "x"}]}, "Use one of them"),
        ({"name": "Other", "port": 7501}, {}, "does not match pattern"),
        ({"name": "other", "port": 7501, "password": "x"}, {}, "additional properties 'password' not allowed"),
    ],
)
def test_players_that_cannot_be_are_refused(second: Object, more: Object, message: str) -> None:
    values = {"evaluate": {"players": [PLAYERS[0], second | {"image": "x:1"}], **more}}
    with pytest.raises(Exception, match=message):
        render(values)


def test_the_check_knows_of_the_trainers_gpus() -> None:
    assert site(render(ci_values("gpu")))["train-gpus"] == "1"
    assert site(render())["train-gpus"] == "0"


def test_gpus_of_the_trainer_alone() -> None:
    objects = render(ci_values("gpu"))
    main = container(patch(objects, "train"), "main")
    assert main["resources"]["limits"] == {"nvidia.com/gpu": 1, "memory": "32Gi"}
    (memory,) = patch(objects, "train")["volumes"]
    assert memory == {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}}
    for step in ("collect", "evaluate", "control"):
        assert "gpu" not in json.dumps(patch(objects, step))


def test_the_gateway_has_resources_of_its_own() -> None:
    gateway = container(patch(render(ci_values("gpu")), "collect"), "showdown")
    assert gateway["resources"]["limits"] == {"memory": "3Gi"}


def pod_metadata(objects: list[Object]) -> dict[str, Object]:
    """Return the metadata of every pod of a Deployment and of a step, by its component."""
    deployments = [each["spec"]["template"] for each in objects if each["kind"] == "Deployment"]
    templates = [
        template
        for each in objects
        if each["kind"] == "WorkflowTemplate" and each["metadata"]["name"] != "nashdex-check"
        for template in each["spec"]["templates"]
        if "podSpecPatch" in template
    ]
    found = [each["metadata"] for each in (*deployments, *templates)]
    return {each["labels"]["app.kubernetes.io/component"]: each for each in found}


def test_pods_have_the_sites_labels_and_annotations() -> None:
    metadata = pod_metadata(render(ci_values("everywhere")))
    assert metadata.keys() > {"collect", "train", "gate", "verdict", "begin", "league", "exporter", "store"}
    for component, each in metadata.items():
        assert each["labels"]["team"] == "research", component
        assert each["labels"]["app.kubernetes.io/name"] == "nashdex", component
        assert each["annotations"].items() >= (NO_EVICTION | {"sidecar.istio.io/inject": "false"}).items(), component


def test_pods_are_protected_from_eviction_by_annotations_and_where_asked() -> None:
    """A PodDisruptionBudget that no pod can meet blocks drains forever."""
    for values, protected in (({}, set()), (ci_values("gpu"), {"train"})):
        objects = render(values)
        assert not [each for each in objects if each["kind"] == "PodDisruptionBudget"]
        found = {
            component
            for component, each in pod_metadata(objects).items()
            if each.get("annotations", {}).items() >= NO_EVICTION.items()
        }
        assert found == protected


def test_no_label_of_a_pod_replaces_one_that_nashdex_selects_by() -> None:
    mine = {"podLabels": {"app.kubernetes.io/component": "mine", "team": "research"}}
    services = {"exporter": mine, "showdownServer": {"enabled": True, **mine}, "objectStore": {"embedded": mine}}
    metadata = pod_metadata(render({"collect": mine, **services}))
    for component in ("collect", "exporter", "showdown-server", "store"):
        assert metadata[component]["labels"]["team"] == "research"


def templates_of(objects: list[Object], name: str) -> dict[str, Object]:
    """Return the templates of a WorkflowTemplate by name."""
    return {each["name"]: each for each in one(objects, "WorkflowTemplate", name)["spec"]["templates"]}


def test_parallelism_deadlines_and_retries_are_values() -> None:
    objects = render(ci_values("everywhere"))
    iteration = one(objects, "WorkflowTemplate", "nashdex-iteration")["spec"]
    assert (iteration["parallelism"], iteration["activeDeadlineSeconds"]) == (16, 86_400)
    assert one(objects, "WorkflowTemplate", "nashdex-league")["spec"]["activeDeadlineSeconds"] == 172_800
    league = templates_of(objects, "nashdex-league")
    assert league["workflow"]["activeDeadlineSeconds"] == 86_400
    assert league["begin"]["activeDeadlineSeconds"] == 7200
    for name in ("collect", "train", "evaluate", "solve"):
        for template in templates_of(objects, f"nashdex-{name}").values():
            assert template["activeDeadlineSeconds"] == 7200
            assert template["retryStrategy"]["limit"] == "20"
            assert "asInt(retries) >= 1)" in template["retryStrategy"]["expression"]
    assert {
        each["activeDeadlineSeconds"] for each in templates_of(objects, "nashdex-check").values() if "dag" not in each
    } == {3600}


def test_without_values_the_workflow_templates_are_those_of_argo() -> None:
    files = [yaml.safe_load(path.read_text()) for path in (CHART / "argo").glob("nashdex-*.yaml")]
    rendered = [each for each in render() if each["kind"] == "WorkflowTemplate"]

    def by_name(each: Object) -> str:
        return str(each["metadata"]["name"])

    assert sorted(rendered, key=by_name) == sorted(files, key=by_name)
