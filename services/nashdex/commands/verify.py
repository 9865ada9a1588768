"""``nashdex verify``: whether everything in a run follows from what is below it."""

from typing import Annotated

import typer

from nashdex.commands.output import JsonOption, print_json, print_text
from nashdex.commands.run_options import RunUriArgument
from nashdex.core.errors import DataError

_MOST_SHOWN = 20


def verify(
    run: RunUriArgument,
    root: Annotated[
        str | None,
        typer.Option(metavar="SHA256", help="Root hash of an earlier verification; fail if it differs."),
    ] = None,
    replay: Annotated[
        bool,
        typer.Option(
            "--replay", help="Also repeat the trainings that need no new battles; compare weights to the bit."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read a whole run, compare every hash, and recompute everything that needs no battles and no training.

    --replay trains again from the collected battles and from the chunks that actors.keep_chunks kept, in the journal's
    order. It takes as long as the optimiser steps took. The same bits need the same kind of processor or GPU.

    Exits with 65 at the first mismatch. The root hash covers every byte: keep it where nobody who writes to the
    store can change it, and compare with --root later.
    """
    import logging

    import structlog

    from nashdex.core.stopping import install_stop_handlers
    from nashdex.runs.creation import open_run
    from nashdex.runs.verification import verify_run

    install_stop_handlers()
    before = structlog.get_config()
    # Steps that are done again have nothing new to log.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    try:
        found = verify_run(open_run(run), replays=replay)
    finally:
        structlog.configure(**before)
    if root is not None and root != found.root:
        found.problems.append(f"the root hash of {run} is {found.root}, expected {root}: an object changed")
    if as_json:
        print_json(
            {
                "run": run,
                "root": found.root,
                "objects": found.objects,
                "recomputed": found.recomputed,
                "replayed": found.replayed,
                "not_replayed": found.not_replayed,
                "problems": found.problems,
            }
        )
    else:
        print_text(f"{found.objects} objects compared, {len(found.recomputed)} documents computed again")
        if replay:
            print_text(f"{len(found.replayed)} trainings repeated from the kept battles")
        for shard, reason in found.not_replayed.items():
            print_text(f"not repeated: {shard}: {reason}")
        for problem in found.problems[:_MOST_SHOWN]:
            print_text(f"problem: {problem}")
        print_text(f"root hash {found.root}")
    if found.problems:
        raise DataError(found.problems[0])
