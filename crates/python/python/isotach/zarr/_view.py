"""A request as arrays: which exist, what their metadata says, and which field each chunk is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotach._exceptions import InvalidInputError, MissingFieldsError
from isotach._isotach import Columns, Request, columns, decode_into
from isotach._reports import Missing
from isotach._store import Store
from isotach.zarr import _metadata
from isotach.zarr._axes import coordinate, requested_values, sorted_values
from isotach.zarr._decode import Grid, described, naming, values_of

Codes = NDArray[np.integer[Any]]
"""Numbers of fields, or of their values."""

_PARAM = "param"
_KINDS = ("levtype",)
"""Keys of which a parameter mostly has one value, whatever the request names."""


@dataclass
class View:
    """What a store of fields shows."""

    grid: Grid
    dtype: np.dtype[Any]
    fields: Columns
    documents: dict[str, bytes] = field(default_factory=dict)
    """The metadata and the coordinates, by the key of Zarr."""
    chunks: dict[str, int] = field(default_factory=dict)
    """The number of the field that a chunk is, by the key of Zarr."""

    def chunk_keys(self) -> Iterable[str]:
        """The keys of the fields that there are."""
        return self.chunks.keys()

    def chunk_size(self, key: str) -> int | None:
        """The bytes of a decoded field. None if there is no such field."""
        return self.grid.points * self.dtype.itemsize if key in self.chunks else None

    def read_chunk(self, store: Store, key: str) -> memoryview | None:
        """A decoded field. None if there is no such field."""
        number = self.chunks.get(key)
        if number is None:
            return None
        location = self.fields.location(number)
        values = np.empty(self.grid.points, self.dtype)
        with naming(self.fields.key(number)):
            if decode_into(store._native, [location], self.grid.digest, values):
                values[:] = values_of(store.read(location), self.grid, self.dtype)
        return values.view("u1").data


def view_of(store: Store, request: Request, dtype: np.dtype[Any]) -> View:
    """The view of a request. One message of each parameter is read."""
    fields = columns(store._native, request)
    if not len(fields):
        _refuse_nothing(store, request)
    codes = {name: np.frombuffer(fields.codes(name), "<i4") for name in fields.names}
    axes = _axes(store, request, fields, codes)
    by_param = _by_param(fields, codes)
    params = axes.pop(_PARAM, [*by_param])
    _refuse_absent([param for param in params if param not in by_param])
    view: View | None = None
    nodes: dict[str, Any] = {}
    for param in params:
        grid, parameter = described(store.read(fields.location(int(by_param[param][0]))))
        view = view or View(grid, dtype, fields)
        differs = grid.difference(view.grid)
        if differs is not None:
            raise InvalidInputError(
                f"fields of param={param} on another grid ({differs}): expected one grid for a view"
            )
        is_named = parameter.short_name not in ("unknown", "~", *nodes)
        name = parameter.short_name if is_named else f"param_{param}"
        of_param = {key: known[by_param[param]] for key, known in codes.items()}
        attributes = {"long_name": parameter.name, "units": parameter.units}
        nodes[name] = _array(view, name, by_param[param], of_param, axes, attributes)
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


def _by_param(fields: Columns, codes: Mapping[str, Codes]) -> dict[str, Codes]:
    """The numbers of the fields of each parameter. A field without one has the empty text."""
    if _PARAM not in codes:
        return {"": np.arange(len(fields))}
    values = fields.values(_PARAM)
    found, firsts = np.unique(codes[_PARAM], return_index=True)
    in_order = found[np.argsort(firsts)]
    return {values[code] if code >= 0 else "": np.flatnonzero(codes[_PARAM] == code) for code in in_order}


def _axes(
    store: Store, request: Request, fields: Columns, codes: Mapping[str, Codes]
) -> dict[str, list[str]]:
    """The values of each key that has several: those of the request first, in its order."""
    names = [name for name in request.to_dict() if name in codes]
    names += [name for name in codes if name not in names]
    axes: dict[str, list[str]] = {}
    for name in names:
        if name in request and len(request[name]) > 1:
            base = fields.key(int(np.argmax(codes[name] >= 0)))
            values = requested_values(store, request, name, base)
        else:
            values = sorted_values(fields.values(name))
        if len(values) > 1:
            axes[name] = values
    return axes


def _dimensions(codes: Mapping[str, Codes], axes: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The axes of a parameter."""
    differing = sorted(name for name, known in codes.items() if (known >= 0).any() and (known < 0).any())
    if differing:
        raise InvalidInputError(
            f"fields of one parameter with and without {', '.join(differing)}: expected a request for one kind"
        )
    dimensions = {}
    for name, values in axes.items():
        if name in codes and codes[name][0] >= 0:
            is_kind = name in _KINDS and (codes[name] == codes[name][0]).all()
            if not is_kind:
                dimensions[name] = values
    return dimensions


def _array(
    view: View,
    name: str,
    numbers: Codes,
    codes: Mapping[str, Codes],
    axes: Mapping[str, list[str]],
    attributes: dict[str, Any],
) -> dict[str, Any]:
    """Adds the array of these fields, and returns its metadata."""
    dimensions = _dimensions(codes, axes)
    ends = ["0"] * len(view.grid.shape)
    places = (_places(view.fields.values(axis), values, codes[axis]) for axis, values in dimensions.items())
    for number, *at in zip(numbers.tolist(), *places, strict=True):
        view.chunks["/".join([name, "c", *at, *ends])] = number
    first = view.fields.key(int(numbers[0]))
    alone = {f"mars_{key}": value for key, value in first.items() if key not in dimensions}
    shape = [*(len(values) for values in dimensions.values()), *view.grid.shape]
    chunk_shape = [*(1 for _ in dimensions), *view.grid.shape]
    names = [*dimensions, *view.grid.dimensions]
    points = " ".join(place for place, _ in view.grid.coordinates if place not in view.grid.dimensions)
    more = {"coordinates": points} if points else {}
    node = _metadata.array(shape, chunk_shape, view.dtype.name, names, {**attributes, **alone, **more})
    view.documents[f"{name}/zarr.json"] = json.dumps(node).encode()
    return node


def _places(found: Sequence[str], values: Sequence[str], codes: Codes) -> list[str]:
    """For each field the place of its value along an axis with these values, as text."""
    at = {value: str(place) for place, value in enumerate(values)}
    texts = [at[value] for value in found]
    return [texts[code] for code in codes.tolist()]


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
