"""Reading a site's ConfigMap."""

import json

import pytest

from nashdex.cluster.site import Site
from nashdex.core.errors import ConfigurationError

DATA = {
    "store": "s3://bucket",
    "s3-secret": "keys",
    **{f"image-{name}": name for name in ("showdown", "collector", "evaluator", "trainer", "control")},
    "image-pull-policy": "IfNotPresent",
    "template-version": "1",
    "gpu-semaphore": "1",
}


def limits(**resources: object) -> str:
    return json.dumps({"containers": [{"name": "main", "resources": {"limits": resources}}]})


@pytest.mark.parametrize(
    ("patch", "has_gpu"),
    [
        ("{}", False),
        ("", False),
        (limits(memory="8Gi"), False),
        (limits(**{"nvidia.com/gpu": 1}), True),
        (limits(**{"nvidia.com/mig-1g.10gb": 1}), True),
        (limits(**{"amd.com/gpu": "2"}), True),
        ("containers:\n- name: main\n", True),  # YAML, which Argo takes too: not known to have none
    ],
)
def test_a_gpu_is_looked_for_in_the_training_pods_patch(patch: str, *, has_gpu: bool) -> None:
    assert Site.parse(DATA | {"train-pod-patch": patch}, "n").trains_on_gpu is has_gpu


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"namespace n is invalid: .*store"):
        Site.parse({key: value for key, value in DATA.items() if key != "store"}, "n")
