"""The check of a site before a run is sent there, as submit and resume offer it."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nashdex.cluster.client import Cluster

CheckOption = Annotated[
    bool,
    typer.Option(
        "--check/--no-check",
        help="First start each image where its steps run, and write to the store; a check that succeeded holds for a "
        "day, while the site stays the same.",
    ),
]
CheckTimeoutOption = Annotated[
    float,
    typer.Option(
        min=1, max=3000, metavar="SECONDS", help="How long that may take, such as until nodes with GPUs are made."
    ),
]
DEFAULT_CHECK_TIMEOUT_SECONDS = 300.0


def site_check(cluster: "Cluster", *, wanted: bool, timeout_seconds: float) -> Callable[[], None] | None:
    """Return what checks the site and shows how far it is on standard error, in one line on a terminal."""
    if not wanted:
        return None

    def check() -> None:
        from rich.console import Console

        from nashdex.cluster.site_check import check_with_pods

        console = Console(file=sys.stderr, highlight=False)
        with console.status("") as status:

            def tell(line: str) -> None:
                if console.is_terminal:
                    status.update(line)
                else:
                    sys.stderr.write(f"{line}\n")

            check_with_pods(cluster, tell, timeout_seconds=timeout_seconds)

    return check
