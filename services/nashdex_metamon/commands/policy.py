"""``nashdex policy import`` and ``nashdex policy import-population``: what metamon's runs leave, as nashdex's own."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nashdex_cli.commands.output import JsonOption, print_json, print_text


def import_policy(
    source: Annotated[
        str,
        typer.Argument(
            metavar="CHECKPOINT",
            help="A .pt or .safetensors file, or metamon's name of a model, such as SyntheticRLV2.",
        ),
    ],
    store: Annotated[str, typer.Argument(metavar="STORE", help="Folder or s3:// URI to write the policy to.")],
    *,
    vocabulary: Annotated[
        Path, typer.Option(metavar="FILE.json", help="The vocabulary that it was trained with: word to token id.")
    ],
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For a file: metamon's model whose spaces it has, such as SmallRL."),
    ] = None,
    epoch: Annotated[
        int | None, typer.Option(min=0, help="Epoch of a named model. [default: metamon's own choice]")
    ] = None,
    observation_space: Annotated[
        str | None, typer.Option(help="Metamon's name. [default: the model's, else DefaultObservationSpace]")
    ] = None,
    action_space: Annotated[
        str | None, typer.Option(help="Metamon's name. [default: the model's, else MinimalActionSpace]")
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option(help="Metamon's name of its reward. [default: the model's, else DefaultShapedReward]"),
    ] = None,
    turn_heads: Annotated[
        int | None,
        typer.Option(min=1, help="Heads of the transformer over one decision. [default: the model's, else 5]"),
    ] = None,
    num_decisions: Annotated[
        int | None, typer.Option(min=1, help="Length of its memory, in decisions. [default: the model's, else 200]")
    ] = None,
    strict_mask: Annotated[
        bool,
        typer.Option(help="Never draw illegal actions. metamon itself draws each with a probability of 0.1 %."),
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Store a metamon checkpoint as a frozen policy and print its id, which `nashdex battle` plays as STORE#ID.

    Models are looked up in METAMON_CACHE_DIR. Weights for training alone are left out. An error names every missing or
    unexpected tensor.
    """
    from nashdex.store import open_own_store
    from nashdex_metamon.checkpoints.archive import Import, import_checkpoint
    from nashdex_metamon.checkpoints.models import PublishedModel, find_checkpoint, published_model

    path = Path(source)
    is_file = path.is_file() or path.suffix in {".pt", ".safetensors"}
    name = model if is_file else source
    published = PublishedModel("", 0) if name is None else published_model(name)
    shown = path.name if is_file else f"{source} epoch {published.epoch if epoch is None else epoch}"
    document = import_checkpoint(
        open_own_store(store),
        Import(
            checkpoint=path if is_file else find_checkpoint(source, epoch),
            vocabulary=vocabulary,
            name=shown,
            observation_space=observation_space or published.observation_space,
            action_space=action_space or published.action_space,
            reward=reward or published.reward,
            turn_heads=turn_heads or published.turn_heads,
            num_decisions=num_decisions or published.num_decisions,
            strict_mask=strict_mask,
        ),
    )
    if as_json:
        print_json(document.model_dump(mode="json"))
        return
    print_text(f"{document.id}: {document.name}, {document.num_parameters:,} parameters, frozen")
    print_text(f"play it with: nashdex battle --format gen1ou --p1 {store}#{document.id} --p2 random")


def import_population(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="Has population.json, interaction_matrix.json and perhaps meta_strategy.json of metamon.",
        ),
    ],
    ledger: Annotated[Path, typer.Argument(metavar="COUNTS.json", help="File to write the counts to; must not exist.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Read a population of metamon's PSRO scripts, say what each member is here, and write its results as counts.

    `nashdex rate COUNTS.json` and `nashdex solve COUNTS.json` read the counts. Pairs that never met have 0 games, where
    metamon counts them as even.
    """
    import json

    from nashdex.core.output_files import write_output
    from nashdex_metamon.phase_zero import read_phase_zero, require_new

    require_new(ledger)
    found = read_phase_zero(folder)
    write_output({ledger: f"{json.dumps(found.ledger(), indent=2)}\n".encode()}, "COUNTS.json")
    if as_json:
        print_json({"members": [asdict(member) for member in found.members], "unplayed_pairs": found.num_unplayed})
        return
    for member in found.members:
        share = "" if member.probability is None else f" ({member.probability:.1%} of the mixture)"
        print_text(f"{member.name}{share}: {member.scripted or member.command or member.problem}")
    print_text(f"{len(found.members)} policies, {found.num_unplayed} pairs that never met; counts are in {ledger}")
