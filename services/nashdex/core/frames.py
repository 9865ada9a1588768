"""Tables of numbers in one file: a safetensors blob inside one lz4 frame, never pickle.

The frame states its content's size, which is checked against the frame's own before anything is decompressed. Each
compressed block has a checksum; over the content they cost twice as much as lz4. The blob's metadata are texts by name.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import lz4.frame
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from nashdex.core.errors import DataError

Tensors: TypeAlias = dict[str, NDArray[Any]]

_MOST_COMPRESSION = 255
"""A stored byte of an lz4 frame holds no more."""
_SAFETENSORS_DTYPES = {
    np.dtype(dtype): name
    for dtype, name in (
        (np.float32, "F32"),
        (np.float64, "F64"),
        (np.uint8, "U8"),
        (np.uint16, "U16"),
        (np.uint32, "U32"),
        (np.uint64, "U64"),
    )
}


def encode(tensors: Mapping[str, Sequence[NDArray[Any]]], metadata: Mapping[str, str]) -> bytes:
    """Return one frame. Each tensor is in pieces, at least one, which follow each other along the first axis.

    The package itself needs each tensor in one piece. Tensors are aligned if they are sorted by falling item size.
    """
    header: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, pieces in tensors.items():
        start, end = end, end + sum(piece.nbytes for piece in pieces)
        header[name] = {
            "dtype": _SAFETENSORS_DTYPES[pieces[0].dtype],
            "shape": [sum(len(piece) for piece in pieces), *pieces[0].shape[1:]],
            "data_offsets": [start, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    compressor = lz4.frame.LZ4FrameCompressor(
        block_size=lz4.frame.BLOCKSIZE_MAX1MB, block_checksum=True, auto_flush=True
    )
    frame = [compressor.begin(8 + len(text) + end), compressor.compress(len(text).to_bytes(8, "little") + text)]
    frame += [compressor.compress(piece) for pieces in tensors.values() for piece in pieces if piece.nbytes]
    frame.append(compressor.flush())
    return b"".join(frame)


@dataclass(frozen=True)
class FrameReader:
    """Reads frames of one kind, each with a JSON document in its metadata."""

    kind: str
    """A noun for errors, such as ``trajectory part``."""
    document: str
    """The document's name in the metadata."""
    remedy: str
    """What to do about a bad one, such as ``collect the shard again``."""
    max_bytes: int
    """No content may be larger."""
    max_header_bytes: int
    """No header of a blob may be larger."""

    def decode(self, frame: bytes, key: str) -> tuple[Tensors, bytes, dict[str, str]]:
        """Return the tensors, which share one buffer that cannot be written to, the document and all other texts.

        Raises:
            DataError: the frame is truncated, altered, too large or malformed; ``key`` names it.
        """
        blob = self._decompress(frame, key)
        try:
            header_bytes = int.from_bytes(blob[:8], "little")
            if header_bytes > self.max_header_bytes:
                raise DataError(f"{key} holds no {self.kind}: its header claims {header_bytes} bytes")
            tensors: Tensors = safetensors.load(blob)
            texts: dict[str, str] = json.loads(blob[8 : 8 + header_bytes])["__metadata__"]
            return tensors, texts.pop(self.document).encode(), texts
        except (SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise DataError(f"{key} holds no {self.kind}: {error}; {self.remedy}") from error

    def _decompress(self, frame: bytes, key: str) -> bytes:
        """Return the content of a frame. Allocates no more than it declares, which is no more than it can hold."""
        most_bytes = min(self.max_bytes, _MOST_COMPRESSION * len(frame))
        try:
            size_bytes = int(lz4.frame.get_frame_info(frame)["content_size"])
            if not 0 < size_bytes <= most_bytes:
                raise DataError(f"{key} declares {size_bytes} bytes of content; expected 1 to {most_bytes}")
            decompressor = lz4.frame.LZ4FrameDecompressor()
            blob: bytes = decompressor.decompress(frame, max_length=size_bytes)
            # The end of a frame and its checksums are read once there is room for more content.
            more = b"" if decompressor.eof else decompressor.decompress(b"", max_length=1)
        except (RuntimeError, ValueError, EOFError) as error:
            raise DataError(f"{key} is not a whole lz4 frame: {error}; {self.remedy}") from error
        if len(blob) != size_bytes or more or not decompressor.eof or decompressor.unused_data:
            raise DataError(f"{key} holds more or less than the {size_bytes} bytes that it declares; {self.remedy}")
        return blob
