"""`write_mds` writes a folder of one MDS shard, as MosaicML Streaming does."""

import json
import os
import pathlib
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["write_mds"]

_FORMATS = {"int": "<q", "int8": "<b", "uint8": "<B", "int32": "<i", "float32": "<f", "float64": "<d"}


def write_mds(
    folder: str | os.PathLike[str], encodings: Mapping[str, str], rows: Sequence[Mapping[str, Any]], **changes: Any
) -> pathlib.Path:
    """`changes`: what the index has of the shard in place of what is right. Values of encodings other than numbers and
    texts are their bytes."""
    path = pathlib.Path(folder)
    path.mkdir(parents=True)
    names = sorted(encodings)
    sizes = [struct.calcsize(_FORMATS[encodings[name]]) if encodings[name] in _FORMATS else None for name in names]
    columns = {
        "column_encodings": [encodings[name] for name in names],
        "column_names": names,
        "column_sizes": sizes,
    }
    samples = [_sample([_bytes_of(encodings[name], row[name]) for name in names], sizes) for row in rows]
    head = json.dumps({**columns, "format": "mds", "version": 2}).encode()
    ends = np.cumsum([4 * (len(rows) + 2) + len(head), *map(len, samples)])
    data = struct.pack("<I", len(rows)) + ends.astype("<u4").tobytes() + head + b"".join(samples)
    (path / "shard.00000.mds").write_bytes(data)
    shard = {
        **columns,
        "compression": None,
        "format": "mds",
        "hashes": [],
        "raw_data": {"basename": "shard.00000.mds", "bytes": len(data), "hashes": {}},
        "samples": len(rows),
        "size_limit": 1 << 26,
        "version": 2,
        "zip_data": None,
        **changes,
    }
    (path / "index.json").write_text(json.dumps({"shards": [shard], "version": 2}))
    return path


def _bytes_of(encoding: str, value: Any) -> bytes:
    if encoding in _FORMATS:
        return struct.pack(_FORMATS[encoding], value)
    return value.encode() if isinstance(value, str) else bytes(value)


def _sample(values: list[bytes], sizes: list[int | None]) -> bytes:
    lengths = [len(value) for value, size in zip(values, sizes, strict=True) if size is None]
    return struct.pack(f"<{len(lengths)}I", *lengths) + b"".join(values)
