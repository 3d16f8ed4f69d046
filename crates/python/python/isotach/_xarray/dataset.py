"""The dataset: lazy variables with coordinates and attributes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import xarray
from xarray.core import indexing

from isotach._exceptions import (
    InvalidInputError,
    MissingFieldsError,
)
from isotach._handles import Source
from isotach._isotach import Request
from isotach._reports import Key, Missing
from isotach._xarray import coordinates
from isotach._xarray.alike import differing
from isotach._xarray.array import FieldArray, PointArray, processors
from isotach._xarray.cube import Group, check_keys, check_whole, groups_of
from isotach._xarray.grid import Grid
from isotach._xarray.header import Header
from isotach._xarray.heads import head_of
from isotach._xarray.member import Member
from isotach._xarray.message import opened
from isotach._xarray.options import Options
from isotach._xarray.requested import missing_params, requested_of
from isotach._xarray.template import TEMPLATE, Template
from isotach._xarray.whole import whole_groups

_CONVENTIONS = "CF-1.8"


def dataset_of(source: Source, request: Request, options: Options) -> xarray.Dataset:
    """The dataset of a request. It asks for axes and counts, and lists only where these are not enough. One field of each variable is read.

    Raises
    ------
    MissingFieldsError
        Fields do not exist, and the options do not allow holes; or there is no field at all.
    InvalidInputError
        The fields do not fit into one dataset.
    """
    members = [one for one in _opened(source, request, options) if one.name not in options.drop_variables]
    if not options.allow_holes:
        check_whole(one.group for one in members)
        _check_params(request, members, options.drop_variables)
    coordinates.check_names(members, options)
    _check_grids(source, members)
    squeezed = _squeezed(members, options)
    variables = {one.name: _variable(source, one, squeezed, options) for one in members}
    shared = coordinates.of(members, squeezed, options)
    if options.add_geo_coords:
        shared.update(_geography(source, members))
    coordinates.add_attributes(shared, options)
    dataset = xarray.Dataset(variables, shared, _global_attributes(members, options))
    # Without it, xarray would take the request for a path.
    dataset.encoding["source"] = f"{source.store.name} {request}"
    return dataset if options.lazy_load else dataset.load()


def _opened(source: Source, request: Request, options: Options) -> list[Member]:
    """The variables: from the axes of the store, or where these are not enough from a listing."""
    found = source.store.axes(request)
    if found:
        check_keys(options, found)
    requested = requested_of(source.store, request, found) if found else {}
    groups = whole_groups(source.store, request, options, found, requested) if found else []
    if groups is None:
        groups = groups_of([field.key for field in source.store.list(request)], options, requested)
    if not groups:
        raise _nothing(source, request)
    return _members(source, groups, options)


def _nothing(source: Source, request: Request) -> MissingFieldsError:
    why = source.store.explain(request)
    text = f"no fields match the request{f': {why}' if why else ''}"
    error = MissingFieldsError(text)
    error.missing = Missing(0, [], text)
    return error


def _members(source: Source, groups: Sequence[Group], options: Options) -> list[Member]:
    coordinates.check_levels(groups, options)
    with ThreadPoolExecutor(min(len(groups), processors()), "isotach-header") as pool:
        reading = pool.map(lambda group: head_of(source, group, is_flat=options.flatten_values), groups)
        # While ecCodes reads its tables, which takes as long: xarray imports dask and others with its first variable.
        xarray.Variable("values", np.zeros(1)).to_index_variable()
        heads = list(reading)
    names = _names([(group, head.header) for group, head in zip(groups, heads, strict=True)], options)
    return [
        Member(name, group, head, coordinates.dims_of(group, head.header, options))
        for name, group, head in zip(names, groups, heads, strict=True)
    ]


def _names(found: Sequence[tuple[Group, Header]], options: Options) -> list[str]:
    """The names of variables. Where a parameter is on levels of two types, the type is behind the name."""
    plain = [_name(*one, options) for one in found]
    for name in options.rename_variables:
        if name not in plain:
            raise InvalidInputError(
                f"rename_variables={name}: expected some of {', '.join(sorted({*plain}))}"
            )
    names = [options.rename_variables.get(name, name) for name in plain]
    unique = []
    for name, (group, _) in zip(names, found, strict=True):
        if names.count(name) > 1:
            same = [
                other for other, (one, _) in zip(names, found, strict=True) if one.levtype == group.levtype
            ]
            name = f"{name}_{group.levtype if same.count(name) == 1 else group.param}"
        unique.append(name)
    return unique


def _name(group: Group, header: Header, options: Options) -> str:
    chosen = {"shortName": header.short_name, "cfVarName": header.cf_name, "paramId": None}[
        options.variable_key
    ]
    return chosen or f"p{group.param}"


def _check_params(request: Request, members: Iterable[Member], dropped: Collection[str]) -> None:
    found = [(one.group.param, one.head.header.short_name) for one in members]
    found += [(name, None) for name in dropped]
    absent = missing_params(request, found)
    if absent:
        text = f"no field of param={'/'.join(absent)}"
        error = MissingFieldsError(f"{text}. With allow_holes=True the others are opened")
        error.missing = Missing(len(absent), [{"param": name} for name in absent], text)
        raise error


def _check_grids(source: Source, members: Sequence[Member]) -> None:
    """Refuses variables of two grids, whose coordinates would have the same names."""
    by_hash: dict[str, list[Member]] = {}
    for one in members:
        by_hash.setdefault(one.head.grid.hash, []).append(one)
    grids: list[list[Member]] = []
    for same in by_hash.values():
        for known in grids:
            if _differing(source, same[0], known[0]) is None:
                known += same
                break
        else:
            grids.append(same)
    if len(grids) > 1:
        told = "; ".join(
            f"{same[0].head.grid.kind} with {np.prod(same[0].head.grid.shape)} points: {', '.join(one.name for one in same)}"
            for same in grids
        )
        raise InvalidInputError(f"{len(grids)} grids in one dataset ({told}): name the param of one grid")


def _differing(source: Source, one: Member, other: Member) -> str | None:
    with opened(source.read(one.head.key)) as message:
        return differing(message, other.head.grid, lambda: source.read(other.head.key))


def _squeezed(members: Iterable[Member], options: Options) -> set[str]:
    """The dimensions with one coordinate, which become scalars."""
    kept = {*options.ensure_dims, *options.fixed_dims}
    sizes: dict[str, int] = {}
    names: dict[str, str] = {}
    for one in members:
        for dim, extent in zip(one.dims, one.group.extents, strict=True):
            sizes[dim] = max(sizes.get(dim, 0), len(extent.values))
            names[dim] = extent.axis.name
    return {
        dim for dim, size in sizes.items() if options.squeeze and size == 1 and not {dim, names[dim]} & kept
    }


def _variable(source: Source, one: Member, squeezed: set[str], options: Options) -> xarray.Variable:
    dims = tuple(dim for dim in one.dims if dim not in squeezed)
    group = one.group
    kept = group.at([number for number, dim in enumerate(one.dims) if dim in squeezed])
    array = FieldArray(source, kept, one.head.grid, options.dtype, one.head.key)
    whole = dict(zip(one.head.grid.dims, one.head.grid.shape, strict=True))
    encoding = {
        "preferred_chunks": {**dict.fromkeys(dims, 1), **whole},
        "dtype": options.dtype,
        TEMPLATE: Template(
            source, one.head.key, coordinates.step_texts(group), coordinates.labels(one, options)
        ),
    }
    attributes = _attributes(one, options)
    for dim, extent in zip(one.dims, group.extents, strict=True):
        if coordinates.is_attribute(dim, extent, options):
            attributes[dim] = coordinates.plain(extent.values[0])
    return xarray.Variable(
        (*dims, *one.head.grid.dims), indexing.LazilyIndexedArray(array), attributes, encoding
    )


def _attributes(one: Member, options: Options) -> dict[str, Any]:
    header = one.head.header
    cf = {"standard_name": header.standard_name, "long_name": header.long_name, "units": header.units}
    attributes: dict[str, Any] = {name: value for name, value in cf.items() if value is not None}
    if options.style == "earthkit":
        attributes["level_type"] = one.group.levtype
    else:
        attributes.update(header.attributes)
    return {options.rename_attrs.get(name, name): value for name, value in attributes.items()}


def _global_attributes(members: Sequence[Member], options: Options) -> dict[str, Any]:
    attributes: dict[str, Any] = {"Conventions": _CONVENTIONS}
    origin = _same(one.head.header.origin for one in members)
    if "GRIB_centreDescription" in origin:
        attributes["institution"] = origin["GRIB_centreDescription"]
    if options.style != "earthkit":
        attributes.update(origin)
        common = _same(one.group.common for one in members)
        names = ("class", "expver", "stream", "type", "levtype")
        attributes.update({f"MARS_{name}": common[name] for name in names if name in common})
    attributes = {options.rename_attrs.get(name, name): value for name, value in attributes.items()}
    return {**attributes, **options.global_attrs}


def _same(mappings: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The pairs that all mappings have."""
    first, *others = mappings
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def _geography(source: Source, members: Sequence[Member]) -> dict[str, xarray.Variable]:
    """The coordinates of the grid: of its dimensions, or of each point, which are computed when they are asked for."""
    if not members or not members[0].head.grid.has_points:
        return {}
    grid, key = members[0].head.grid, members[0].head.key
    names = ("latitude", "longitude")
    if grid.axes:
        return {name: xarray.Variable(name, grid.axes[name], _degrees(name)) for name in names}
    return {name: _points(source, key, name, grid) for name in names}


def _points(source: Source, key: Key, name: str, grid: Grid) -> xarray.Variable:
    array = indexing.LazilyIndexedArray(PointArray(source, key, name, grid))
    chunks = dict(zip(grid.dims, grid.shape, strict=True))
    return xarray.Variable(grid.dims, array, _degrees(name), {"preferred_chunks": chunks})


def _degrees(name: str) -> dict[str, str]:
    direction = "north" if name == "latitude" else "east"
    return {"units": f"degrees_{direction}", "standard_name": name, "long_name": name}
