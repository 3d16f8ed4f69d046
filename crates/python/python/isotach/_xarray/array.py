"""Lazy arrays: fields that are read and decoded when their values are asked for."""

from __future__ import annotations

import asyncio
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from isotach._exceptions import CorruptError, MessageError
from isotach._handles import Source
from isotach._isotach import decode_into
from isotach._reports import Key
from isotach._xarray.cube import Group
from isotach._xarray.decode import decode
from isotach._xarray.grid import Grid, points_of
from isotach._xarray.message import Doubles, Number, Values, opened
from isotach._xarray.naming import named

Index = int | slice | np.ndarray[Any, np.dtype[np.int64]]


class _Lazy(BackendArray, ABC):
    """What both kinds of arrays share: xarray's protocol."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        """The values at a key of xarray."""
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._values
        )

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        """The values at a key of xarray, read and decoded beside the event loop."""
        return await asyncio.to_thread(self.__getitem__, key)

    @abstractmethod
    def _values(self, key: tuple[Index, ...]) -> Any:
        """The values at an index or slice of each dimension."""


@dataclass(eq=False)
class FieldArray(_Lazy):
    """The fields of a variable over its dimensions, the points of the grid last."""

    source: Source
    group: Group
    grid: Grid
    dtype: np.dtype[Number]
    head: Key
    """That of a field on the grid."""

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The sizes of the dimensions."""
        return (*(len(extent.values) for extent in self.group.extents), *self.grid.shape)

    def _values(self, key: tuple[Index, ...]) -> Values:
        dims = len(self.group.extents)
        inner = key[dims:]
        outer = [np.arange(size)[index] for size, index in zip(self.shape[:dims], key[:dims], strict=True)]
        places = product(*(np.atleast_1d(one).tolist() for one in outer))
        keys = [self.group.key_at(place) for place in places]
        if self.dtype == np.float64 and not self.grid.is_by_column and _is_whole(self.grid.shape, inner):
            out = self._fields(keys).reshape(len(keys), *self.grid.shape)
        else:
            out = np.empty((len(keys), *_shape_of(self.grid.shape, inner)), self.dtype)
            _each(lambda row: self._fill(out, row, keys[row], inner), range(len(keys)))
        return out.reshape(tuple(size for one in outer for size in one.shape) + out.shape[1:])

    def _fill(self, out: Values, row: int, key: Key | None, inner: Sequence[Index]) -> None:
        """Sets a row to some points of a field."""
        out[row] = np.nan if key is None else _taken(self.grid.arranged(self._fields([key])[0]), inner)

    def _fields(self, keys: Sequence[Key | None]) -> Doubles:
        """The values of fields in the order of their messages, a field in each row. NaN where there is no field."""
        rows = np.empty((len(keys), math.prod(self.grid.shape)))
        rows[[row for row, key in enumerate(keys) if key is None]] = np.nan
        left = decode_into(self.source.store._native, keys, self.grid.hash, rows) if rows.size else ()

        def read(row: int) -> None:
            rows[row] = self._field(keys[row] or {})

        _each(read, left)
        return rows

    def _field(self, key: Key) -> Values:
        """The values of one field in the order of its message."""
        location = None
        try:
            field = self.source.read(key)
            location = field.location
            values = decode(field, self.grid, lambda: self.source.read(self.head))
            if values.size != math.prod(self.grid.shape):
                raise MessageError(f"{values.size} values: expected {math.prod(self.grid.shape)}")
            return values
        except (CorruptError, MessageError) as error:
            raise named(error, key, location) from error


@dataclass(eq=False)
class PointArray(_Lazy):
    """The latitude or longitude of every point of a grid, computed when it is asked for."""

    source: Source
    key: Key
    """That of a field on the grid."""
    name: str
    """``latitude`` or ``longitude``."""
    grid: Grid

    dtype = np.dtype("float64")

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """That of the grid."""
        return self.grid.shape

    def _values(self, key: tuple[Index, ...]) -> Any:
        with opened(self.source.read(self.key)) as message:
            return _taken(self.grid.arranged(points_of(message, self.name)), key)


def _taken(array: np.ndarray[Any, Any], key: Sequence[Index]) -> np.ndarray[Any, Any]:
    """Each axis indexed by itself, the last one first, so that one that vanishes does not move those before it."""
    for axis in reversed(range(len(key))):
        array = array[(slice(None),) * axis + (key[axis], ...)]
    return array


def _is_whole(shape: tuple[int, ...], key: Sequence[Index]) -> bool:
    """Whether a key takes all points, in their order."""
    return all(
        isinstance(index, slice) and index.indices(size) == (0, size, 1)
        for size, index in zip(shape, key, strict=True)
    )


def _shape_of(shape: tuple[int, ...], key: Sequence[Index]) -> tuple[int, ...]:
    return tuple(_taken(np.broadcast_to(np.int8(0), shape), key).shape)


def _each(act: Callable[[int], None], rows: Sequence[int]) -> None:
    """Calls a function for each row, from several threads if there are several. Raises the first error."""
    threads = min(len(rows), processors())
    if threads <= 1:
        for row in rows:
            act(row)
        return
    with ThreadPoolExecutor(threads, "isotach-decode") as pool:
        tasks = [pool.submit(act, row) for row in rows]
        try:
            for task in tasks:
                task.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))
