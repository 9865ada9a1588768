"""The configuration of a site: the ConfigMap that the WorkflowTemplates in argo/ read."""

import json
from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError

CONFIG_MAP = "nashdex-site"
NO_SECRET = "none"  # noqa: S105 - not a secret
"""Value of s3-secret if the pods use workload identity."""
_GPU_RESOURCES = ("gpu", "mig-", "hpu", "accelerator")


class Site(BaseModel):
    """The ConfigMap's keys: the fields' names with dashes instead of underscores. Pod patches are JSON."""

    model_config = ConfigDict(frozen=True, alias_generator=lambda name: name.replace("_", "-"), extra="ignore")

    store: str = Field(min_length=1, description="URI under which runs are stored.")
    s3_endpoint: str = Field("", description="URL of the S3 server; empty for AWS.")
    s3_region: str = Field("", description="Region of the S3 server.")
    s3_secret: str = Field(
        description="Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; none for workload identity."
    )
    image_showdown: str = Field(description="Image of the battle gateway.")
    image_collector: str = Field(description="Image of the collect and act steps.")
    image_evaluator: str = Field(description="Image of the evaluate and gate steps.")
    image_trainer: str = Field(description="Image of the train step.")
    image_control: str = Field(description="Image of all other steps and the exporter.")
    image_pull_policy: str = Field(description="Image pull policy: IfNotPresent, Always or Never.")
    template_version: str = Field(description="nashdex version of the WorkflowTemplates.")
    collect_pod_patch: str = Field("{}", description="podSpecPatch of collect and act pods: resources, node selection.")
    train_pod_patch: str = Field("{}", description="podSpecPatch of train pods; also GPUs.")
    evaluate_pod_patch: str = Field("{}", description="podSpecPatch of evaluate and gate pods.")
    control_pod_patch: str = Field("{}", description="podSpecPatch of all other pods of steps.")
    league_pod_patch: str = Field(
        "{}", description="podSpecPatch of the league's pods, which wait for an iteration's Workflow in Argo's image."
    )
    train_gpus: str = Field("0", description="GPUs that a train pod requests; the site's check computes on one.")
    gpu_semaphore: str = Field(description="Number of train pods that run at once.")

    @classmethod
    def parse(cls, data: Mapping[str, str], namespace: str) -> Self:
        """Return the site that a ConfigMap's data describes.

        Raises:
            ConfigurationError: a key is missing.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise ConfigurationError(
                f"ConfigMap {CONFIG_MAP} of namespace {namespace} is invalid: {describe_problems(error)}; "
                "install nashdex there again"
            ) from error

    @property
    def num_gpus(self) -> int | None:
        """The number of GPUs that a train pod requests; None if its patch is not JSON."""
        return _num_gpus(self.train_pod_patch)

    @property
    def num_collect_gpus(self) -> int | None:
        """The number of GPUs that a collect pod or an actor requests; None if their patch is not JSON."""
        return _num_gpus(self.collect_pod_patch)


def _num_gpus(pod_patch: str) -> int | None:
    """Return the number of GPUs that a pod with this podSpecPatch requests; None if it is not JSON."""
    try:
        patch = json.loads(pod_patch or "{}")
        limits = [container.get("resources", {}).get("limits", {}) for container in patch.get("containers", [])]
        return sum(
            int(number)
            for resources in limits
            for resource, number in resources.items()
            if any(word in resource for word in _GPU_RESOURCES)
        )
    except (ValueError, AttributeError, TypeError):
        return None  # YAML, or invalid: unknown, and Argo reports what is invalid
