"""Settings of the arenas that battles are played on."""

from pydantic import Field

from nashdex.core.section import Section


class ArenaSettings(Section):
    """How each process of a run plays its battles: collectors, actors, trainers, the tournament and gates.

    None of these values changes what is played: a battle's seeds and every draw follow from the run's seed.
    """

    gateways: int = Field(1, ge=0, le=64, description="Gateway processes; 0: collectors choose by a short benchmark.")
    concurrent_battles: int = Field(
        64, ge=0, le=4096, description="Battles that a process runs at once; 0: collectors choose by a short benchmark."
    )
    deadline_seconds: float = Field(300.0, ge=1, le=86_400, description="Longest wall time of one battle.")
