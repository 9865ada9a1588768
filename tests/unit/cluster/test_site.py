"""Reading a site's ConfigMap."""

import json

import pytest

from nashdex.core.errors import ConfigurationError
from nashdex_cluster.site import Site

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
    ("patch", "num_gpus"),
    [
        ("{}", 0),
        ("", 0),
        (limits(memory="8Gi"), 0),
        (limits(**{"nvidia.com/gpu": 1}), 1),
        (limits(**{"nvidia.com/mig-1g.10gb": 1}), 1),
        (limits(**{"amd.com/gpu": "2"}), 2),
        ("containers:\n- name: main\n", None),  # YAML, which Argo takes too
        (limits(**{"nvidia.com/gpu": "one"}), None),
    ],
)
def test_gpus_are_counted_in_the_patch_of_each_kind_of_pod(patch: str, num_gpus: int | None) -> None:
    site = Site.parse(DATA | {"train-pod-patch": patch}, "n")
    assert (site.num_gpus, site.num_collect_gpus) == (num_gpus, 0)
    site = Site.parse(DATA | {"collect-pod-patch": patch}, "n")
    assert (site.num_gpus, site.num_collect_gpus) == (0, num_gpus)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"namespace n is invalid: .*store"):
        Site.parse({key: value for key, value in DATA.items() if key != "store"}, "n")
