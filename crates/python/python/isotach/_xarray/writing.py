"""Writing: from the variables of a dataset to GRIB messages in a store."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from isotach import _open
from isotach._exceptions import InvalidInputError, MessageError
from isotach._reports import Key
from isotach._store import Store
from isotach._xarray.grid import Grid, grid_of, points_of
from isotach._xarray.labels import Pairs, labels_of
from isotach._xarray.message import Message, opened
from isotach._xarray.template import TEMPLATE, Template

_BITS_DEFAULT = 16
"""The bits of a value where the template is a constant field, which has none."""
_DEGREES_APART_MAX = 1e-3
"""How far coordinates may be from those of the template: more than rounding, and less than any grid's distance."""


def archive(dataset: xarray.Dataset, store: Any, template: Any, keys: Mapping[str, Any]) -> list[Key]:
    """Archives the variables of a dataset; see :meth:`isotach.xarray.IsotachAccessor.archive`."""
    if isinstance(store, Store):
        return _archived(dataset, store, template, keys)
    with _open.open(store) as opened_here:
        return _archived(dataset, opened_here, template, keys)


def _archived(dataset: xarray.Dataset, store: Store, template: Any, keys: Mapping[str, Any]) -> list[Key]:
    set_by_caller = [(name.rstrip("_"), value) for name, value in keys.items()]
    templates = {
        str(name): _template(str(name), array, template) for name, array in dataset.data_vars.items()
    }
    written: list[Key] = []
    for name, array in dataset.data_vars.items():
        message, ranges = templates[str(name)]
        for data in _messages(str(name), array, message, ranges, set_by_caller):
            written += store.archive(data)
    return written


def _template(name: str, array: xarray.DataArray, template: Any) -> tuple[bytes, Mapping[int, str]]:
    """The message for a variable, and the ranges of steps."""
    chosen = template
    if isinstance(template, xarray.Dataset):
        chosen = template[name].encoding.get(TEMPLATE) if name in template else None
    elif isinstance(template, Mapping):
        chosen = template.get(name)
    elif template is None:
        chosen = array.encoding.get(TEMPLATE)
    if isinstance(chosen, Template):
        return chosen.read(), chosen.ranges
    if isinstance(chosen, (str, os.PathLike)):
        return Path(chosen).read_bytes(), {}
    if chosen is None:
        raise InvalidInputError(
            f"the variable {name} has no template: give template=, a GRIB message with its grid, or the dataset that was opened"
        )
    return bytes(chosen), {}


def _messages(
    name: str, array: xarray.DataArray, template: bytes, ranges: Mapping[int, str], keys: Pairs
) -> Iterator[bytes]:
    """The messages of a variable, one for each field that has values."""
    with opened(template) as message:
        grid = grid_of(message, is_flat="values" in array.dims)
        _check_grid(name, array, grid, message)
    outer = [dim for dim in array.dims if dim not in grid.dims]
    ordered = array.transpose(*outer, *grid.dims)
    for place in np.ndindex(*(ordered.sizes[dim] for dim in outer)):
        field = ordered.isel(dict(zip(outer, place, strict=True)))
        values = np.asarray(field.values, dtype="float64")
        if np.isnan(values).all():
            continue
        try:
            yield _message(field, grid.flattened(values), template, ranges, keys)
        except MessageError as error:
            at = ", ".join(f"{dim}={field[dim].values}" for dim in outer if dim in field.coords)
            raise MessageError(f"the variable {name} at {at or 'its only field'}: {error}") from error


def _message(
    field: xarray.DataArray, values: Any, template: bytes, ranges: Mapping[int, str], keys: Pairs
) -> bytes:
    with opened(template) as message:
        param = field.attrs.get("GRIB_paramId")
        if param is not None and param != message.get("paramId"):
            message.set([("paramId", int(param))])
        message.set(keys)
        for pair in labels_of(field, message, ranges):
            message.set([pair])
        if not message.get("bitsPerValue"):
            message.set([("bitsPerValue", _BITS_DEFAULT)])
        message.set_values(values)
        return message.bytes()


def _check_grid(name: str, array: xarray.DataArray, grid: Grid, message: Message) -> None:
    """Refuses an array that is not on the grid of the template, or has its points in another order."""
    sizes = dict(zip(grid.dims, grid.shape, strict=True))
    found = {dim: array.sizes.get(dim) for dim in grid.dims}
    if found != sizes:
        raise InvalidInputError(f"the variable {name} has {found}: expected {sizes}, as the template has")
    for coordinate in ("latitude", "longitude"):
        if coordinate not in array.coords or not grid.has_points:
            continue
        expected = grid.axes[coordinate] if grid.axes else grid.arranged(points_of(message, coordinate))
        values = (
            array[coordinate].transpose(*(dim for dim in grid.dims if dim in array[coordinate].dims)).values
        )
        if values.shape != expected.shape or np.abs(values - expected).max() > _DEGREES_APART_MAX:
            raise InvalidInputError(
                f"the variable {name} has another {coordinate} than its template, or in another order"
            )
