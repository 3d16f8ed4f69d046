"""A request as arrays: which exist, what their metadata says, and which field each chunk is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isotach._exceptions import InvalidInputError, MissingFieldsError
from isotach._isotach import Location, Request
from isotach._reports import Key, Missing
from isotach._store import Store
from isotach.zarr import _metadata
from isotach.zarr._axes import coordinate, requested_values, sorted_values
from isotach.zarr._decode import Grid, described, naming, values_of

_PARAM = "param"
_KINDS = ("levtype",)
"""Keys of which a parameter mostly has one value, whatever the request names."""


@dataclass(frozen=True)
class Chunk:
    """A field that is a chunk."""

    key: Key
    location: Location


@dataclass
class View:
    """What a store of fields shows."""

    grid: Grid
    dtype: np.dtype[Any]
    documents: dict[str, bytes] = field(default_factory=dict)
    """The metadata and the coordinates, by the key of Zarr."""
    chunks: dict[str, Chunk] = field(default_factory=dict)
    """The fields, by the key of Zarr."""

    def chunk_keys(self) -> Iterable[str]:
        """The keys of the fields that there are."""
        return self.chunks.keys()

    def chunk_size(self, key: str) -> int | None:
        """The bytes of a decoded field. None if there is no such field."""
        return self.grid.points * self.dtype.itemsize if key in self.chunks else None

    def read_chunk(self, store: Store, key: str) -> memoryview | None:
        """A decoded field. None if there is no such field."""
        chunk = self.chunks.get(key)
        if chunk is None:
            return None
        with naming(chunk.key):
            values = values_of(store.read(chunk.location), self.grid, self.dtype)
        return np.ascontiguousarray(values, self.dtype).view("u1").data


def view_of(store: Store, request: Request, dtype: np.dtype[Any]) -> View:
    """The view of a request. One message of each parameter is read."""
    found = [Chunk(listed.key, listed.location) for listed in store.list(request)]
    if not found:
        _refuse_nothing(store, request)
    axes = _axes(store, request, [chunk.key for chunk in found])
    by_param: dict[str, list[Chunk]] = {}
    for chunk in found:
        by_param.setdefault(chunk.key.get(_PARAM, ""), []).append(chunk)
    params = axes.pop(_PARAM, [*by_param])
    _refuse_absent([param for param in params if param not in by_param])
    view: View | None = None
    nodes: dict[str, Any] = {}
    for param in params:
        grid, parameter = described(store.read(by_param[param][0].location))
        view = view or View(grid, dtype)
        differs = grid.difference(view.grid)
        if differs is not None:
            raise InvalidInputError(
                f"fields of param={param} on another grid ({differs}): expected one grid for a view"
            )
        is_named = parameter.short_name not in ("unknown", "~", *nodes)
        name = parameter.short_name if is_named else f"param_{param}"
        dimensions = _dimensions(by_param[param], axes)
        attributes = {"long_name": parameter.name, "units": parameter.units}
        nodes[name] = _array(view, name, by_param[param], dimensions, attributes)
    assert view is not None, "each field has a parameter"
    _add_coordinates(view, nodes, axes)
    view.documents["zarr.json"] = json.dumps(_metadata.group(nodes)).encode()
    return view


def _refuse_nothing(store: Store, request: Request) -> None:
    """An empty view is an error of the request, and says why."""
    why = store.explain(request)
    error = MissingFieldsError(f"no field matches the request{f': {why}' if why else ''}")
    error.missing = Missing(0, [], "")
    raise error


def _refuse_absent(params: Sequence[str]) -> None:
    """A parameter without a field has no grid and no name, and cannot be an array."""
    if not params:
        return
    text = f"no field of param={'/'.join(params)}"
    error = MissingFieldsError(f"{text}: expected a request without it")
    error.missing = Missing(len(params), [{_PARAM: param} for param in params], text)
    raise error


def _axes(store: Store, request: Request, keys: Sequence[Key]) -> dict[str, list[str]]:
    """The values of each key that has several: those of the request first, in its order."""
    names = [name for name in request.to_dict() if any(name in key for key in keys)]
    names += dict.fromkeys(name for key in keys for name in key if name not in names)
    axes: dict[str, list[str]] = {}
    for name in names:
        base = next(key for key in keys if name in key)
        if name in request and len(request[name]) > 1:
            values = requested_values(store, request, name, base)
        else:
            values = sorted_values({key[name] for key in keys if name in key})
        if len(values) > 1:
            axes[name] = values
    return axes


def _dimensions(chunks: Sequence[Chunk], axes: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The axes of a parameter."""
    names = {frozenset(chunk.key) for chunk in chunks}
    if len(names) > 1:
        differing = sorted(frozenset.union(*names) - frozenset.intersection(*names))
        raise InvalidInputError(
            f"fields of one parameter with and without {', '.join(differing)}: expected a request for one kind"
        )
    dimensions = {}
    for name, values in axes.items():
        if name in chunks[0].key:
            is_kind = name in _KINDS and len({chunk.key[name] for chunk in chunks}) == 1
            if not is_kind:
                dimensions[name] = values
    return dimensions


def _array(
    view: View,
    name: str,
    chunks: Sequence[Chunk],
    dimensions: Mapping[str, list[str]],
    attributes: dict[str, Any],
) -> dict[str, Any]:
    """Adds an array, and returns its metadata."""
    positions = {axis: {value: at for at, value in enumerate(values)} for axis, values in dimensions.items()}
    ends = ["0"] * len(view.grid.shape)
    for chunk in chunks:
        at = [str(places[chunk.key[axis]]) for axis, places in positions.items()]
        view.chunks["/".join([name, "c", *at, *ends])] = chunk
    alone = {f"mars_{key}": value for key, value in chunks[0].key.items() if key not in dimensions}
    shape = [*(len(values) for values in dimensions.values()), *view.grid.shape]
    chunk_shape = [*(1 for _ in dimensions), *view.grid.shape]
    names = [*dimensions, *view.grid.dimensions]
    places = " ".join(place for place, _ in view.grid.coordinates if place not in view.grid.dimensions)
    more = {"coordinates": places} if places else {}
    node = _metadata.array(shape, chunk_shape, view.dtype.name, names, {**attributes, **alone, **more})
    view.documents[f"{name}/zarr.json"] = json.dumps(node).encode()
    return node


def _add_coordinates(view: View, nodes: dict[str, Any], axes: Mapping[str, list[str]]) -> None:
    """Adds an array for each dimension, and for the places of the grid."""
    used = {name for node in nodes.values() for name in node["dimension_names"]}
    for name in axes.keys() & used:
        numbers, attributes = coordinate(name, axes[name])
        count = [len(axes[name])]
        if numbers is None:
            node = _metadata.array(count, count, "string", [name], attributes)
            data = _metadata.texts(axes[name])
        else:
            node = _metadata.array(count, count, numbers.dtype.name, [name], attributes)
            data = numbers.tobytes()
        _add(view, nodes, name, node, data)
    units = {"latitude": "degrees_north", "longitude": "degrees_east"}
    for name, places in view.grid.coordinates:
        dimension = name if name in view.grid.dimensions else view.grid.dimensions[0]
        attributes = {"standard_name": name, "units": units[name]}
        node = _metadata.array([places.size], [places.size], "float64", [dimension], attributes)
        _add(view, nodes, name, node, places.astype("<f8").tobytes())


def _add(view: View, nodes: dict[str, Any], name: str, node: dict[str, Any], data: bytes) -> None:
    nodes[name] = node
    view.documents[f"{name}/zarr.json"] = json.dumps(node).encode()
    view.documents[f"{name}/c/0"] = data
