"""Arrays whose chunks are several fields."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotach._exceptions import InvalidInputError, MissingFieldsError
from isotach._isotach import Request, decode_into
from isotach._reports import Key, Missing
from isotach._store import Store
from isotach.z3fdb._axes import AxisDefinition
from isotach.zarr import _metadata
from isotach.zarr._axes import requested_values
from isotach.zarr._decode import Grid, described, naming, values_of

_DTYPE = np.dtype("<f4")
_NAMED = 10
"""How many missing fields an error names."""
_THREADS: dict[int, ThreadPoolExecutor] = {}


@dataclass(frozen=True)
class Part:
    """The fields of one request."""

    constants: Key
    axes: list[list[Key]]
    """For each axis the values of its keys at each position."""

    @property
    def shape(self) -> list[int]:
        """The positions of each axis."""
        return [len(axis) for axis in self.axes]


def part_of(store: Store, selection: Mapping[str, Any], axes: Sequence[AxisDefinition]) -> tuple[Part, Grid]:
    """The fields of a selection along axes, and their grid. One field is read."""
    request = Request(dict(selection))
    first = next(iter(store.list(request)), None)
    if first is None:
        raise MissingFieldsError(f"no data found for request {request}: {store.explain(request)}")
    absent = [name for name in first.key if name not in request]
    if absent:
        raise InvalidInputError(f"request {request} lacks {', '.join(absent)}: expected a value of each key")
    values = {name: requested_values(store, request, name, first.key) for name in first.key}
    mapped = [key for axis in axes for key in axis.keys]
    for key in mapped:
        if key not in values:
            raise InvalidInputError(f"axis key {key!r}: expected a key of request {request}")
        if mapped.count(key) > 1:
            raise InvalidInputError(f"axis key {key!r} given twice: expected each key in one axis")
    for name, several in values.items():
        if len(several) > 1 and name not in mapped:
            raise InvalidInputError(f"{name} has {len(several)} values: expected an axis with it")
    along = [
        [dict(zip(axis.keys, at, strict=True)) for at in product(*(values[key] for key in axis.keys))]
        for axis in axes
    ]
    constants = {name: several[0] for name, several in values.items() if name not in mapped}
    return Part(constants, along), described(store.read(first.location))[0]


class Cube:
    """An array of parts that follow each other along one axis."""

    def __init__(
        self,
        parts: Sequence[Part],
        grid: Grid,
        axes: Sequence[AxisDefinition],
        extension: int,
        fill: float | None,
    ) -> None:
        """``fill`` is the value of missing fields. Without it they are errors."""
        self.parts = parts
        self.grid = grid
        self.extension = extension
        self.fill = fill
        shape = list(parts[0].shape)
        if len(parts) > 1:
            shape[extension] = sum(part.shape[extension] for part in parts)
        self.shape = shape
        self.chunk_shape = [axis.chunk_size(size) for axis, size in zip(axes, shape, strict=True)]
        self.dimension_names = [*(axis.dimension_name for axis in axes), "values"]

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of the array."""
        points = self.grid.points
        node = _metadata.array(
            [*self.shape, points], [*self.chunk_shape, points], _DTYPE.name, self.dimension_names, {}
        )
        return node if self.fill is None or np.isnan(self.fill) else {**node, "fill_value": self.fill}

    @property
    def chunk_size(self) -> int:
        """The bytes of a chunk."""
        return int(np.prod(self.chunk_shape)) * self.grid.points * _DTYPE.itemsize

    def chunks(self) -> Iterator[tuple[int, ...]]:
        """The position of each chunk."""
        counts = (ceil(size / chunk) for size, chunk in zip(self.shape, self.chunk_shape, strict=True))
        return product(*(range(count) for count in counts), [0])

    def position(self, key: str) -> tuple[int, ...] | None:
        """The position that a key of Zarr names. None if there is no such chunk."""
        numbers = key.split("/")
        if not all(number.isdecimal() for number in numbers) or len(numbers) != len(self.shape) + 1:
            return None
        at = tuple(int(number) for number in numbers)
        limits = [*self.shape, 1]
        sizes = [*self.chunk_shape, 1]
        inside = all(one * size < limit for one, size, limit in zip(at, sizes, limits, strict=True))
        return at if inside and "/".join(map(str, at)) == key else None

    def read(self, store: Store, at: Sequence[int]) -> memoryview:
        """Decodes the fields of a chunk, several at the same time."""
        fill = np.nan if self.fill is None else self.fill
        keys = [self._key_within(at, place) for place in np.ndindex(*self.chunk_shape)]
        rows = np.full([len(keys), self.grid.points], fill, _DTYPE)
        left = decode_into(store._native, keys, self.grid.digest, rows)
        if self.fill is not None:
            rows[np.isnan(rows)] = self.fill

        def read_one(row: int) -> bool:
            return self._read_field(store, keys[row] or {}, rows[row])

        run = map if len(left) <= 1 else _threads().map
        found = [*run(read_one, left)]
        if self.fill is None and not all(found):
            raise _missing(
                [keys[row] or {} for row, is_there in zip(left, found, strict=True) if not is_there]
            )
        return rows.reshape(-1).view("u1").data

    def _read_field(self, store: Store, key: Key, target: NDArray[Any]) -> bool:
        with naming(key):
            message = store.retrieve_one(key)
            if message is None:
                return False
            values = values_of(message, self.grid, _DTYPE)
        if self.fill is not None:
            values[np.isnan(values)] = self.fill
        target[:] = values
        return True

    def _key_within(self, at: Sequence[int], place: Sequence[int]) -> Key | None:
        """The key of the field at a place of a chunk. None behind the end of the array."""
        places = [one * size + offset for one, size, offset in zip(at, self.chunk_shape, place, strict=False)]
        is_inside = all(one < limit for one, limit in zip(places, self.shape, strict=True))
        return self._key(places) if is_inside else None

    def _key(self, place: Sequence[int]) -> Key:
        """The key of the field at a place."""
        at = list(place)
        for part in self.parts:
            if not at or at[self.extension] < part.shape[self.extension]:
                break
            at[self.extension] -= part.shape[self.extension]
        key = dict(part.constants)
        for axis, position in zip(part.axes, at, strict=True):
            key.update(axis[position])
        return key


