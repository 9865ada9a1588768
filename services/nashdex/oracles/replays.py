"""Raw replays as a source of what a policy is cloned from."""

from pathlib import Path

from pydantic import Field

from nashdex.core.section import Section


class ReplaySettings(Section):
    """Battles of people, or of other programs, to learn from; stored with the run."""

    path: Path | None = Field(
        None, description="Raw Showdown replays: a folder, or one .json, .jsonl or .log file. None: the teacher alone."
    )
    share: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Share of the decisions of an epoch that are from them; the rest are the teacher's.",
    )
    min_rating: int = Field(0, ge=0, le=9999, description="Lowest rating of a player; without one, a player has 1000.")
    winners_only: bool = Field(False, description="Learn from the winners alone.")
