"""Options of the commands that talk to a cluster, and the check of its site that they ask for."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex_cli.commands.output import print_note

if TYPE_CHECKING:
    from nashdex_cluster.client import Cluster

NamespaceOption = Annotated[
    str | None,
    typer.Option("--namespace", "-n", metavar="NAME", help="Namespace. [default: $ARGO_NAMESPACE, else the context's]"),
]
ContextOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Context of the kubeconfig. [default: the current one]")
]
ServerOption = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="Argo server to use. [default: $ARGO_SERVER, else the Kubernetes API]"),
]
WaitOption = Annotated[bool, typer.Option("--wait", help="Wait until it ends; exit with its status.")]


CheckOption = Annotated[
    bool,
    typer.Option(
        "--check/--no-check",
        help="First start each image on the nodes of its steps, and write to the store. A successful check is valid "
        "for a day, unless the site changes.",
    ),
]
CheckTimeoutOption = Annotated[
    float,
    typer.Option(
        min=1, max=3000, metavar="SECONDS", help="Time limit of the check. GPU nodes may take minutes to start."
    ),
]
DEFAULT_CHECK_TIMEOUT_SECONDS = 300.0


def site_check(cluster: "Cluster", *, wanted: bool, timeout_seconds: float) -> Callable[[], None] | None:
    """Return the check of the site, which shows its progress on standard error; None if it is not wanted."""
    if not wanted:
        return None

    def check() -> None:
        from rich.console import Console

        from nashdex_cluster.site_check import check_with_pods

        console = Console(file=sys.stderr, highlight=False)
        with console.status("") as status:

            def show(line: str) -> None:
                if console.is_terminal:
                    status.update(line)
                else:
                    print_note(line)

            check_with_pods(cluster, show, timeout_seconds=timeout_seconds)

    return check
