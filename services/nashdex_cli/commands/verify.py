"""``nashdex verify``: check that everything in a run follows from its battles and settings."""

from typing import Annotated

import typer

from nashdex.core.errors import ConfigurationError, DataError
from nashdex_cli.commands.output import JsonOption, print_json, print_text
from nashdex_cli.commands.run_options import RunUriArgument

_MOST_SHOWN = 20


def verify(
    run: RunUriArgument,
    root: Annotated[
        str | None,
        typer.Option(metavar="SHA256", help="Root hash of an earlier verification; fail if it differs."),
    ] = None,
    first: Annotated[
        int,
        typer.Option("--from", min=0, metavar="ITERATION", help="Verify this iteration and later ones only."),
    ] = 0,
    replay: Annotated[
        bool,
        typer.Option(
            "--replay", help="Also repeat the trainings that need no new battles; compare weights to the bit."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read a whole run, compare every hash, and recompute everything that needs no battles and no training.

    Learning curves are recomputed from the result of each evaluation's battles. A training whose settings evaluate must
    have these results, from the first evaluation to the last; runs of a nashdex that did not store them do not verify.

    --from N is for a long run whose earlier iterations were verified before: each iteration is computed from what the
    one before published. The root hash then covers the iterations from N on, and compares with one of the same --from.

    --replay trains again from the collected battles or from the chunks that actors.keep_chunks kept, in the journal's
    order. It takes as long as the optimiser steps took. The same bits need the same kind of processor or GPU.

    Exits with 65 if anything does not follow. The root hash covers every byte that was read: settings, inputs,
    manifests, battles, policies, documents and the verdict, but no logs, checkpoints or calibrations. Keep it where
    nobody who writes to the store can change it, and compare with --root later.
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
        opened = open_run(run)
        if first >= opened.settings.iterations:
            raise ConfigurationError(
                f"--from {first}: {run} has {opened.settings.iterations} iterations; expected at most "
                f"{opened.settings.iterations - 1}"
            )
        found = verify_run(opened, first=first, replays=replay)
    finally:
        structlog.configure(**before)
    folder = opened.store.uri.rstrip("/").rpartition("/")[2]
    if folder != opened.id:
        found.problems.append(
            f"{opened.store.uri} holds the run {opened.id}: it was renamed or copied, and `nashdex run` would not "
            f"go on with it; name the folder {opened.id} again"
        )
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
                "not_recomputed": found.not_recomputed,
                "problems": found.problems,
            }
        )
    else:
        print_text(f"{found.objects} objects compared, {len(found.recomputed)} documents computed again")
        if replay:
            print_text(f"{len(found.replayed)} trainings repeated from the kept battles")
        for shard, reason in found.not_replayed.items():
            print_text(f"not repeated: {shard}: {reason}")
        for shard, reason in found.not_recomputed.items():
            print_text(f"not computed again: {shard}: {reason}")
        for problem in found.problems[:_MOST_SHOWN]:
            print_text(f"problem: {problem}")
        print_text(f"root hash {found.root}")
    if found.problems:
        raise DataError(found.problems[0])
