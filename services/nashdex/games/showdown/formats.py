"""The Showdown formats that are supported."""

from typing import Final

FORMATS: Final = {"gen1randombattle": False, "gen9randombattle": False, "gen1ou": True}
"""By id: whether players bring teams."""
