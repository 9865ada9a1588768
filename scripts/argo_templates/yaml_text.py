"""Write YAML for readers: short maps on one line, repeated blocks as named anchors, and comments.

PyYAML has no comments, so they travel through it as keys and list items that begin with ``#``.
"""

import re
import textwrap
from typing import Any

import yaml

_WIDTH = 120
_COMMENT = re.compile(r'^(?P<indent> *)(?:- )?"#(?: (?P<text>.*))?"(?:: null)?$', re.MULTILINE)


class Inline(dict[str, Any]):
    """A map that is written on one line, with everything in it."""


class InlineList(list[Any]):
    """A list that is written on one line, with everything in it."""


class Literal(str):
    """A text of several lines that is written as it is."""

    __slots__ = ()


class _SharedMap(dict[str, Any]):
    anchor: str


class _SharedList(list[Any]):
    anchor: str


def shared_map(anchor: str, content: dict[str, Any]) -> dict[str, Any]:
    """Return a map that a document writes once, as ``&anchor``, and repeats as ``*anchor``."""
    shared = _SharedMap(content)
    shared.anchor = anchor
    return shared


def shared_list(anchor: str, content: list[Any]) -> list[Any]:
    """Return a list that a document writes once, as ``&anchor``, and repeats as ``*anchor``."""
    shared = _SharedList(content)
    shared.anchor = anchor
    return shared


def comment(text: str = "") -> str:
    """Return a comment, to be a list's item or, with the value None, a map's key; an empty line if it has no text."""
    return f"# {text}" if text else "#"


def to_text(document: dict[str, Any]) -> str:
    """Return a document as YAML."""
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=float("inf"), allow_unicode=True)
    return _COMMENT.sub(_comment_lines, text)


def without_comments(value: object) -> object:
    """Return the objects that a reader of ``to_text(value)`` gets."""
    if isinstance(value, dict):
        return {key: without_comments(part) for key, part in value.items() if not key.startswith("#")}
    if isinstance(value, list):
        return [without_comments(part) for part in value if not (isinstance(part, str) and part.startswith("#"))]
    return value


def wrapped_comment(text: str, indent: str = "") -> str:
    """Return comment lines that keep within the line length."""
    return textwrap.fill(text, _WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")


def _comment_lines(match: re.Match[str]) -> str:
    return wrapped_comment(match["text"], match["indent"]) if match["text"] else ""


class _Dumper(yaml.SafeDumper):
    """PyYAML's dumper with the notation above, and double quotes."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(*args, **options)
        self.anchor_names: dict[int, str] = {}
        """By the id of a node."""

    def ignore_aliases(self, data: object) -> bool:
        return not isinstance(data, _SharedMap | _SharedList)

    def generate_anchor(self, node: yaml.Node) -> str:
        return self.anchor_names[id(node)]

    def check_simple_key(self) -> bool:
        return isinstance(self.event, yaml.ScalarEvent) or bool(super().check_simple_key())

    def choose_scalar_style(self) -> str:
        style = super().choose_scalar_style()
        return (
            '"' if style == "'" and isinstance(self.event, yaml.ScalarEvent) and '"' not in self.event.value else style
        )


def _represent_shared(dumper: _Dumper, data: _SharedMap | _SharedList) -> yaml.Node:
    node = dumper.represent_dict(data) if isinstance(data, dict) else dumper.represent_list(data)
    dumper.anchor_names[id(node)] = data.anchor
    return node


def _represent_inline(dumper: _Dumper, data: Inline) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", data, flow_style=True)


def _represent_inline_list(dumper: _Dumper, data: InlineList) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)


def _represent_literal(dumper: _Dumper, data: Literal) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(data), style="|")


_Dumper.add_representer(_SharedMap, _represent_shared)
_Dumper.add_representer(_SharedList, _represent_shared)
_Dumper.add_representer(Inline, _represent_inline)
_Dumper.add_representer(InlineList, _represent_inline_list)
_Dumper.add_representer(Literal, _represent_literal)
