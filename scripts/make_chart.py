"""Write the generated files of helm/nashdex and k8s: ``make chart``. With --check, name the files that are stale.

helm/nashdex/values.yaml, values.schema.json and the README's table come from the model in chart_values. k8s/base and
k8s/components/object-store are the rendered chart, for clusters without Helm.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from helm_python import Chart
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from chart_values import ChartValues

ROOT = Path(__file__).parents[1]
CHART = Path("helm/nashdex")
MARK = "<!-- From here on made by `make chart`. -->\n"
EMBEDDED = "embedded-store.yaml"
HELM_KEYS = ("helm.sh/chart", "app.kubernetes.io/managed-by", "app.kubernetes.io/instance", "namespace")


def fields(values: BaseModel) -> Iterator[tuple[str, FieldInfo]]:
    """Yield a section's own fields first, then the inherited ones."""
    own = type(values).__annotations__
    yield from sorted(type(values).model_fields.items(), key=lambda item: item[0] not in own)


def values_yaml(values: BaseModel, indent: str = "") -> Iterator[str]:
    """Yield the lines of values.yaml: each key's description, then the key with its default."""
    for name, field in fields(values):
        value = getattr(values, name)
        yield f"{indent}# -- {field.description}"
        if isinstance(value, BaseModel):
            yield f"{indent}{field.alias}:"
            yield from values_yaml(value, f"{indent}  ")
        else:
            yield f"{indent}{field.alias}: {json.dumps(value)}"
        if not indent:
            yield ""


def table(values: BaseModel, prefix: str = "") -> Iterator[str]:
    """Yield a row of the README's table for every leaf key."""
    for name, field in fields(values):
        value, key = getattr(values, name), f"{prefix}{field.alias}"
        if isinstance(value, BaseModel):
            yield from table(value, f"{key}.")
        else:
            yield f"| `{key}` | `{json.dumps(value)}` | {field.description} |"


def rendered(values: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the chart's objects by template file, without Helm's own labels."""
    with Chart.load(ROOT / CHART) as chart:
        texts = chart.render(values, name="nashdex", namespace="nashdex")
    found = {}
    for path, text in texts.items():
        if path.startswith("nashdex/templates/") and path.endswith(".yaml"):
            found[path.removeprefix("nashdex/templates/")] = [
                without_helm(document) for document in yaml.safe_load_all(text) if document
            ]
    return found


def without_helm(document: Any) -> Any:  # noqa: ANN401 - any part of a YAML document
    """Return an object without Helm's labels and without the namespace, which an overlay sets."""
    if isinstance(document, dict):
        return {key: without_helm(value) for key, value in document.items() if key not in HELM_KEYS}
    return [without_helm(value) for value in document] if isinstance(document, list) else document


def documents(objects: list[dict[str, Any]]) -> str:
    """Return the text of a file of objects, ordered by kind and name."""
    ordered = sorted(objects, key=lambda each: (each["kind"], each["metadata"]["name"]))
    return "# Made by `make chart` from helm/nashdex.\n" + "---\n".join(
        yaml.safe_dump(each, sort_keys=False, width=120) for each in ordered
    )


def files() -> Iterator[tuple[Path, str]]:
    """Yield every generated file with its content; the chart's values come before what it renders from them."""
    defaults = ChartValues()
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **ChartValues.model_json_schema()}
    yield CHART / "values.yaml", "\n".join(["# Made by `make chart`.", "", *values_yaml(defaults)])
    yield CHART / "values.schema.json", json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    readme = CHART / "README.md"
    head = (ROOT / readme).read_text().partition(MARK)[0]
    rows = ["", "## Values", "", "| key | default | meaning |", "|---|---|---|", *table(defaults)]
    yield readme, head + MARK + "\n".join(rows) + "\n"
    # Whoever installs it creates this Secret.
    embedded = rendered({"objectStore": {"existingSecret": "nashdex-store"}})
    external = rendered(
        {"objectStore": {"uri": "s3://nashdex", "existingSecret": "nashdex-store", "embedded": {"enabled": False}}}
    )
    # Without the WorkflowTemplates, which argo/ has, and without Helm's tests.
    base = [each for name, parts in external.items() if name != "workflow-templates.yaml" for each in parts]
    kept = [each for each in base if "helm.sh/hook" not in each["metadata"].get("annotations", {})]
    yield Path("k8s/base/nashdex.yaml"), documents(kept)
    yield Path("k8s/components/object-store/object-store.yaml"), documents(embedded[EMBEDDED])


def main() -> int:
    """Write the files, or check them; return the exit status."""
    check = sys.argv[1:] == ["--check"]
    stale = []
    for path, content in files():
        target = ROOT / path
        if target.exists() and target.read_text() == content:
            continue
        stale.append(str(path))
        if not check:
            target.write_text(content)
    if check and stale:
        sys.stderr.write(f"not current: {', '.join(stale)}; run 'make chart'\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
