"""Templates of pods: which image a step runs in, with which environment, and what it may do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from argo_templates.workflows import POD_SECURITY, SITE_KEYS, Map, component_labels, site_parameter
from argo_templates.yaml_text import Inline, InlineList, comment, shared_list, shared_map, without_comments
from nashdex.core.errors import ExitCode
from nashdex_cluster.client import ITERATION_LABEL, RUN_LABEL, SHARD_LABEL
from nashdex_cluster.site import CONFIG_MAP
from nashdex_cluster.workflow_state import EXECUTOR_STOPPED_EARLY, SIDECAR_FAILED

KILLED = 137
"""Exit code of a process that was killed, such as by the kernel when memory runs out."""
NEVER_STARTED = -1
"""Argo's exit code of a pod that failed before its main container ran: its node shut down or rejected it, or it was
evicted while its image was pulled."""
EXECUTOR_STOPPED = "context canceled"
"""What Argo's executor says, with exit code 64, when a pod that only waits for a Workflow is evicted."""
MAX_OUT_OF_MEMORY_RETRIES = 2
"""Out of memory is rarely chance, so it is retried less often than other failures."""

_PASSING = [
    NEVER_STARTED,
    SIDECAR_FAILED,
    EXECUTOR_STOPPED_EARLY,
    int(ExitCode.TRY_AGAIN),
    KILLED,
    int(ExitCode.STOPPED),
]
"""Exit codes of failures that may pass."""

_GATEWAY_PORT = 7400
_GATEWAY_HEALTH_PORT = 7401
_METRICS_PORT = 9090


@dataclass(frozen=True)
class Size:
    """What a container requests, and the memory above which it is killed. The site's patch overrides it.

    There is no limit of CPU: a pod may use cores that are idle.
    """

    cpu: str
    memory: str
    memory_limit: str

    @property
    def resources(self) -> Map:
        """Requests and limits, as Kubernetes writes them."""
        return {
            "requests": Inline(cpu=self.cpu, memory=self.memory),
            "limits": Inline(memory=self.memory_limit),
        }


GATEWAY_SIZE = Size("1", "1Gi", "2Gi")


@dataclass(frozen=True)
class PodKind:
    """Pods that share an image, a patch of the site, and their needs."""

    image: str
    """Name of the image; the site's key is ``image-`` and this."""
    patch: str
    """The site's key is this and ``-pod-patch``."""
    size: Size
    """Resources of the main container."""
    has_gateway: bool = False
    """Whether a battle gateway runs beside it, as a sidecar."""
    has_learner: bool = False
    """Whether it trains: it takes turns on GPUs, and its data loader needs shared memory."""
    is_restarted: bool = False
    """Whether the kubelet restarts it when its health endpoint reports no progress."""


COLLECTOR = PodKind("collector", "collect", Size("1", "1Gi", "2Gi"), has_gateway=True, is_restarted=True)
EVALUATOR = PodKind("evaluator", "evaluate", Size("1", "1Gi", "2Gi"), has_gateway=True, is_restarted=True)
TRAINER = PodKind("trainer", "train", Size("1", "4Gi", "8Gi"), has_learner=True, is_restarted=True)
CONTROL = PodKind("control", "control", Size("250m", "256Mi", "1Gi"))
MAX_RETRIES = 8


def workflow_parameter(name: str) -> str:
    """Return what Argo replaces with a parameter of the Workflow."""
    return f"{{{{workflow.parameters.{name}}}}}"


def input_parameter(name: str) -> str:
    """Return what Argo replaces with an input of the template."""
    return f"{{{{inputs.parameters.{name}}}}}"


def with_site(template: Map) -> Map:
    """Return the template with inputs for the site's keys that it reads, such as images and patches.

    Inputs from a ConfigMap, and not parameters of the Workflow: whoever submits a Workflow cannot override them.
    """
    used = set(re.findall(r"\{\{inputs\.parameters\.([a-z0-9-]+)\}\}", str(without_comments(template))))
    inputs = template.get("inputs", {})
    parameters = [*inputs.get("parameters", []), *(site_parameter(key) for key in SITE_KEYS if key in used)]
    return {"name": template["name"], "inputs": {**inputs, "parameters": parameters}} | {
        key: value for key, value in template.items() if key not in ("name", "inputs")
    }


RETRY = shared_map(
    "retry",
    {
        "limit": str(MAX_RETRIES),
        "retryPolicy": "Always",
        "expression": 'lastRetry.status == "Error" || '
        f'lastRetry.message contains "{EXECUTOR_STOPPED}" || '
        f"(asInt(lastRetry.exitCode) in {_PASSING} && "
        f'!(lastRetry.message contains "OOMKilled" && asInt(retries) >= {MAX_OUT_OF_MEMORY_RETRIES}))',
        comment(
            "No maxDuration: it counts from the start of the first attempt, so long work would never be retried."
        ): None,
        "backoff": Inline(duration="10s", factor="2", cap="5m"),
    },
)

