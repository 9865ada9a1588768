"""Options of the commands that talk to a cluster."""

from typing import Annotated

import typer

NamespaceOption = Annotated[
    str | None,
    typer.Option("--namespace", "-n", metavar="NAME", help="[default: $ARGO_NAMESPACE, else the context's own]"),
]
ContextOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Context of the kubeconfig. [default: its current one]")
]
ServerOption = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT", help="Argo server to go through. [default: $ARGO_SERVER, else the Kubernetes API]"
    ),
]
