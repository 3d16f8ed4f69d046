"""Byte ranges of Zarr."""

from __future__ import annotations

from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, SuffixByteRequest

Part = tuple[int | None, int | None, int | None]
"""The first byte, the byte behind the last one, and the number of bytes at the end. None where it is not given."""


def part_of(byte_range: ByteRequest | None) -> Part:
    """The wanted part of a value."""
    if byte_range is None:
        return None, None, None
    if isinstance(byte_range, RangeByteRequest):
        return byte_range.start, byte_range.end, None
    if isinstance(byte_range, OffsetByteRequest):
        return byte_range.offset, None, None
    if isinstance(byte_range, SuffixByteRequest):
        return None, None, byte_range.suffix
    raise TypeError(f"Unexpected byte_range, got {byte_range}.")
