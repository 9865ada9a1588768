"""The reference page of the command line, made from the commands themselves."""

import inspect
import re
from collections.abc import Iterator

from typer import Context
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from nashdex_cli.cli import command as root
from nashdex_cli.commands.groups import CommandGroup

_HEAD = """\
# Commands

Every command has `--help`. With `--json`, a command prints one JSON document on standard output and nothing else; logs
go to standard error. A failure is one line on standard error and an
[exit code](../explanation/architecture.md#exit-codes); `nashdex --debug COMMAND` shows the traceback.
"""


def commands_page() -> str:
    """Return the page: an overview by group, then each command with its arguments and options."""
    assert isinstance(root, CommandGroup)
    context = Context(root, info_name="nashdex")
    lines = [_HEAD]
    for panel, commands in root.by_panel(context).items():
        lines += [f"## {panel}", "", "| command | what it does |", "|---|---|"]
        lines += [f"| [`nashdex {c.name}`](#nashdex-{c.name}) | {_cell(_first_sentence(c.help))} |" for c in commands]
        lines.append("")
        for command in commands:
            lines += _describe(command, Context(command, info_name=command.name, parent=context), level=3)
    return "\n".join(lines) + "\n"


def _describe(command: TyperCommand | TyperGroup, context: Context, level: int) -> Iterator[str]:
    path = context.command_path
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    yield from (f"{'#' * level} nashdex {path.removeprefix('nashdex ')}", "", f"```text\n{usage}\n```", "")
    yield from (inspect.cleandoc(command.help or ""), "")
    parameters = [
        p for p in command.params if isinstance(p, TyperArgument | TyperOption) and not p.hidden and p.name != "help"
    ]
    if parameters:
        yield from ("| argument or option | default | meaning |", "|---|---|---|")
        for parameter in parameters:
            record = parameter.get_help_record(context)
            assert record is not None
            name, (default, meaning) = record[0], _default_and_meaning(parameter)
            if isinstance(parameter, TyperArgument):
                name = re.sub(r" <.*>$", "", name)  # the type, after the name
            yield f"| `{_cell(' '.join(name.split()))}` | {_cell(default)} | {_cell(meaning)} |"
        yield ""
    if isinstance(command, TyperGroup):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert isinstance(inner, TyperCommand | TyperGroup)
            yield from _describe(inner, Context(inner, info_name=name, parent=context), level + 1)


def _default_and_meaning(parameter: TyperArgument | TyperOption) -> tuple[str, str]:
    """Return a parameter's default and help; a default that the help states in words is taken from there."""
    meaning = parameter.help or ""
    if stated := re.search(r"\s*\[default: (?P<default>.*)\]$", meaning):
        return stated["default"], meaning[: stated.start()]
    if parameter.required:
        return "required", meaning
    if parameter.default is None or callable(parameter.default) or parameter.default is False:
        return "", meaning
    return f"`{parameter.default}`", meaning


def _first_sentence(text: str | None) -> str:
    return inspect.cleandoc(text or "").partition("\n\n")[0].replace("\n", " ")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
