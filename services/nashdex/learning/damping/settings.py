"""The section of settings that chooses a preset and overrides parts of it."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from nashdex.core.plugins import NameOf
from nashdex.core.user_input.nested import merge
from nashdex.learning.damping.interface import Damping
from nashdex.learning.damping.registry import DAMPING_PRESETS

_DEFAULT = "ppo-clip-kl"


class DampingSettings(Damping):
    """A damping preset and overrides of it: a key that is not given keeps the preset's value."""

    preset: Annotated[str, NameOf(DAMPING_PRESETS)] = Field(_DEFAULT, description="Where the other values come from.")

    @model_validator(mode="before")
    @classmethod
    def _over_the_preset(cls, given: Any) -> Any:  # noqa: ANN401 - any value of the settings
        """Return the preset's values with those that are given over them.

        Where no reference is given, a coefficient above 0 selects the snapshot if the preset has no reference, and a
        coefficient of 0 removes the reference. Reference 'none' removes the coefficient.
        """
        if not isinstance(given, Mapping) or given.get("preset", _DEFAULT) not in DAMPING_PRESETS:
            return given  # the fields say what is wrong
        merged = merge(DAMPING_PRESETS[given.get("preset", _DEFAULT)].damping.model_dump(), given)
        beta = given.get("beta")
        if "reference" not in given and isinstance(beta, Mapping) and "initial" in beta:
            if _is_zero(beta["initial"]):
                merged["reference"] = "none"
            elif merged["reference"] == "none":
                merged["reference"] = "snapshot"
        if given.get("reference") == "none" and beta is None:
            merged["beta"] = {}
        for name in ("beta", "step_size"):
            section = given.get(name)
            controller = section.get("controller") if isinstance(section, Mapping) else None
            is_off = isinstance(controller, Mapping) and _is_zero(controller.get("target_nats"))
            is_idle = name == "beta" and merged["reference"] == "none"
            if (is_off or is_idle) and isinstance(merged[name], Mapping):
                # The preset's other values would have no effect.
                merged[name] = {**merged[name], "controller": controller or {}}
        return merged

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> "DampingSettings":
        for problem in self.problems():
            raise ValueError(problem)
        return self


def _is_zero(value: object) -> bool:
    """Say whether a value of the settings, a number or its text, is 0."""
    try:
        return float(value) == 0  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
