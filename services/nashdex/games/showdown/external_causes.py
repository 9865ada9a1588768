"""Why a battle with a player of another program is void."""

from typing import Final

CRASH: Final = "external_crash"
DEADLINE: Final = "external_deadline"
ERROR: Final = "external_error"
FORFEIT: Final = "external_forfeit"
GARBAGE: Final = "external_garbage"
UNAVAILABLE: Final = "external_unavailable"
"""A further process cannot be started."""
CAUSES: Final = (CRASH, DEADLINE, ERROR, FORFEIT, GARBAGE, UNAVAILABLE)
