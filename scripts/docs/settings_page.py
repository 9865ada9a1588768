"""The reference page of the settings, made from their JSON Schema."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from nashdex.core.section import KIND
from nashdex.games.showdown.gateway import GatewaySettings
from nashdex.settings.process import TelemetrySettings
from nashdex.settings.run import RunSettings

_HEAD = """\
# Settings

A TOML file describes a run. Later wins: the defaults below, the file, the environment
(`NASHDEX_COLLECT__BATTLES=500`), then `--set collect.battles=500`. `nashdex config show FILE.toml` prints the result,
and `nashdex config schema` prints this page as JSON Schema. Unknown keys are refused.

Where a section has a `kind`, it chooses what the section configures; the other keys depend on it. Installed packages
may [add kinds](plugins.md); this page shows the kinds that nashdex ships.
"""

_ENVIRONMENT = """\
## Environment

What depends on the machine and not on the run comes from environment variables alone. Other pages have
`NASHDEX_TEAM_SETS` ([own teams](../how-to/own-teams.md#sets-of-teams)), `NASHDEX_PLAYERS`
([players](../how-to/external-players.md#declare-a-player)), `NASHDEX_SHOWDOWN_PASSWORD`
([serve](../how-to/serve.md#on-a-public-server)) and the variables of [S3](../how-to/s3.md).
"""
_VARIABLES: dict[str, type[BaseModel]] = {"NASHDEX_": TelemetrySettings, "NASHDEX_GATEWAY_": GatewaySettings}

_LARGE = 1 << 32
_DESCRIBED = "described"
"""Key of the schema's root that holds the unions that the page has described, by their kinds."""

Schema = dict[str, Any]


def settings_page() -> str:
    """Return the page: one table a section, then the environment's."""
    schema = RunSettings.model_json_schema()
    return "\n".join([_HEAD, *_section(schema, schema, "", level=1), _ENVIRONMENT, *_environment()]) + "\n"


def _environment() -> Iterator[str]:
    """Yield the table of the environment variables."""
    variables = {}
    for prefix, model in _VARIABLES.items():
        schema = model.model_json_schema()
        for name, field in schema["properties"].items():
            is_path = field.get("format") == "path"  # of this machine
            variables[f"{prefix}{name.upper()}"] = field | ({"default": None} if is_path else {})
    yield from _table(variables, {"$defs": {}})


def _section(schema: Schema, root: Schema, path: str, level: int) -> Iterator[str]:
    """Yield the table of one section's keys, then its inner sections."""
    fields = {name: (field, _resolve(field, root)) for name, field in schema.get("properties", {}).items()}
    inner = {name: pair for name, pair in fields.items() if "properties" in pair[1] or _choices(pair[1], root)}
    if path:
        yield from (f"{'#' * min(level, 4)} `[{path}]`", "", _text(schema), "")
    else:
        yield from ("## Top level", "")
    yield from _table({name: {**pair[1], **pair[0]} for name, pair in fields.items() if name not in inner}, root)
    for name, (field, resolved) in inner.items():
        inner_path = f"{path}.{name}" if path else name
        if _choices(resolved, root):
            yield from _union(field, _choices(resolved, root), root, inner_path, level + 1)
        else:
            yield from _section(resolved, root, inner_path, level + 1)


def _union(field: Schema, choices: dict[str, Schema], root: Schema, path: str, level: int) -> Iterator[str]:
    """Yield a section whose ``kind`` chooses its keys: one table a kind, or a link to an equal section before it."""
    yield from (f"{'#' * min(level, 4)} `[{path}]`", "", _text(field), "")
    default = f"; `{kind}` by default" if (kind := _default_kind(path)) else ""
    yield from (f"One of {', '.join(f'`{kind}`' for kind in choices)}{default}.", "")
    earlier = root.setdefault(_DESCRIBED, {}).setdefault(tuple(choices), path)
    if earlier != path:
        yield from (f"Keys as in [`[{earlier}]`](#{earlier.replace('.', '')}).", "")
        return
    for kind, choice in choices.items():
        yield from (f'{"#" * min(level + 1, 5)} `[{path}]` with `kind = "{kind}"`', "", _text(choice), "")
        fields = {name: _resolve(field, root) | field for name, field in choice["properties"].items() if name != KIND}
        inner = {name: field for name, field in fields.items() if "properties" in field or _choices(field, root)}
        yield from _table({name: field for name, field in fields.items() if name not in inner}, root)
        for name, section in inner.items():
            if _choices(section, root):
                yield from _union(section, _choices(section, root), root, f"{path}.{name}", level + 2)
            else:
                yield from _section(section, root, f"{path}.{name}", level + 2)


def _default_kind(path: str) -> str | None:
    """Return the kind that the section at ``path`` has by default."""
    section: Any = RunSettings()
    for name in path.split("."):
        section = getattr(section, name, None)
    return getattr(section, KIND, None)


def _table(fields: dict[str, Schema], root: Schema) -> Iterator[str]:
    if fields:
        yield from ("| key | value | default | meaning |", "|---|---|---|---|")
        for name, field in fields.items():
            yield f"| `{name}` | {_values(field, root)} | {_default(field)} | {_text(field)} |"
        yield ""


def _resolve(field: Schema, root: Schema) -> Schema:
    """Follow a reference into the schema's definitions, also one wrapped in allOf."""
    while True:
        if len(field.get("allOf", [])) == 1:
            field = field["allOf"][0]
        if "$ref" not in field:
            return field
        field = root["$defs"][field["$ref"].rpartition("/")[2]]


def _choices(field: Schema, root: Schema) -> dict[str, Schema]:
    """Return the section of each ``kind`` of a discriminated union, or nothing."""
    mapping = field.get("discriminator", {}).get("mapping", {})
    return {kind: _resolve({"$ref": reference}, root) for kind, reference in mapping.items()}


def _values(field: Schema, root: Schema) -> str:
    """Say which values a key takes: choices, or a type with its range."""
    field = {**_resolve(field, root), **{key: value for key, value in field.items() if key != "$ref"}}
    if "enum" in field:
        return ", ".join(f"`{json.dumps(value, ensure_ascii=False)}`" for value in field["enum"])
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "anyOf" in field:
        return " or ".join(_values(part, root) for part in field["anyOf"] if part.get("type") != "null")
    if "properties" in field:
        return f"table of {', '.join(f'`{name}`' for name in field['properties'])}"
    if field.get("type") == "array":
        items = field.get("items") or {}
        return f"list of {_values(items, root)}" if items else f"{len(field.get('prefixItems', []))} numbers"
    bounds = [
        (sign, field[key])
        for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"), ("exclusiveMaximum", "<"))
        if key in field
    ]
    ranges = ", ".join(f"{sign} {_number(bound)}" for sign, bound in bounds)
    return " ".join([str(field.get("type", "")), ranges]).strip()


def _number(bound: float) -> str:
    """Write a bound; large powers of two as such."""
    if isinstance(bound, int) and bound >= _LARGE and bound.bit_count() == 1:
        return f"2^{bound.bit_length() - 1}"
    return f"{bound:.12g}"


def _default(field: Schema) -> str:
    if "default" not in field:
        return "required"
    default = field["default"]
    return "" if default is None else f"`{json.dumps(default, ensure_ascii=False)}`"


def _text(field: Schema) -> str:
    return " ".join(field.get("description", "").split()).replace("|", "\\|")
