"""Makes a format's own team set: ``python -m nashdex.games.showdown.make_teams --format gen1ou > …/gen1ou.txt``.

Hand-written teams come first. The rest are a random format's teams, adapted to the format and kept if the simulator's
validator accepts them. They are legal, not competitive. Equal arguments give equal files.
"""

import sys
from importlib import resources
from typing import Annotated

import typer

from nashdex.core.seeds import derive_seed, hex_seed
from nashdex.games.showdown.game import pack_teams
from nashdex.games.showdown.gateway import Gateway

_GENERATORS = {"gen1ou": "gen1randombattle"}


def main(
    format_id: Annotated[str, typer.Option("--format", help="A format whose players bring teams.")] = "gen1ou",
    count: Annotated[int, typer.Option(help="Generated teams, besides the hand-written ones.", min=1)] = 62,
    seed: Annotated[int, typer.Option(help="Root of the generator's seeds.")] = 1,
) -> None:
    """Print the team set: packed teams, one a line."""
    source = _GENERATORS[format_id]
    by_hand = (resources.files(__package__) / "team_sets" / f"{format_id}.hand-written.txt").read_text("utf-8")
    gateway = Gateway(format_id)
    try:
        generated = gateway.generate(count, hex_seed(derive_seed(seed, "teams", format_id)), source)
    finally:
        gateway.close()
    lines = [f"# {format_id}: hand-written teams, then {len(generated)} by {source}'s generator (seed {seed})."]
    lines += pack_teams(format_id, by_hand, "the hand-written teams").splitlines()
    sys.stdout.write("\n".join([*lines, *generated]) + "\n")


if __name__ == "__main__":
    typer.run(main)
