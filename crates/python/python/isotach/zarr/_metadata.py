"""Zarr v3's metadata documents, and its text in bytes."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

_FILL: Mapping[str, Any] = {"string": "", "int64": 0}


def array(
    shape: Sequence[int],
    chunk_shape: Sequence[int],
    data_type: str,
    dimension_names: Sequence[str],
    attributes: Mapping[str, Any],
) -> dict[str, Any]:
    """The metadata of an array without compression."""
    codec: dict[str, Any] = {"name": "bytes", "configuration": {"endian": "little"}}
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk_shape)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": _FILL.get(data_type, "NaN"),
        "codecs": [{"name": "vlen-utf8"} if data_type == "string" else codec],
        "attributes": dict(attributes),
        "dimension_names": list(dimension_names),
        "storage_transformers": [],
    }


def group(nodes: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of the group at the root, with that of all its arrays."""
    consolidated = {"kind": "inline", "must_understand": False, "metadata": dict(nodes)}
    return {"zarr_format": 3, "node_type": "group", "attributes": {}, "consolidated_metadata": consolidated}


def documents(arrays: Mapping[str, Mapping[str, Any]]) -> dict[str, bytes]:
    """The documents of arrays at these paths and of the groups above them. An array at the empty path is alone."""
    nodes: dict[str, Any] = dict(arrays)
    for path in arrays:
        for end in (at for at, letter in enumerate(path) if letter == "/"):
            nodes.setdefault(path[:end], {"zarr_format": 3, "node_type": "group", "attributes": {}})
    if "" not in nodes:
        nodes[""] = group(nodes)
    return {
        f"{path}/zarr.json" if path else "zarr.json": json.dumps(node).encode()
        for path, node in nodes.items()
    }


def texts(values: Sequence[str]) -> bytes:
    """Texts as the codec ``vlen-utf8`` stores them: their number, then each with its length in front."""
    encoded = [value.encode() for value in values]
    return struct.pack("<I", len(encoded)) + b"".join(struct.pack("<I", len(text)) + text for text in encoded)
