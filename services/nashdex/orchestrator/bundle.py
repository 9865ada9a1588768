"""A prepared run as one text: how it travels to a cluster whose store cannot be reached from here.

Holds settings, teams and payoffs, which are no secrets; credentials are never settings.
"""

from pydantic import Field

from nashdex.core.documents import Document
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.settings import RunSettings
from nashdex.orchestrator.fit import check_fit
from nashdex.orchestrator.run_inputs import SETTING_OF
from nashdex.orchestrator.runs import PreparedRun

MAX_BYTES = 512 * 1024
"""Of a bundle. A Workflow holds it as a parameter, and etcd takes no object above 1.5 MB."""


class Bundle(Document):
    """Everything that is stored with a run before its first step."""

    settings: RunSettings
    inputs: dict[str, str] = Field(description="Content of the files that the settings name, by key.")


def pack(prepared: PreparedRun) -> str:
    """Return the text of a prepared run.

    Raises:
        ConfigurationError: it is too large to be a workflow's parameter.
    """
    inputs = {key: data.decode() for key, data in prepared.inputs.items()}
    text = Bundle(settings=prepared.settings, inputs=inputs).model_dump_json()
    size_bytes = len(text.encode())
    if size_bytes > MAX_BYTES:
        raise ConfigurationError(
            f"settings, teams and payoffs are {size_bytes:,} bytes, and a workflow takes at most {MAX_BYTES:,}; begin "
            "the run where its store can be reached (nashdex begin CONFIG.toml --store URI), then submit it"
        )
    return text


def unpack(text: bytes, source: str) -> PreparedRun:
    """Return the run that ``text`` holds; ``source`` names it in errors.

    Raises:
        DataError: it is no bundle, names no run, or its files are not those that its settings name.
        ConfigurationError: its settings do not go together.
    """
    bundle = Bundle.from_json(text, source)
    if bundle.settings.run is None:
        raise DataError(f"{source} names no run: make it anew with nashdex submit")
    named = {key for key, setting in SETTING_OF.items() if getattr(bundle.settings, setting) is not None}
    if bundle.inputs.keys() != named:
        raise DataError(f"{source} holds the files {sorted(bundle.inputs)}; its settings name {sorted(named)}")
    check_fit(bundle.settings)
    return PreparedRun(bundle.settings, {key: data.encode() for key, data in bundle.inputs.items()})
