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
from isotach._reports import Key
from isotach._xarray.cube import Group
from isotach._xarray.decode import decode
from isotach._xarray.grid import Grid, points_of
from isotach._xarray.message import Number, Values, opened
from isotach._xarray.naming import named
from isotach._xarray.source import Source

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
        places = list(product(*(np.atleast_1d(one).tolist() for one in outer)))
        out = np.empty((len(places), *_shape_of(self.grid.shape, inner)), self.dtype)

        def fill(number: int) -> None:
            field = self.group.key_at(places[number])
            out[number] = np.nan if field is None else _taken(self._field(field), inner)

        _each(fill, len(places))
        return out.reshape(tuple(size for one in outer for size in one.shape) + out.shape[1:])

    def _field(self, key: Key) -> Values:
        """The values of one field over the grid."""
        location = None
        try:
            field = self.source.read(key)
            location = field.location
            values = decode(field, self.grid, self.dtype, lambda: self.source.read(self.head))
            if values.size != math.prod(self.grid.shape):
                raise MessageError(f"{values.size} values: expected {math.prod(self.grid.shape)}")
            return self.grid.arranged(values)
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


def _shape_of(shape: tuple[int, ...], key: Sequence[Index]) -> tuple[int, ...]:
    return tuple(_taken(np.broadcast_to(np.int8(0), shape), key).shape)


def _each(fill: Callable[[int], None], count: int) -> None:
    """Calls a function for each number, from several threads if there are several. Raises the first error."""
    threads = min(count, processors())
    if threads <= 1:
        for number in range(count):
            fill(number)
        return
    with ThreadPoolExecutor(threads, "isotach-decode") as pool:
        tasks = [pool.submit(fill, number) for number in range(count)]
        try:
            for task in tasks:
                task.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))
