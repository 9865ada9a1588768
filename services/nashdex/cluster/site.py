"""What differs between sites: the ConfigMap that the WorkflowTemplates in argo/ read."""

import json
from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError

CONFIG_MAP = "nashdex-site"
NO_SECRET = "none"  # noqa: S105 - the name of one, or of none
"""As the name of the store's Secret: credentials come from the pods' identity."""
_GPU_RESOURCES = ("gpu", "mig-", "hpu", "accelerator")


class Site(BaseModel):
    """The ConfigMap's keys, with dashes where the fields have underscores. Pod patches are JSON for podSpecPatch."""

    model_config = ConfigDict(frozen=True, alias_generator=lambda name: name.replace("_", "-"), extra="ignore")

    store: str = Field(min_length=1, description="URI under which runs are kept.")
    s3_endpoint: str = Field("", description="URL of the S3 server; empty for AWS.")
    s3_region: str = Field("", description="Its region.")
    s3_secret: str = Field(
        description="Secret with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; none for workload identity."
    )
    image_showdown: str = Field(description="Image of the battle gateway.")
    image_collector: str = Field(description="Image that collects.")
    image_evaluator: str = Field(description="Image that evaluates.")
    image_trainer: str = Field(description="Image that trains.")
    image_control: str = Field(description="Image of everything else.")
    image_pull_policy: str = Field(description="IfNotPresent, Always or Never.")
    template_version: str = Field(description="Version of nashdex that the WorkflowTemplates belong to.")
    collect_pod_patch: str = Field("{}", description="Resources, node selection and so on of collecting pods.")
    train_pod_patch: str = Field("{}", description="The same of training pods: GPUs too.")
    evaluate_pod_patch: str = Field("{}", description="The same of evaluating pods.")
    control_pod_patch: str = Field("{}", description="The same of all others.")
    gpu_semaphore: str = Field(description="How many training pods run at once.")
    kueue_queue: str = Field("", description="Kueue's local queue that pods are labelled with; empty for none.")

    @classmethod
    def parse(cls, data: Mapping[str, str], namespace: str) -> Self:
        """Return the site of a ConfigMap's data.

        Raises:
            ConfigurationError: a key is missing.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise ConfigurationError(
                f"ConfigMap {CONFIG_MAP} of namespace {namespace} does not fit: {describe_problems(error)}; "
                "install nashdex there again"
            ) from error

    @property
    def trains_on_gpu(self) -> bool:
        """Whether training pods are given one."""
        try:
            patch = json.loads(self.train_pod_patch or "{}")
            limits = [container.get("resources", {}).get("limits", {}) for container in patch.get("containers", [])]
        except (ValueError, AttributeError, TypeError):
            return True  # YAML, or what Argo will complain of; not known to have none
        return any(word in resource for names in limits for resource in names for word in _GPU_RESOURCES)