STORE_ENVIRONMENT = [
    Inline(
        name=name,
        valueFrom={"configMapKeyRef": {"name": CONFIG_MAP, "key": key, "optional": True}},
    )
    for name, key in (("AWS_ENDPOINT_URL", "s3-endpoint"), ("AWS_REGION", "s3-region"))
]
TERMINATION_LOG = Inline(name="NASHDEX_TERMINATION_LOG", value="/dev/termination-log")
CREDENTIALS = shared_list(
    "credentials",
    [
        comment(
            "Optional, for workload identity. Without credentials the step exits with 64 and says why; a pod that "
            "waits for a missing Secret says nothing."
        ),
        Inline(secretRef={"name": input_parameter("s3-secret"), "optional": True}),
    ],
)
CONTAINER_SECURITY = shared_map(
    "container-security",
    {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": Inline(drop=["ALL"]),
    },
)
_PROCESS_ENVIRONMENT = [
    Inline(name="NASHDEX_METRICS_PORT", value=str(_METRICS_PORT)),
    Inline(name="NASHDEX_HEALTH_STALE_SECONDS", value="900"),
    Inline(name="NASHDEX_LOG_FORMAT", value="json"),
    Inline(name="NASHDEX_ARCHIVE_LOGS", value="true"),
    Inline(name="NASHDEX_RETRY", value="{{retries}}"),
    TERMINATION_LOG,
    *STORE_ENVIRONMENT,
]
_ENVIRONMENT = shared_list("environment", _PROCESS_ENVIRONMENT)
_BATTLE_ENVIRONMENT = shared_list(
    "environment",
    [Inline(name="NASHDEX_GATEWAY_ADDRESS", value=f"127.0.0.1:{_GATEWAY_PORT}"), *_PROCESS_ENVIRONMENT],
)
_PORTS = shared_list("ports", [Inline(name="metrics", containerPort=_METRICS_PORT)])
_LIVENESS = shared_map(
    "liveness",
    {
        "httpGet": Inline(path="/healthz", port="metrics"),
        "initialDelaySeconds": 120,
        "periodSeconds": 30,
        "timeoutSeconds": 10,
        "failureThreshold": 3,
    },
)


def image(name: str) -> Map:
    """Return a container's image, and when nodes pull it."""
    return {
        "image": input_parameter(f"image-{name}"),
        "imagePullPolicy": input_parameter("image-pull-policy"),
    }


_GATEWAY = shared_list(
    "battle-gateway",
    [
        {
            "name": "showdown",
            **image("showdown"),
            "command": InlineList(["nashdex-showdown"]),
            "args": InlineList(
                ["gateway", "--listen", f"127.0.0.1:{_GATEWAY_PORT}", "--health", f"[::]:{_GATEWAY_HEALTH_PORT}"]
            ),
            "ports": [Inline(name="health", containerPort=_GATEWAY_HEALTH_PORT)],
            "livenessProbe": {
                "httpGet": Inline(path="/healthz", port="health"),
                "initialDelaySeconds": 60,
                "periodSeconds": 30,
                "timeoutSeconds": 10,
            },
            "resources": GATEWAY_SIZE.resources,
            "securityContext": CONTAINER_SECURITY,
            "volumeMounts": [Inline(name="showdown-tmp", mountPath="/tmp")],
        }
    ],
)


def pod(
    component: str,
    kind: PodKind,
    args: Sequence[str],
    *,
    deadline_seconds: int,
    inputs: Map | None = None,
    outputs: Map | None = None,
    is_sharded: bool = False,
    has_iteration: bool = True,
) -> Map:
    """Return the template of a pod that runs a command of nashdex.

    Args:
        component: name of the template, and the pod's component label.
        kind: the kind of pod.
        args: the command's arguments.
        deadline_seconds: after this long the pod fails.
        inputs: the template's inputs; None for none but the shard's number.
        outputs: the template's outputs.
        is_sharded: it takes the number of a shard.
        has_iteration: it belongs to an iteration.
    """
    volumes = [
        Inline(name="tmp", emptyDir={}),
        *([Inline(name="showdown-tmp", emptyDir={})] if kind.has_gateway else []),
        *([Inline(name="shm", emptyDir={"medium": "Memory", "sizeLimit": "8Gi"})] if kind.has_learner else []),
    ]
    semaphore = Inline(configMapKeyRef={"name": CONFIG_MAP, "key": "gpu-semaphore"})
    inputs = inputs or ({"parameters": [Inline(name="shard")]} if is_sharded else None)
    template = {
        "name": component,
        **({"inputs": inputs} if inputs else {}),
        **({"outputs": outputs} if outputs else {}),
        "metadata": {
            "labels": {
                **component_labels(component),
                RUN_LABEL: workflow_parameter("run"),
                **({ITERATION_LABEL: workflow_parameter("iteration")} if has_iteration else {}),
                **({SHARD_LABEL: input_parameter("shard")} if is_sharded else {}),
            }
        },
        "activeDeadlineSeconds": deadline_seconds,
        "retryStrategy": RETRY,
        **({"synchronization": {"semaphores": [semaphore]}} if kind.has_learner else {}),
        "podSpecPatch": input_parameter(f"{kind.patch}-pod-patch"),
        "securityContext": POD_SECURITY,
        "volumes": volumes,
        "container": _container(kind, args),
        **({"sidecars": _GATEWAY} if kind.has_gateway else {}),
    }
    return with_site(template)


def _container(kind: PodKind, args: Sequence[str]) -> Map:
    return {
        "name": "main",
        **image(kind.image),
        "command": InlineList(["nashdex"]),
        "args": list(args),
        "env": _BATTLE_ENVIRONMENT if kind.has_gateway else _ENVIRONMENT,
        "envFrom": CREDENTIALS,
        "ports": _PORTS,
        **({"livenessProbe": _LIVENESS} if kind.is_restarted else {}),
        "resources": kind.size.resources,
        "securityContext": CONTAINER_SECURITY,
        "volumeMounts": [
            Inline(name="tmp", mountPath="/tmp"),
            *([Inline(name="shm", mountPath="/dev/shm")] if kind.has_learner else []),
        ],
    }
