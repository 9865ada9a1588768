"""Population-based self-play for Pokémon Showdown that does not collapse, with error bars.

The Python API is what ``__all__`` names. A name imports its module when it is first used; ``__init__.pyi`` has types.
"""

from importlib import import_module
from typing import Any, Final

__version__ = "0.1.0"

_MODULES: Final = {
    "Decision": "nashdex.api.policies",
    "LoadedPolicy": "nashdex.api.policies",
    "PolicyBatch": "nashdex.api.policies",
    "Run": "nashdex.api.runs",
    "battle": "nashdex.api.battles",
    "load_policy": "nashdex.api.policies",
    "open_run": "nashdex.api.runs",
}

__all__ = ["Decision", "LoadedPolicy", "PolicyBatch", "Run", "battle", "load_policy", "open_run"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name means
    """Import a name of the Python API when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
