"""Requirements between the fields of a section, declared where the field is, and the one checker that reads them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nashdex.core.section import Section


@dataclass(frozen=True)
class Needs:
    """Metadata of a field that has an effect only while another field of its section has a value.

    ``size: Annotated[int, Needs("share")]`` needs a share that is not 0, empty or None, and
    ``max_battles: Annotated[int, Needs("test", "sprt")]`` one value of the other field.
    """

    key: str
    value: Any = None

    def is_met(self, section: Section) -> bool:
        """Say whether the other field of ``section`` has the value."""
        given = getattr(section, self.key)
        return bool(given) if self.value is None else bool(given == self.value)


def without_effect(section: Section, place: str = "") -> Iterator[str]:
    """Yield one line for each value of ``section``, or of one below it, that differs from its default in vain.

    ``place`` is the dotted key of the section with a dot at its end, or empty.
    """
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if value != field.get_default(call_default_factory=True):
            for need in (each for each in field.metadata if isinstance(each, Needs) and not each.is_met(section)):
                wanted = "another value" if need.value is None else repr(need.value)
                yield (
                    f"{place}{name} has no effect with {place}{need.key} = {getattr(section, need.key)!r}: "
                    f"leave it out, or give {place}{need.key} {wanted}"
                )
        if isinstance(value, Section):
            yield from without_effect(value, f"{place}{name}.")
