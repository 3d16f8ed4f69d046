"""Writing: from the variables of a dataset to GRIB messages in a store."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from isotach import _open
from isotach._exceptions import InvalidInputError
from isotach._reports import Key
from isotach._store import Store
from isotach._xarray.alike import DEGREES_APART_MAX
from isotach._xarray.grid import Grid, grid_of, points_of
from isotach._xarray.labels import LABEL_KEYS, Pairs, check_complete, check_kept, labels_of, pairs_of
from isotach._xarray.message import Message, opened
from isotach._xarray.template import TEMPLATE, Template

_BITS_DEFAULT = 16
"""The bits of a value where the template is a constant field, which has none."""


def archive(
    dataset: xarray.Dataset, store: Any, template: Any, keys: Mapping[str, Any], *, replace: bool
) -> list[Key]:
    """Archives the variables of a dataset; see :meth:`isotach.xarray.IsotachAccessor.archive`."""
    if isinstance(store, Store):
        return _archived(dataset, store, template, keys, replace)
    with _open.open(store) as opened_here:
        return _archived(dataset, opened_here, template, keys, replace)


def _archived(
    dataset: xarray.Dataset, store: Store, template: Any, keys: Mapping[str, Any], replace: bool
) -> list[Key]:
    set_by_caller = [(name.rstrip("_"), value) for name, value in keys.items()]
    target = None if replace else store
    forms = {
        str(name): _form(str(name), array, template, target) for name, array in dataset.data_vars.items()
    }
    written: list[Key] = []
    for name, array in dataset.data_vars.items():
        for data in _messages(str(name), array, forms[str(name)], set_by_caller):
            written += store.archive(data)
    return written


@dataclass(frozen=True)
class _Form:
    """What a variable is written with."""

    message: bytes
    ranges: Mapping[int, str]
    labels: frozenset[str] | None
    """What the coordinates of the variable told apart when it was opened. None if it was not."""
    is_kept: bool
    """Whether the message is a field of the store that is written to, and must stay."""


def _form(name: str, array: xarray.DataArray, template: Any, target: Store | None) -> _Form:
    chosen = template
    if isinstance(template, xarray.Dataset):
        chosen = template[name].encoding.get(TEMPLATE) if name in template else None
    elif isinstance(template, Mapping):
        chosen = template.get(name)
    elif template is None:
        chosen = array.encoding.get(TEMPLATE)
    if isinstance(chosen, Template):
        is_kept = target is not None and _place(chosen.source.store) == _place(target)
        return _Form(chosen.read(), chosen.ranges, chosen.labels, is_kept)
    if isinstance(chosen, (str, os.PathLike)):
        return _Form(Path(chosen).read_bytes(), {}, None, False)
    if chosen is None:
        raise InvalidInputError(
            f"the variable {name} has no template: give template=, a GRIB message with its grid, or the dataset that was opened"
        )
    return _Form(bytes(chosen), {}, None, False)


def _place(store: Store) -> str:
    return store.name.rstrip("/")


def _messages(name: str, array: xarray.DataArray, form: _Form, keys: Pairs) -> Iterator[bytes]:
    """The messages of a variable, one for each field that has values."""
    with opened(form.message) as message:
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
            yield _message(field, grid.flattened(values), form, keys)
        except InvalidInputError as error:
            at = ", ".join(f"{dim}={field[dim].values}" for dim in outer if dim in field.coords)
            raise type(error)(f"the variable {name} at {at or 'its only field'}: {error}") from error


def _message(field: xarray.DataArray, values: Any, form: _Form, keys: Pairs) -> bytes:
    with opened(form.message) as message:
        own = _mars(message)
        param = field.attrs.get("GRIB_paramId")
        if param is not None and param != message.get("paramId"):
            message.set([("paramId", int(param))])
        message.set(keys)
        labels = labels_of(field, message)
        changed = (key for key, value in keys if key != "type" or value != own.get("type"))
        check_complete(labels, message, form.labels, changed)
        pairs = [(key, value) for key, value in keys if key in LABEL_KEYS]
        for pair in pairs_of(labels, message, form.ranges):
            message.set([pair])
            pairs.append(pair)
        check_kept(labels, pairs, message)
        if form.is_kept and _mars(message) == own:
            told = ",".join(f"{name}={value}" for name, value in own.items())
            raise InvalidInputError(
                f"the field {told} is the template, and would be replaced: give a key that tells both apart, "
                "such as expver=, or replace=True"
            )
        if not message.get("bitsPerValue"):
            message.set([("bitsPerValue", _BITS_DEFAULT)])
        message.set_values(values)
        return message.bytes()


def _mars(message: Message) -> dict[str, str | None]:
    """The key of a message in the words of MARS."""
    return {name: message.text(name) for name in message.names("mars")}


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
        if values.shape != expected.shape or np.abs(values - expected).max() > DEGREES_APART_MAX:
            raise InvalidInputError(
                f"the variable {name} has another {coordinate} than its template, or in another order"
            )
