"""Options of the commands that use a cluster."""

from typing import Annotated

import typer

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
