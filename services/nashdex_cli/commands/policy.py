"""``nashdex policy``: the policies of a run. Installed packages add commands that import others."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.stopping import install_stop_handlers
from nashdex_cli.commands.groups import CommandGroup
from nashdex_cli.commands.output import JsonOption, counter, print_answer, print_json, print_note, print_text
from nashdex_cli.commands.run_options import GatewaysOption, SeedOption

if TYPE_CHECKING:
    from nashdex.core.documents import Document
    from nashdex.core.references import PolicyReference
    from nashdex.store.protocol import ObjectStore

D = TypeVar("D", bound="Document")

_TEMPERATURES = (0.0, 4.0, 8.0, 16.0)
_STORED = "a stored policy: zoo:NAME, STORE#ID or RUN#newest"
_NetworkArgument = Annotated[
    str, typer.Argument(metavar="POLICY", help="A stored network without '@': zoo:NAME, STORE#ID or RUN#newest.")
]
_MeasuredStore = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="STORE",
        help="Store that keeps what is measured, beside its copy of the policy. [default: the policy's own, unless "
        "that is zoo:]",
        show_default=False,
    ),
]
_POLICY = "As in `nashdex battle`: zoo:NAME, STORE#ID or RUN#newest."


def publish_policy(
    policy: Annotated[
        str, typer.Argument(metavar="RUN#ID", help="A network that a run trained, or zoo:NAME to renew its card.")
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name for good, such as gen1randombattle.")],
    *,
    zoo: Annotated[
        str, typer.Option(metavar="STORE", help="Folder or s3:// URI to publish in; zoo: in a checkout of nashdex.")
    ],
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
    with the panel; a second panel with another seed is compared with the first.
    """
    from nashdex.core.references import PolicyReference
    from nashdex.metagame.analysis.exploit import ExploitVerdict
    from nashdex.store import open_store
    from nashdex_lab.panel import Panel
    from nashdex_lab.zoo.publishing import Said, publish

    said = Said(
        limits=limits or (),
        hardware=hardware,
        commit=commit,
        panel=None if panel is None else _read(panel, Panel, "what nashdex panel --output writes"),
        exploit=None if exploit is None else _read(exploit, ExploitVerdict, "exploit.json of nashdex exploit"),
    )
    card = publish(open_store(zoo), PolicyReference.parse(policy), name, said, battles=battles)
    where = PolicyReference(name, zoo)
    lines = [
        f"{where}: {card.policy}, {card.weights_bytes:,} bytes",
        f"read its card: nashdex policy show {where}",
    ]
    print_answer(card, lines, as_json=as_json)


def show_policy(
    policy: Annotated[str, typer.Argument(metavar="POLICY", help=_POLICY)], *, as_json: JsonOption = False
) -> None:
    """Print the card of a published policy, or the description of another stored one, and what was measured of it."""
    from nashdex.core.references import PolicyReference
    from nashdex.policies.references import find_policy, format_of_policy
    from nashdex.policies.sources import source_of
    from nashdex.runs.creation import format_of_run
    from nashdex.store import open_store
    from nashdex_lab.zoo.card import card_lines, read_card
    from nashdex_play.calibration import calibration_in_words, read_calibration
    from nashdex_play.levels import level_in_words, read_levels

    reference = PolicyReference.parse(policy)
    _require_stored(reference, "has no card")
    store = open_store(reference.store)
    found = find_policy(store, reference.name)
    card = read_card(store, found)
    levels, calibration = read_levels(store, found), read_calibration(store, found)
    if card is not None:
        if as_json:
            print_json(card.model_dump(mode="json"))
            return
        print_text("\n".join(card_lines(card)))
    else:
        kind, name = source_of(found).describe(store, found)
        format_id = format_of_run(reference.store) or format_of_policy(reference)
        if as_json:
            measured = {
                "levels": None if levels is None else levels.model_dump(mode="json"),
                "calibration": None if calibration is None else calibration.model_dump(mode="json"),
            }
            print_json({"policy": found, "kind": kind, "name": name, "format": format_id, "card": None, **measured})
            return
        print_text(f"{found}: {name}, {kind}, {format_id or 'format not stated'}; it was not published: no card")
    if levels is not None:
        print_text("\n## Levels\n")
        for level in levels.levels:
            print_text(f"- temperature {level.temperature:g} {level_in_words(level, levels.against)}")
    if calibration is not None:
        print_text("\n## Win probability\n")
        for each in calibration.opponents:
            print_text(f"- {calibration_in_words(each)}")


def _require_stored(reference: "PolicyReference", why: str) -> None:
    """Refuse a reference without a store: a scripted policy, or a name that means nothing."""
    from nashdex.policies.references import resolve

    if not reference.store:
        resolve(reference)
        raise _scripted(reference, why)


