"""``nashdex policy``: the policies of a run. Installed packages add commands that import others."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nashdex.commands import published
from nashdex.commands.output import JsonOption, print_json, print_text

app = typer.Typer(no_args_is_help=True, help="List, publish and export policies; import others.")
app.command("show")(published.show_policy)
app.command("get")(published.get_policy)
app.command("publish")(published.publish_policy)


@app.command("list")
def list_policies(
    run: Annotated[
        str, typer.Argument(metavar="RUN_URI", help="URI of a run or of a folder of policies; zoo: for the zoo.")
    ],
    *,
    as_json: JsonOption = False,
) -> None:
    """Print the policies of a run: ids, names, kinds, iterations and ratings.

    Each line begins with what other commands take after `RUN_URI#`: the beginning of an id, or the name. Ratings are of
    the newest solved iteration; a stored policy without one is not in the population.
    """
    from nashdex.policies.references import known_policies
    from nashdex.store import open_store

    found = known_policies(open_store(run))
    if as_json:
        print_json({"policies": [asdict(policy) for policy in found]})
        return
    rows = [("name", "short id", "id", "kind", "iteration", "Elo")]
    rows += [
        (
            policy.name,
            policy.short_id,
            policy.id,
            policy.kind,
            "" if policy.iteration is None else str(policy.iteration),
            "" if policy.elo is None else f"{policy.elo:.0f}",
        )
        for policy in found
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print_text("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@app.command("export")
def export_policy(
    policy: Annotated[str, typer.Argument(metavar="RUN#NAME", help="A stored policy, as `nashdex battle` names it.")],
    *,
    onnx: Annotated[Path, typer.Option(metavar="FILE.onnx", help="File to write.")],
    as_json: JsonOption = False,
) -> None:
    """Write a stored network as ONNX, for other stacks, and beside it FILE.json with the layout of its observation.

    The file takes the observation of one decision, (1, F) in float32, and gives logits before masking, the critic's
    value, and the memory of a network that has one. Legality, temperature and sampling are the caller's.
    """
    from nashdex.page.export import export_files

    layout = export_files(policy, onnx)
    if as_json:
        print_json({"onnx": str(onnx), "layout": str(layout)})
    else:
        print_text(f"{onnx}: the network; {layout}: the layout of its observation and actions")


@app.command("ensemble")
def make_ensemble(
    store: Annotated[str, typer.Argument(metavar="STORE", help="Folder or s3:// URI to write the ensemble to.")],
    members: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN#POLICY...", help="2 to 16 networks of one format, such as runs/a#newest or runs/b#pb8894@T0.7."
        ),
    ],
    *,
    name: Annotated[str, typer.Option(help="Name for people.")] = "ensemble",
    as_json: JsonOption = False,
) -> None:
    """Store an ensemble and print its id, which every command plays as STORE#ID.

    Each member votes with its log-probabilities, at its own temperature, and the ensemble plays in proportion to the
    geometric mean of their probabilities. STORE gets copies of the members.
    """
    from nashdex.core.references import PolicyReference
    from nashdex.policies.ensembles import making
    from nashdex.store import open_store

    references = [PolicyReference.parse(member) for member in members]
    ensemble = making.make_ensemble(open_store(store), references, name)
    if as_json:
        print_json(ensemble.model_dump(mode="json"))
        return
    print_text(f"{ensemble.id}: {ensemble.name}, {len(ensemble.members)} members of {ensemble.format}")
    print_text(f"play it with: nashdex battle --p1 {store}#{ensemble.id} --p2 heuristic")
