"""Commands of ``nashdex policy`` for published policies: publish, show, get."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from nashdex.commands.output import JsonOption, print_json, print_text

if TYPE_CHECKING:
    from nashdex.core.documents import Document

D = TypeVar("D", bound="Document")

_POLICY = "As in `nashdex battle`: zoo:NAME, STORE#ID or RUN#newest."


def publish_policy(
    policy: Annotated[str, typer.Argument(metavar="RUN#ID", help="A network that a run trained.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name for good, such as gen1randombattle.")],
    *,
    zoo: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="Folder or s3:// URI to publish in. [default: nashdex's own zoo]"),
    ] = None,
    panel: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File of `nashdex panel --output FILE`, for the card.")
    ] = None,
    exploit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="`exploit.json` of `nashdex exploit`, for the card.")
    ] = None,
    limits: Annotated[
        list[str] | None, typer.Option("--limit", metavar="TEXT", help="A limit that the card states; may be repeated.")
    ] = None,
    hardware: Annotated[str | None, typer.Option(metavar="TEXT", help="Hardware of the training.")] = None,
    commit: Annotated[str | None, typer.Option(metavar="HASH", help="The commit that trained it.")] = None,
    battles: Annotated[
        int, typer.Option(min=1, max=100_000, help="Battles that compare half precision with the trained weights.")
    ] = 100,
    as_json: JsonOption = False,
) -> None:
    """Publish a network in half precision under a name for good, with a card.

    The command measures how closely the published weights follow the trained ones, and reads the training's settings
    from the run. A name never changes its weights. Publishing the same weights again renews the card, for example
    with the panel.
    """
    from nashdex.core.references import ZOO, PolicyReference
    from nashdex.evaluator.panel import Panel
    from nashdex.metagame.analysis.exploit import ExploitVerdict
    from nashdex.store import open_store
    from nashdex.zoo.publishing import Said, publish

    said = Said(
        limits=limits or (),
        hardware=hardware,
        commit=commit,
        panel=None if panel is None else _read(panel, Panel),
        exploit=None if exploit is None else _read(exploit, ExploitVerdict),
    )
    card = publish(open_store(zoo or ZOO), PolicyReference.parse(policy), name, said, battles=battles)
    if as_json:
        print_json(card.model_dump(mode="json"))
        return
    where = f"zoo:{name}" if zoo in {None, ZOO} else f"{zoo}#{name}"
    print_text(f"{where}: {card.policy}, {card.weights_bytes:,} bytes")
    print_text(f"read its card: nashdex policy show {where}")


def show_policy(
    policy: Annotated[str, typer.Argument(metavar="POLICY", help=_POLICY)], *, as_json: JsonOption = False
) -> None:
    """Print the card of a published policy, or the description of another stored one."""
    from nashdex.core.errors import ConfigurationError
    from nashdex.core.references import PolicyReference
    from nashdex.policies.references import find_policy, format_of_policy
    from nashdex.policies.sources import source_of
    from nashdex.store import open_store
    from nashdex.zoo.card import card_text, read_card

    reference = PolicyReference.parse(policy)
    if not reference.store:
        raise ConfigurationError(f"{policy!r} is scripted and has no card; expected {_POLICY}")
    store = open_store(reference.store)
    found = find_policy(store, reference.name)
    card = read_card(store, found)
    if card is not None:
        if as_json:
            print_json(card.model_dump(mode="json"))
        else:
            print_text(card_text(card).rstrip())
        return
    kind, name = source_of(found).describe(store, found)
    facts = {"policy": found, "kind": kind, "name": name, "format": format_of_policy(reference), "card": None}
    if as_json:
        print_json(facts)
    else:
        print_text(f"{found}: {name}, {kind}, {facts['format'] or 'format not stated'}; it was not published: no card")


def get_policy(
    policy: Annotated[str, typer.Argument(metavar="POLICY", help=_POLICY)],
    store: Annotated[str, typer.Argument(metavar="STORE", help="Folder or s3:// URI to copy it to.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Copy a stored policy with everything that it needs, such as an ensemble's members; print its name there."""
    from nashdex.core.errors import ConfigurationError
    from nashdex.core.keys import POLICY_DOCUMENT
    from nashdex.core.references import PolicyReference
    from nashdex.policies.references import find_policy
    from nashdex.policies.sources import policy_files
    from nashdex.store import open_store

    reference = PolicyReference.parse(policy)
    if not reference.store:
        raise ConfigurationError(f"{policy!r} is scripted: every installation has it; expected {_POLICY}")
    source, target = open_store(reference.store), open_store(store)
    found = find_policy(source, reference.name)
    objects = policy_files(source, found)
    # Descriptions last: a policy is there when its description is.
    for key in sorted(objects, key=lambda key: key.endswith(POLICY_DOCUMENT)):
        target.put_if_absent(key, objects[key])
    if as_json:
        print_json({"policy": found, "uri": f"{store}#{found}", "bytes": sum(map(len, objects.values()))})
    else:
        print_text(f"{store}#{found}")


def _read(path: Path, document: type[D]) -> D:
    from nashdex.core.user_input import read_file

    return document.from_json(read_file(path, document.__name__), str(path))
