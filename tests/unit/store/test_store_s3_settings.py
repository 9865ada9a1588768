"""What an S3 store takes from its environment, without asking a server."""

import pytest

from nashdex.store.s3 import S3Store


@pytest.fixture(autouse=True)
def _no_cloud(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")


@pytest.mark.parametrize(
    ("environment", "region"),
    [
        ({"AWS_REGION": "eu-west-3"}, "eu-west-3"),
        ({"AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-1"),
        ({"AWS_REGION": "eu-west-3", "AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-3"),
        ({"AWS_REGION": "", "AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-1"),
    ],
)
def test_region(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], region: str) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    client = S3Store("bucket", "")._client
    assert client.meta.region_name == region
    assert client.meta.endpoint_url == f"https://s3.{region}.amazonaws.com"


def test_an_empty_endpoint_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "")
    monkeypatch.setenv("AWS_REGION", "eu-west-3")
    assert S3Store("bucket", "")._client.meta.endpoint_url == "https://s3.eu-west-3.amazonaws.com"
