"""Values of the object store."""

from pydantic import Field

from argo_templates.pods import Size
from chart_values.base import Values
from chart_values.pods import PodValues, ResourceValues, sized


class EmbeddedStoreValues(PodValues):
    """An S3 server in the namespace, for kind and laptops."""

    enabled: bool = Field(default=True, description="Install it. Set false if `objectStore.uri` names a bucket.")
    resources: ResourceValues = Field(
        sized(Size("100m", "256Mi", "1Gi")), description="Requests and limits of the main container."
    )
    image: str = Field("docker.io/versity/versitygw:v1.8.0", min_length=1, description="versitygw, by tag or digest.")
    bucket: str = Field(
        "nashdex", pattern=r"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$", description="Bucket; the server creates it."
    )
    size: str = Field("20Gi", min_length=1, description="Size of its volume.")
    storage_class_name: str = Field("", description="Storage class of its volume. Default: the cluster's.")
    retain_volume: bool = Field(default=False, description="Keep the volume with all runs after `helm uninstall`.")


class ObjectStoreValues(Values):
    """Where runs are stored."""

    uri: str = Field(
        "",
        pattern=r"^(s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_][A-Za-z0-9_.=+@-]*)*)?$",
        description="`s3://bucket/prefix`. Required unless the embedded server is enabled.",
    )
    endpoint: str = Field("", pattern=r"^(https?://.+)?$", description="URL of the S3 service. Default: AWS.")
    region: str = Field("us-east-1", min_length=1, description="Region that requests are signed for.")
    existing_secret: str = Field(
        "",
        description="Secret with the keys `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`. Leave empty for workload "
        "identity, or to let the embedded server generate its keys.",
    )
    embedded: EmbeddedStoreValues = Field(EmbeddedStoreValues(), description="An S3 server on a volume.")
