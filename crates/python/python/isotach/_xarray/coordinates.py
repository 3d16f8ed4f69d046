"""The coordinates of fields, and the names of their dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray

from isotach._exceptions import InvalidInputError
from isotach._xarray.axes import (
    LEVELS,
    PREDEFINED,
    VALID_TIME_ATTRIBUTES,
    coordinate,
    level_attributes,
    steps,
)
from isotach._xarray.cube import Extent, Group
from isotach._xarray.header import Header
from isotach._xarray.member import Member
from isotach._xarray.options import Options

_TIME = "forecast_reference_time"
_LABELS = {("date", "time"): _TIME, ("date", "time", "step"): "valid_time", ("levelist",): "level"}
_CF = ("standard_name", "long_name", "units", "positive")
"""The attributes of levels that all profiles have."""


def dims_of(group: Group, header: Header, options: Options) -> tuple[str, ...]:
    """The names of the dimensions of the fields of a variable."""
    return tuple(_dim(extent, group, header, options) for extent in group.extents)


def _dim(extent: Extent, group: Group, header: Header, options: Options) -> str:
    name = extent.axis.name
    if name == "level" and options.level_dim_mode == "level_per_type":
        kind = header.type_of_level if options.style == "cfgrib" else group.levtype
        name = kind or name
    return options.rename_dims.get(name, name)


def check_levels(groups: Iterable[Group], options: Options) -> None:
    """Refuses levels of two types along one dimension."""
    if options.level_dim_mode != "level":
        return
    types: dict[str, int] = {}
    for group in groups:
        for extent in group.extents:
            if extent.axis.name == "level":
                types[group.levtype or ""] = len(extent.values)
    if len(types) > 1:
        raise InvalidInputError(
            f"levels of several types in one dataset ({', '.join(types)}): name one levtype in the request, "
            "or give level_dim_mode='level_per_type'"
        )


def check_names(members: Sequence[Member], options: Options) -> None:
    """Refuses names of dimensions that options give, and no dataset with these options has."""
    known = {*PREDEFINED, *options.extra_dims, *options.fixed_dims, *LEVELS}
    known |= {name for one in members for name in (one.group.levtype, one.head.header.type_of_level) if name}
    keys = {name for one in members for name in one.group.common}
    ensured = {extent.axis.name for one in members for extent in one.group.extents} & {*options.ensure_dims}
    known |= ensured
    renamed = {*options.rename_dims.values(), *known}
    coords = (renamed - {*options.rename_dims}) | {
        *options.rename_dims.values(),
        "valid_time",
        "latitude",
        "longitude",
    }
    for option, names, allowed in (
        ("rename_dims", options.rename_dims, known),
        ("drop_dims", options.drop_dims, known),
        ("dims_as_attrs", options.dims_as_attrs, renamed),
        ("ensure_dims", options.ensure_dims, renamed | keys),
        ("coord_attrs", options.coord_attrs, coords),
    ):
        for name in names:
            if name not in allowed:
                expected = ", ".join(sorted(coords if allowed is coords else known))
                raise InvalidInputError(f"{option}={name}: expected some of {expected}")


def of(members: Sequence[Member], squeezed: set[str], options: Options) -> dict[str, xarray.Variable]:
    """The coordinates of the dimensions, and of those that were squeezed."""
    found: dict[str, xarray.Variable] = {}
    for one in members:
        for dim, extent in zip(one.dims, one.group.extents, strict=True):
            if dim not in found and not (is_attribute(dim, extent, options) and dim in squeezed):
                found[dim] = _variable(dim, extent, one, squeezed, options)
    if options.add_valid_time_coord and "valid_time" not in options.time_dims:
        found.update(_valid_time(found, options))
    return found


def add_attributes(found: Mapping[str, xarray.Variable], options: Options) -> None:
    """Adds the attributes that the options give to coordinates, where the dataset has these."""
    for name, attributes in options.coord_attrs.items():
        if name in found:
            found[name].attrs.update(attributes)


def is_attribute(dim: str, extent: Extent, options: Options) -> bool:
    """Whether the only coordinate of a dimension becomes an attribute."""
    return len(extent.values) == 1 and bool({dim, extent.axis.name} & set(options.dims_as_attrs))


def labels(one: Member, options: Options) -> frozenset[str]:
    """What the coordinates of a variable tell apart, in the words of :mod:`isotach._xarray.labels`."""
    return frozenset(
        _LABELS.get(extent.axis.keys, extent.axis.keys[0])
        for dim, extent in zip(one.dims, one.group.extents, strict=True)
        if not is_attribute(dim, extent, options)
    )


def _variable(dim: str, extent: Extent, one: Member, squeezed: set[str], options: Options) -> xarray.Variable:
    attributes: dict[str, Any] = dict(extent.axis.attributes)
    values = coordinate(extent.values)
    if extent.axis.keys == ("levelist",):
        attributes = level_attributes(one.group.levtype, one.head.header.type_of_level)
        if options.style != "isotach":
            attributes = {name: attributes[name] for name in attributes if name in _CF}
    if dim in squeezed:
        return xarray.Variable((), values[0], attributes)
    return xarray.Variable((dim,), values, attributes)


def _valid_time(found: dict[str, xarray.Variable], options: Options) -> dict[str, xarray.Variable]:
    """The time for which the fields are valid, over the dimensions of both of its parts."""
    names = {name: options.rename_dims.get(name, name) for name in (_TIME, "step", "date", "time")}
    step = found.get(names["step"])
    base = found.get(names[_TIME])
    if base is None and names["date"] in found and names["time"] in found and _TIME not in options.time_dims:
        base = found[names["date"]] + found[names["time"]]
    if base is None:
        return {}
    valid = base if step is None else base + step
    return {"valid_time": xarray.Variable(valid.dims, valid.values, dict(VALID_TIME_ATTRIBUTES))}


def step_texts(group: Group) -> dict[int, str]:
    """For each step in nanoseconds that is the end of a range, the range."""
    ranges = {}
    for extent in group.extents:
        if "step" in extent.axis.keys:
            at = extent.axis.keys.index("step")
            for raw in extent.raws:
                text = raw[at]
                if text is not None and "-" in text:
                    ranges[int(steps(text)[1].astype(np.int64))] = text
    return ranges


def plain(value: Any) -> Any:
    """A coordinate as an attribute: dates and durations as text."""
    return str(value) if isinstance(value, (np.datetime64, np.timedelta64)) else value