def _scripted(reference: "PolicyReference", why: str) -> ConfigurationError:
    return ConfigurationError(f"{str(reference)!r} is scripted: it {why}; expected {_STORED}")


def measure_policy_levels(
    policy: _NetworkArgument,
    *,
    temperatures: Annotated[
        list[float] | None,
        typer.Option(
            "--temperature",
            metavar="T",
            min=0,
            max=99,
            help="A level's temperature, 0 for its most probable choices; may be repeated. [default: 0, 4, 8 and 16]",
        ),
    ] = None,
    against: Annotated[str, typer.Option(metavar="POLICY", help="The player that every level meets.")] = "heuristic",
    battles: Annotated[int, typer.Option(min=2, max=1_000_000, help="Battles of each level.")] = 400,
    seed: SeedOption = 0,
    gateways: GatewaysOption = 1,
    store: _MeasuredStore = None,
    as_json: JsonOption = False,
) -> None:
    """Measure how strong a policy is at some temperatures, and store that beside it, for `nashdex play`.

    The page of `nashdex play` then offers each temperature as a level, with this score. Every level meets the same
    player in side-swapped pairs with the same teams. Levels that were measured earlier are replaced. Levels of a
    policy that comes with nashdex are only printed, unless --store names where to keep them.
    """
    install_stop_handlers()
    from nashdex.core import keys
    from nashdex.core.references import PolicyReference
    from nashdex.runs.played_format import format_to_play
    from nashdex.telemetry.logging import configure_logging
    from nashdex_play.levels import MOST_LEVELS, level_in_words, measure_levels

    configure_logging()
    chosen = temperatures or list(_TEMPERATURES)
    if len(chosen) > MOST_LEVELS:
        raise ConfigurationError(f"{len(chosen)} temperatures; expected at most {MOST_LEVELS}")
    target = _measured_store(PolicyReference.parse(policy), store)
    levels = measure_levels(
        format_to_play(None, {"POLICY": policy}),
        policy,
        against,
        chosen,
        battles=battles,
        seed=seed,
        num_gateways=gateways,
        on_level=lambda level: print_note(f"temperature {level.temperature:g}: {level_in_words(level, against)}"),
    )
    if target is not None:
        target.put(keys.policy_levels(levels.policy), levels.to_json())
    lines = (
        f"level {number}: temperature {level.temperature:g} {level_in_words(level, levels.against)}"
        for number, level in enumerate(levels.levels, 1)
    )
    print_answer(levels, lines, as_json=as_json)


def calibrate_policy(
    policy: _NetworkArgument,
    *,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICY", help="Another opponent than the policy itself, with its own map; may be repeated."
        ),
    ] = None,
    battles: Annotated[
        int,
        typer.Option(min=2, max=1_000_000, help="Battles of each opponent that fit its map; as many others test it."),
    ] = 2000,
    seed: SeedOption = 0,
    gateways: GatewaysOption = 1,
    store: _MeasuredStore = None,
    as_json: JsonOption = False,
) -> None:
    """Calibrate a critic's win probability on new battles, and store the map beside the policy.

    The page of `nashdex play`, `analyse` and `decide` then show calibrated probabilities. The map is monotone: the log
    odds times a slope, plus an intercept where the opponent is another. Its expected calibration error is measured in
    battles that did not fit it. Maps that were measured earlier are replaced. Maps of a policy that comes with nashdex
    are only printed, unless --store names where to keep them.
    """
    install_stop_handlers()
    from nashdex.core.references import PolicyReference
    from nashdex.rollout.contestants import check_contestants
    from nashdex.runs.played_format import format_to_play
    from nashdex_lab.critics.maps import calibrate_critic
    from nashdex_play.calibration import MOST_OPPONENTS, calibration_in_words, write_calibration
    from nashdex_play.levels import stored_policy

    others = list(dict.fromkeys(against or ()))
    if len(others) >= MOST_OPPONENTS:
        raise ConfigurationError(f"{len(others)} opponents; expected at most {MOST_OPPONENTS - 1}")
    reference = PolicyReference.parse(policy)
    stored_policy(reference)
    for other in others:
        check_contestants([other], format_to_play(None, {"POLICY": policy, "--against": other}))
    target = _measured_store(reference, store)
    with counter("battles") as count:
        found = calibrate_critic(policy, others, battles=battles, seed=seed, gateways=gateways, on_battle=count)
    if target is not None:
        write_calibration(target, found)
    lines = (
        f"log odds × {each.map.slope:.3f} + {each.map.intercept:.3f}: {calibration_in_words(each)}"
        for each in found.opponents
    )
    print_answer(found, lines, as_json=as_json)


