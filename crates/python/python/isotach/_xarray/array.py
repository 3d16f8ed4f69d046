"""Lazy arrays: fields that are read and decoded when their values are asked for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from isotach._exceptions import IsotachError, MessageError
from isotach._isotach import Location
from isotach._xarray.cube import Cell, Cells
from isotach._xarray.decode import decode
from isotach._xarray.grid import Coordinate, Grid, points_of
from isotach._xarray.message import Number, Values, opened
from isotach._xarray.naming import named
from isotach._xarray.source import Source

Index = int | slice | np.ndarray[Any, np.dtype[np.int64]]


class _Lazy(BackendArray):
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

    def _values(self, key: tuple[Index, ...]) -> Any:
        raise NotImplementedError


@dataclass(eq=False)
class FieldArray(_Lazy):
    """The fields of a variable over its dimensions, the points of the grid last."""

    source: Source
    names: tuple[str, ...]
    """The keys of the labels of each cell."""
    common: dict[str, str]
    """The keys that all fields share."""
    cells: Cells
    grid: Grid
    dtype: np.dtype[Number]

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The sizes of the dimensions."""
        return (*self.cells.shape, *self.grid.shape)

    def _values(self, key: tuple[Index, ...]) -> Values:
        outer, inner = key[: self.cells.ndim], key[self.cells.ndim :]
        cells = _taken(self.cells, outer)
        out = np.empty(cells.shape + _shape_of(self.grid.shape, inner), self.dtype)
        places = list(np.ndindex(cells.shape))

        def fill(place: tuple[int, ...]) -> None:
            cell = cells[place]
            out[place] = np.nan if cell is None else _taken(self._field(cell), inner)

        _each(fill, places)
        return out

    def _field(self, cell: Cell) -> Values:
        """The values of one field over the grid."""
        try:
            field = self.source.store.read(cell.location)
            values = decode(field, self.grid.hash, self.dtype)
            if values.size != np.prod(self.grid.shape):
                raise MessageError(f"{values.size} values: expected {np.prod(self.grid.shape)}")
            return self.grid.arranged(values)
        except IsotachError as error:
            raise named(error, {**self.common, **cell.key(self.names)}, cell.location) from error


@dataclass(eq=False)
class PointArray(_Lazy):
    """The latitude or longitude of every point of a grid, computed when it is asked for."""

    source: Source
    location: Location
    """A field on the grid."""
    name: Coordinate
    grid: Grid

    dtype = np.dtype("float64")

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """That of the grid."""
        return self.grid.shape

    def _values(self, key: tuple[Index, ...]) -> Any:
        with opened(self.source.store.read(self.location)) as message:
            return _taken(self.grid.arranged(points_of(message, self.name)), key)


def _taken(array: np.ndarray[Any, Any], key: Sequence[Index]) -> np.ndarray[Any, Any]:
    """Each axis indexed by itself, the last one first, so that one that vanishes does not move those before it."""
    for axis in reversed(range(len(key))):
        array = array[(slice(None),) * axis + (key[axis], ...)]
    return array


def _shape_of(shape: tuple[int, ...], key: Sequence[Index]) -> tuple[int, ...]:
    return tuple(_taken(np.broadcast_to(np.int8(0), shape), key).shape)


def _each(fill: Any, places: Sequence[tuple[int, ...]]) -> None:
    """Calls a function for each place, from several threads if there are several places. Raises the first error."""
    threads = min(len(places), _processors())
    if threads <= 1:
        for place in places:
            fill(place)
        return
    with ThreadPoolExecutor(threads, "isotach-decode") as pool:
        tasks = [pool.submit(fill, place) for place in places]
        try:
            for task in tasks:
                task.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _processors() -> int:
    return len(os.sched_getaffinity(0))