def _threads() -> ThreadPoolExecutor:
    """The threads of this process that read the fields of a chunk: a forked child has none of its parent's."""
    known = _THREADS.get(os.getpid())
    # An executor without work has no threads, so it does not matter if two are made.
    return known or _THREADS.setdefault(os.getpid(), ThreadPoolExecutor(os.cpu_count()))


def _missing(keys: Sequence[Key]) -> MissingFieldsError:
    names = "; ".join(",".join(f"{name}={value}" for name, value in key.items()) for key in keys[:_NAMED])
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    error = MissingFieldsError(f"{len(keys)} fields of a chunk are missing: {names}{more}")
    error.missing = Missing(len(keys), list(keys), names)
    return error


class Cubes:
    """What a store shows: arrays by their paths. An array at the empty path is alone."""

    def __init__(self, cubes: Mapping[str, Cube]) -> None:
        """Makes the metadata."""
        self.cubes = dict(cubes)
        self.documents: dict[str, bytes] = _metadata.documents(
            {path: cube.metadata for path, cube in cubes.items()}
        )

    def _find(self, key: str) -> tuple[Cube, tuple[int, ...]] | None:
        for path, cube in self.cubes.items():
            start = f"{path}/c/" if path else "c/"
            if key.startswith(start):
                at = cube.position(key[len(start) :])
                return None if at is None else (cube, at)
        return None

    def chunk_keys(self) -> Iterable[str]:
        """The keys of all chunks, whether or not their fields exist."""
        for path, cube in self.cubes.items():
            start = f"{path}/c" if path else "c"
            for at in cube.chunks():
                yield "/".join([start, *map(str, at)])

    def chunk_size(self, key: str) -> int | None:
        """The bytes of a chunk. None if there is no such chunk."""
        found = self._find(key)
        return None if found is None else found[0].chunk_size

    def read_chunk(self, store: Store, key: str) -> memoryview | None:
        """A decoded chunk. None if there is no such chunk."""
        found = self._find(key)
        return None if found is None else found[0].read(store, found[1])