def _measured_store(reference: "PolicyReference", named: str | None) -> "ObjectStore | None":
    """Return the store that gets what is measured of a stored policy; None: nothing is stored.

    Battles follow, so the store is tried here.

    Raises:
        ConfigurationError: the reference means no single stored policy, or nothing can be written to the store.
        DataError: the store does not hold the policy.
        TryAgainError: the store does not respond.
    """
    from nashdex.core.references import ZOO
    from nashdex.policies.sources import policy_files
    from nashdex.store import open_store
    from nashdex.store.trial import try_store
    from nashdex_play.levels import stored_policy

    store, policy = stored_policy(reference)
    if named is None and reference.store == ZOO:
        print_note(f"{reference} comes with nashdex: what is measured is printed and not stored; --store keeps it")
        return None
    if named is not None:
        files = policy_files(store, policy)
        store = open_store(named)
        if not all(map(store.exists, files)):
            raise DataError(
                f"{named} does not hold {reference}; expected a copy: nashdex policy get {reference} {named}"
            )
    try_store(store)
    return store


def get_policy(
    policy: Annotated[str, typer.Argument(metavar="POLICY", help=_POLICY)],
    store: Annotated[str, typer.Argument(metavar="STORE", help="Folder or s3:// URI to copy it to.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Copy a stored policy with everything that it needs, such as an ensemble's members; print its name there."""
    from nashdex.core.keys import POLICY_DOCUMENT
    from nashdex.core.references import PolicyReference
    from nashdex.policies.references import find_policy
    from nashdex.policies.sources import policy_files
    from nashdex.store import open_own_store, open_store

    reference = PolicyReference.parse(policy)
    why = "comes with every installation"
    _require_stored(reference, why)
    source, target = open_store(reference.store), open_own_store(store)
    found = find_policy(source, reference.name)
    objects = policy_files(source, found)
    if not objects:
        raise _scripted(reference, why)
    # Descriptions last: a policy is there when its description is.
    for key in sorted(objects, key=lambda key: key.endswith(POLICY_DOCUMENT)):
        target.put_if_absent(key, objects[key])
    uri = f"{store}#{found}"
    print_answer({"policy": found, "uri": uri, "bytes": sum(map(len, objects.values()))}, [uri], as_json=as_json)


def _read(path: Path, document: type[D], expected: str) -> D:
    from nashdex.core.user_input import read_file

    return document.from_json(read_file(path, expected), str(path))


app = typer.Typer(cls=CommandGroup, no_args_is_help=True, help="List, publish and export policies; import others.")
app.command("show")(show_policy)
app.command("get")(get_policy)
app.command("publish")(publish_policy)
app.command("levels")(measure_policy_levels)
app.command("calibrate")(calibrate_policy)


@app.command("list")
def list_policies(
    run: Annotated[str, typer.Argument(metavar="RUN_URI", help="URI of a run or of a folder of policies.")] = "zoo:",
    *,
    as_json: JsonOption = False,
) -> None:
    """Print the policies of a run, or of the zoo that comes with nashdex: ids, names, kinds, iterations and ratings.

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
    from nashdex_play.page.onnx import export_files

    layout = export_files(policy, onnx)
    said = f"{onnx}: the network; {layout}: the layout of its observation and actions"
    print_answer({"onnx": str(onnx), "layout": str(layout)}, [said], as_json=as_json)


@app.command("ensemble")
def make_ensemble(
    store: Annotated[str, typer.Argument(metavar="STORE", help="Folder or s3:// URI to write the ensemble to.")],
    members: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN#POLICY", help="2 to 16 networks of one format, such as runs/a#newest or runs/b#pb8894@T0.7."
        ),
    ],
    *,
    name: Annotated[str, typer.Option(help="Name for people. An ensemble that STORE has keeps its own.")] = "ensemble",
    as_json: JsonOption = False,
) -> None:
    """Store an ensemble and print its id, which every command plays as STORE#ID.

    Each member votes with its log-probabilities, at its own temperature, and the ensemble plays in proportion to the
    geometric mean of their probabilities. STORE gets copies of the members.
    """
    from nashdex.core.references import PolicyReference
    from nashdex.policies.ensembles import making
    from nashdex.store import open_own_store

    references = [PolicyReference.parse(member) for member in members]
    ensemble = making.make_ensemble(open_own_store(store), references, name)
    lines = [
        f"{ensemble.id}: {ensemble.name}, {len(ensemble.members)} members of {ensemble.format}",
        f"play it with: nashdex battle --p1 {store}#{ensemble.id} --p2 random",
    ]
    print_answer(ensemble, lines, as_json=as_json)
