"""Asks the Kubernetes API for the WorkflowTemplates and the site's ConfigMap, with a submitter's rights.

Arguments: the namespace, the version, and the names of the templates.
"""

import sys

from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

TIMEOUT_SECONDS = 20


def problems(namespace: str, version: str, names: list[str]) -> list[str]:
    """Return what is missing or of another version."""
    found = []
    for name in names:
        try:
            template = client.CustomObjectsApi().get_namespaced_custom_object(
                "argoproj.io", "v1alpha1", namespace, "workflowtemplates", name, _request_timeout=TIMEOUT_SECONDS
            )
        except ApiException as error:
            found.append(f"WorkflowTemplate {name}: {error.reason}")
            continue
        there = template["metadata"].get("labels", {}).get("app.kubernetes.io/version")
        if there != version:
            found.append(f"WorkflowTemplate {name} is of version {there}, the release of {version}: helm upgrade")
    site = client.CoreV1Api().read_namespaced_config_map("nashdex-site", namespace, _request_timeout=TIMEOUT_SECONDS)
    if site.data.get("template-version") != version:
        found.append(f"ConfigMap nashdex-site is not of version {version}: helm upgrade")
    return found


def main() -> int:
    """Return 0 where everything is there."""
    namespace, version, *names = sys.argv[1:]
    config.load_incluster_config()
    try:
        found = problems(namespace, version, names)
    except ApiException as error:
        found = [f"ConfigMap nashdex-site: {error.reason}"]
    sys.stderr.writelines(f"{line}\n" for line in found)
    if not found:
        sys.stdout.write(f"{len(names)} WorkflowTemplates of version {version} in namespace {namespace}\n")
    return 64 if found else 0


if __name__ == "__main__":
    sys.exit(main())
