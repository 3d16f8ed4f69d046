"""Fields of earthkit-data that are read one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from earthkit.data import SimpleFieldList
from earthkit.data.field.grib.create import create_grib_field
from earthkit.data.indexing.stream import StreamFieldList
from earthkit.data.readers.grib.handle import MemoryGribHandle
from earthkit.data.utils import batch

from isotach._earthkit.messages import handle_of, is_cached
from isotach._retrieval import Retrieval


class _Reader:
    """The fields of a retrieval, in memory. Others are read ahead. After an error iterating may go on."""

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval
        self._is_cached = is_cached()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        field = next(self._retrieval)
        handle = MemoryGribHandle(handle_of(field, field.key, field.location))
        return create_grib_field(handle, cache=self._is_cached)

    def batched(self, count: int) -> Any:
        return batch.batched(self, count, create=SimpleFieldList)

    def group_by(self, *keys: Any) -> Any:
        return batch.group_by(self, *keys, create=SimpleFieldList, sort=False)


def stream_of(retrieval: Retrieval) -> Any:
    """A field list that can be iterated once."""
    return StreamFieldList(_Reader(retrieval))
