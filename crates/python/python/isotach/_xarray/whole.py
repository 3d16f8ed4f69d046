"""Hypercubes that are told from the axes of a store, without a look at each field.

If the axes have as many combinations as there are fields, and each field has all of their keys, every combination is a field. Anything
else takes the listing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

from isotach._isotach import Request
from isotach._store import Store
from isotach._xarray.axes import Axis
from isotach._xarray.cube import Extent, Group, Requested, axes_of, extent_of, in_order
from isotach._xarray.options import Options

Values = Mapping[str, Sequence[str]]
"""The values of each key."""


def whole_groups(
    store: Store, request: Request, options: Options, found: Values, requested: Requested
) -> list[Group] | None:
    """The variables of a request with these axes if each of them is a whole hypercube. None if that is not sure."""
    if options.level_dim_mode == "level_and_type":
        return None
    levtypes: Sequence[str | None] = found.get("levtype") or [None]
    groups: list[Group] = []
    for levtype in levtypes:
        part, values = request, found
        if len(levtypes) > 1:
            part = Request(request, levtype=levtype)
            values = store.axes(part)
        made = _groups(values, levtype, options, requested)
        if made is None or not _is_whole(store, part, values):
            return None
        groups += made
    shared: dict[str, Extent] = {}
    for extent in (extent for group in groups for extent in group.extents):
        name = extent.axis.name
        if name != "level" and shared.setdefault(name, extent).values != extent.values:
            return None
    return sorted(groups, key=lambda group: in_order(group.param, group.levtype))


def _is_whole(store: Store, request: Request, found: Values) -> bool:
    """Whether every combination of the axes is a field, and no field lacks one of their keys."""
    combinations = math.prod(map(len, found.values()))
    # A field without one of the keys matches the first request only.
    return all(_count(store, one) == combinations for one in (request, Request(found)))


def _count(store: Store, request: Request) -> int:
    return sum(dataset.fields for dataset in store.stats(request))


def _groups(found: Values, levtype: str | None, options: Options, requested: Requested) -> list[Group] | None:
    axes = [axis for axis in axes_of(options) if axis.keys[0] in found]
    dims = {name for axis in axes for name in axis.keys}
    common = {name: values[0] for name, values in found.items() if name not in dims and name != "param"}
    if any(len(found[name]) > 1 for name in common):
        return None
    extents = [_extent(axis, found, levtype, requested) for axis in axes]
    if None in extents or len(dims) < sum(len(axis.keys) for axis in axes):
        return None
    known = tuple(extent for extent in extents if extent is not None)
    return [
        Group(param, levtype, {**common, "param": param}, known, None, ()) for param in found.get("param", ())
    ]


def _extent(axis: Axis, found: Values, levtype: str | None, requested: Requested) -> Extent | None:
    """The extent of an axis. None if two fields would have the same coordinate, or a value that the request names is missing."""
    texts: list[Sequence[str | None]] = [found.get(name) or [None] for name in axis.keys]
    raws = list(product(*texts))
    extent = extent_of(axis, raws, requested.get(axis.name, []), levtype)
    return extent if len(extent.values) == len(raws) else None
