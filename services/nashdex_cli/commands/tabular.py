"""``nashdex tabular``: games whose answers are known, outside any run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex_cli.commands.groups import CommandGroup
from nashdex_cli.commands.output import JsonOption, print_answer, print_json, print_text

if TYPE_CHECKING:
    from nashdex.games.tabular.tree import GameTree

app = typer.Typer(cls=CommandGroup, no_args_is_help=True, help="Solve small games exactly.")

_GAME = "kuhn_poker, leduc_poker, or a file of payoffs such as `nashdex solve` reads."
_Game = Annotated[str, typer.Argument(metavar="FORMAT|MATRIX.json", help=_GAME)]


@app.callback()
def tabular() -> None:
    """Solve small games exactly."""


@app.command()
def value(game: _Game, as_json: JsonOption = False) -> None:
    """Print a game's value to its first player, and the NashConv of every scripted policy that plays it."""
    from nashdex.evaluator.tabular import game_value
    from nashdex.games.tabular.game import GAME
    from nashdex.games.tabular.values import nash_conv
    from nashdex.policies.scripted.playing import scripted_table
    from nashdex.policies.scripted.registry import scripted_policies_of

    tree = _tree(game)
    able = scripted_policies_of(tree.format, GAME)
    nash_convs = {name: nash_conv(tree, [scripted_table(name, tree)], [1.0]) for name in able}
    document = {
        "format": tree.format,
        "information_states": tree.num_states,
        "nodes": len(tree.node_state),
        "value": game_value(tree),
        "nash_conv": nash_convs,
    }
    lines = [
        f"{tree.format}: {tree.num_states} information states, {len(tree.node_state):,} nodes",
        f"value to the first player {document['value']:.9f}",
        *(f"NashConv of {name} {distance:.6f}" for name, distance in nash_convs.items()),
    ]
    print_answer(document, lines, as_json=as_json)


@app.command()
def double_oracle(
    game: _Game,
    iterations: Annotated[
        int, typer.Option(min=1, max=1000, help="Iterations at most; ends at a NashConv of 0.")
    ] = 100,
    initial: Annotated[str, typer.Option(metavar="POLICY", help="Scripted policy to begin with.")] = "first-action",
    as_json: JsonOption = False,
) -> None:
    """Run double oracle with a population for each player, exact best responses and nash."""
    from nashdex.evaluator.tabular import double_oracle
    from nashdex.policies.scripted.playing import scripted_table

    tree = _tree(game)
    done = []
    for step in double_oracle(tree, scripted_table(initial, tree), iterations):
        done.append(step)
        if not as_json:
            print_text(
                f"iteration {step.iteration:3}: {step.row_policies} × {step.column_policies} policies, "
                f"value {step.value:+.6f}, NashConv {step.nash_conv:.6g}"
            )
    if as_json:
        print_json(
            {
                "format": tree.format,
                "converged": done[-1].converged,
                "iterations": [step.model_dump(mode="json") for step in done],
            }
        )


def _tree(game: str) -> "GameTree":
    """Return the tree of a format or a file.

    Raises:
        ConfigurationError: the format is not a tabular game.
        DataError: the file is missing or wrong, or its game is not zero-sum.
    """
    from nashdex.games.registry import FORMATS, tabular_game_for
    from nashdex.runs.inputs import read_matrix

    if game in FORMATS or not game.endswith(".json"):
        return tabular_game_for(game).tree
    return tabular_game_for("matrix", read_matrix(Path(game))).tree
