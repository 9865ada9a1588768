"""Writes a page: ``nashdex play``, ``nashdex analyse``, and the board of a report."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from nashdex.core.documents import describe_problems
from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, BarePolicyIdField
from nashdex.core.output_files import write_output
from nashdex.core.references import PolicyReference
from nashdex.core.user_input import read_file
from nashdex.games.registry import game_of_run, showdown_game
from nashdex.report.page.board import Board
from nashdex.runs.creation import format_of_run, open_run
from nashdex_play.page.bundle import OnBuild, format_bundle
from nashdex_play.page.document import PagePolicy, as_data, page_halves
from nashdex_play.page.policies import page_policies

_MOST_BYTES = 1 << 16

PAGE = "index.html"


def write_play_page(
    format_id: str,
    policies: Sequence[str],
    directory: Path,
    battle: str | None = None,
    calibrations: Sequence[Path] = (),
    on_build: OnBuild = lambda _: None,
) -> Path:
    """Write the page on which a person plays ``format_id`` against ``policies``, and return its file.

    ``battle`` is the text of a battle that the page opens on the analysis board. ``calibrations`` are files with the
    measurements of ``nashdex bench calibration --json``; the board states them. ``on_build`` gets a line before
    everything that is built once.

    Raises:
        ConfigurationError: a policy or format cannot play in a page, or Node is missing.
        DataError: a run or policy is missing, altered, or of another space.
        TryAgainError: npm could not install what builds the page.
    """
    halves, _ = _page(format_id, policies, calibrations, on_build)
    text = as_data(battle).join(halves)
    directory.mkdir(parents=True, exist_ok=True)
    page = directory / PAGE
    write_output({page: text.encode()}, "--output")
    return page


def report_board(
    format_id: str, judges: Sequence[str], calibrations: Sequence[Path] = (), on_build: OnBuild = lambda _: None
) -> Board:
    """Return the analysis board of a report. On it, ``judges`` judge the report's battles, the first one first.

    ``calibrations`` and ``on_build`` are as in ``write_play_page``.

    Raises:
        ConfigurationError: a policy or format cannot play in a page, or Node is missing.
        DataError: a run or policy is missing, altered, or of another space.
        TryAgainError: npm could not install what builds the page.
    """
    (before, after), policies = _page(format_id, judges, calibrations, on_build)
    return Board(before, after, policies[0].name)


def _page(
    format_id: str, policies: Sequence[str], calibrations: Sequence[Path], on_build: OnBuild
) -> tuple[tuple[str, str], list[PagePolicy]]:
    """Return the page's halves, as ``page_halves``, and what it says of its policies."""
    measured = read_calibrations(calibrations)
    game = showdown_game(format_id)
    teams = list(_teams(format_id, policies))
    arena = game.open_arena(num_gateways=1)
    try:
        space = arena.space
    finally:
        arena.close()
    chosen = page_policies(policies, space, measured)
    halves = page_halves(format_bundle(format_id, teams, on_build), chosen.entries, chosen.networks, teams)
    return halves, chosen.entries


def _teams(format_id: str, policies: Sequence[str]) -> Sequence[str]:
    """Return the packed teams that battles draw from: the teams of the first run, else the format's own."""
    for text in policies:
        uri = PolicyReference.parse(text).store
        if uri and format_of_run(uri) is not None:
            run = open_run(uri)
            return game_of_run(run.store, run.settings).teams()
    return showdown_game(format_id).teams()


class _Measured(BaseModel):
    """The parts that the board states."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    policy_id: BarePolicyIdField
    is_self_play: bool
    battles: NonNegativeInt
    decisions: NonNegativeInt
    error: float = Field(ge=0, le=1)
    error_low: float = Field(ge=0, le=1)
    error_high: float = Field(ge=0, le=1)


def read_calibrations(files: Iterable[Path]) -> dict[BarePolicyId, str]:
    """Return a sentence for readers by policy.

    Raises:
        DataError: a file cannot be read, or is not what ``nashdex bench calibration --json`` prints.
    """
    return {measured.policy_id: _sentence(measured) for measured in map(_read, files)}


def _read(file: Path) -> _Measured:
    expected = "what `nashdex bench calibration --json` prints"
    try:
        return _Measured.model_validate_json(read_file(file, expected, _MOST_BYTES))
    except ValidationError as error:
        raise DataError(f"{file} is not {expected}: {describe_problems(error)}") from error


def _sentence(measured: _Measured) -> str:
    against = "itself" if measured.is_self_play else "another policy"
    error, low, high = (100 * value for value in (measured.error, measured.error_low, measured.error_high))
    return (
        f"In {measured.battles:,} other battles against {against}, {measured.decisions:,} decisions, the expected "
        f"calibration error of that probability is {error:.1f} % ({low:.1f} to {high:.1f})."
    )
