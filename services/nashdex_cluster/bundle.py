"""A prepared run as one text, for a cluster whose store cannot be reached from here.

It holds settings, teams and payoffs, which are not secret; credentials are never settings. It is compressed, because a
Workflow repeats the text several times, and in base64, because Argo interprets braces.
"""

import base64
import binascii
import gzip
import io
import zlib

from pydantic import Field

from nashdex.core import keys
from nashdex.core.documents import Document
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.runs.creation import PreparedRun
from nashdex.runs.fit import check_fit
from nashdex.runs.inputs import SETTING_OF
from nashdex.settings.run import RunSettings

MAX_BYTES = 96 * 1024
"""Size limit of a bundle. Argo passes a pod its template in an environment variable, which Linux limits to 128 KiB;
larger templates need a ConfigMap, which Argo's controller often may not create."""
_MAX_UNPACKED_BYTES = 64 << 20


class Bundle(Document):
    """Everything that is stored with a run before its first step."""

    settings: RunSettings
    inputs: dict[str, str] = Field(description="Content of the files that the settings name, by key.")


def pack(prepared: PreparedRun) -> str:
    """Return the text of a prepared run.

    Raises:
        ConfigurationError: it is too large to be a workflow's parameter, or holds policies.
    """
    if keys.REPLAYS in prepared.inputs:
        raise ConfigurationError(
            "the replays to clone from do not fit a workflow's parameters. Begin the run where its store can be "
            "reached (nashdex begin CONFIG --store URI), then submit it with --begun"
        )
    if policies := sorted(prepared.inputs.keys() - SETTING_OF.keys()):
        raise ConfigurationError(
            f"{policies[0]} is part of a policy that is stored with the run, and a workflow's parameter holds no "
            "weights. Begin the run where its store can be reached (nashdex begin CONFIG --store URI), then submit it "
            "with --begun"
        )
    inputs = {key: data.decode() for key, data in prepared.inputs.items()}
    document = Bundle(settings=prepared.settings, inputs=inputs).model_dump_json().encode()
    # Without a time: the same run is the same text.
    text = base64.b64encode(gzip.compress(document, mtime=0)).decode()
    if len(text) > MAX_BYTES:
        raise ConfigurationError(
            f"settings, teams and payoffs are {len(text):,} bytes when compressed; a workflow takes at most "
            f"{MAX_BYTES:,}. Begin the run where its store can be reached (nashdex begin CONFIG --store URI), then "
            "submit it with --begun"
        )
    return text


def unpack(text: bytes, source: str) -> PreparedRun:
    """Return the run that ``text`` holds; ``source`` names it in errors.

    Raises:
        DataError: it is not a bundle, names no run, or its files are not those that its settings name.
        ConfigurationError: its settings do not go together.
    """
    bundle = Bundle.from_json(_decompress(text, source), source)
    if bundle.settings.run is None:
        raise DataError(f"{source} names no run: make it again with nashdex submit")
    named = {key for key, setting in SETTING_OF.items() if getattr(bundle.settings, setting) is not None}
    if bundle.inputs.keys() != named:
        raise DataError(f"{source} holds the files {sorted(bundle.inputs)}; its settings name {sorted(named)}")
    check_fit(bundle.settings)
    return PreparedRun(bundle.settings, {key: data.encode() for key, data in bundle.inputs.items()})


def _decompress(text: bytes, source: str) -> bytes:
    """Return what was compressed, however large it claims to be.

    Raises:
        DataError: it is not a bundle, or larger than any run.
    """
    try:
        with gzip.open(io.BytesIO(base64.b64decode(text, validate=True))) as file:
            document = file.read(_MAX_UNPACKED_BYTES + 1)
    except (binascii.Error, OSError, EOFError, zlib.error) as error:
        raise DataError(f"{source} is not a bundle ({error}): make it again with nashdex submit") from error
    if len(document) > _MAX_UNPACKED_BYTES:
        raise DataError(f"{source} unpacks to more than {_MAX_UNPACKED_BYTES:,} bytes, which no run is")
    return document
