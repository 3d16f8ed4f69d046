"""Where each field lies along the dimensions of its variable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isotach._exceptions import InvalidInputError, MissingFieldsError
from isotach._isotach import Location
from isotach._reports import Key, Missing
from isotach._xarray.axes import CFGRIB_LEVEL, PREDEFINED, Axis, Raw, axis_of
from isotach._xarray.options import Options

Requested = dict[str, list[Raw]]
"""For axes, the values that a request names: those that no field has are missing."""

_MISSING_KEYS_MAX = 1000
_MISSING_NAMED = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """A field of a variable: the text of the keys of its axes, and where it is."""

    labels: tuple[str | None, ...]
    location: Location

    def key(self, names: Sequence[str]) -> Key:
        """The labels with the names of their keys."""
        pairs = zip(names, self.labels, strict=True)
        return {name: value for name, value in pairs if value is not None}


Cells = np.ndarray[Any, Any]
"""An array of :class:`Cell`, or None where there is no field."""


@dataclass(frozen=True, slots=True)
class Extent:
    """An axis with its coordinates in ascending order, and for each the text of its keys."""

    axis: Axis
    values: tuple[Any, ...]
    raws: tuple[Raw, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The fields of a variable."""

    param: str
    levtype: str | None
    common: Key
    """The keys that are the same for all of its fields."""
    extents: tuple[Extent, ...]
    cells: Cells
    """A :class:`Cell` for each field, or None, over the extents."""

    @property
    def fields(self) -> Iterator[Cell]:
        """The fields in the order of the extents."""
        return (cell for cell in self.cells.flat if cell is not None)

    @property
    def names(self) -> tuple[str, ...]:
        """The keys of the labels of a cell."""
        return tuple(name for extent in self.extents for name in extent.axis.keys)


Record = tuple[Key, Location]


def groups_of(records: Sequence[Record], options: Options, requested: Requested) -> list[Group]:
    """The variables of fields.

    Raises
    ------
    InvalidInputError
        Two fields have the same place.
    """
    axes = _axes(options)
    by_variable: dict[tuple[str, str | None], list[Record]] = {}
    is_one = options.level_dim_mode == "level_and_type"
    for record in records:
        key = record[0]
        by_variable.setdefault((key.get("param", ""), None if is_one else key.get("levtype")), []).append(
            record
        )
    found = [
        (param, levtype, members, [axis for axis in axes if _has(axis, members)])
        for (param, levtype), members in sorted(by_variable.items(), key=_in_order)
    ]
    extents = _extents(found, requested)
    groups = [
        _group(param, levtype, members, [extents[axis.name, _scope(axis, levtype)] for axis in present])
        for param, levtype, members, present in found
    ]
    return groups


def _in_order(item: tuple[tuple[str, str | None], Any]) -> tuple[bool, int, str, str]:
    (param, levtype), _ = item
    return not param.isdigit(), int(param) if param.isdigit() else 0, param, levtype or ""


def _axes(options: Options) -> list[Axis]:
    if options.fixed_dims:
        return [axis_of(name, key) for name, key in options.fixed_dims.items()]
    level = "level_and_type" if options.level_dim_mode == "level_and_type" else "level"
    names = ["number", *options.time_dims, level]
    ensured = {name: name for name in options.ensure_dims if name not in names and name not in PREDEFINED}
    extra = [
        axis_of(name, key) for name, key in {**ensured, **options.extra_dims}.items() if name not in names
    ]
    core = [
        CFGRIB_LEVEL if name == "level" and options.style == "cfgrib" else PREDEFINED[name] for name in names
    ]
    return [axis for axis in (*extra, *core) if axis.name not in options.drop_dims]


def _has(axis: Axis, members: Iterable[Record]) -> bool:
    """Whether fields have the first key of an axis, which the others refine."""
    return any(axis.keys[0] in key for key, _ in members)


def _scope(axis: Axis, levtype: str | None) -> str | None:
    """Levels of different types are different axes."""
    return levtype if axis.keys == ("levelist",) else None


def _extents(
    found: Sequence[tuple[str, str | None, list[Record], list[Axis]]], requested: Requested
) -> dict[tuple[str, str | None], Extent]:
    """The extent of each axis over all variables."""
    raws: dict[tuple[str, str | None], set[Raw]] = {}
    by_name: dict[tuple[str, str | None], Axis] = {}
    for _, levtype, members, axes in found:
        for axis in axes:
            name = axis.name, _scope(axis, levtype)
            by_name[name] = axis
            raws.setdefault(name, set()).update(tuple(map(key.get, axis.keys)) for key, _ in members)
    return {
        name: _extent(axis, raws[name], requested.get(axis.name, []), descends=name[1] in axis.descends_on)
        for name, axis in by_name.items()
    }


def _extent(axis: Axis, raws: Iterable[Raw], requested: Iterable[Raw], *, descends: bool) -> Extent:
    by_value: dict[Any, Raw] = {}
    for raw in (*sorted(raws, key=str), *requested):
        by_value.setdefault(axis.value(raw), raw)
    try:
        values = sorted(by_value, reverse=descends)
    except TypeError:
        values = sorted(by_value, key=str)
    return Extent(axis, tuple(values), tuple(by_value[value] for value in values))


def _group(param: str, levtype: str | None, members: Sequence[Record], extents: Sequence[Extent]) -> Group:
    shape = tuple(len(extent.values) for extent in extents)
    cells: Cells = np.full(shape, None, dtype=object)
    order = [{value: place for place, value in enumerate(extent.values)} for extent in extents]
    places: list[dict[Raw, int]] = [{} for _ in extents]
    for key, location in members:
        index = []
        labels: list[str | None] = []
        for extent, by_value, known in zip(extents, order, places, strict=True):
            raw = tuple(map(key.get, extent.axis.keys))
            place = known.get(raw)
            if place is None:
                place = known[raw] = by_value[extent.axis.value(raw)]
            index.append(place)
            labels += raw
        other = cells[tuple(index)]
        if other is not None:
            _refuse_double(param, key, other.location, members)
        cells[tuple(index)] = Cell(tuple(labels), location)
    return Group(param, levtype, _common(members), tuple(extents), cells)


def _common(members: Sequence[Record]) -> Key:
    common = dict(members[0][0].items())
    for key, _ in members:
        if not common.items() <= key.items():
            common = dict(common.items() & key.items())
    return {name: value for name, value in members[0][0].items() if name in common}


def _refuse_double(param: str, key: Key, location: Location, members: Sequence[Record]) -> None:
    other = next(other for other, place in members if place == location and other != key)
    differing = [name for name in {**other, **key} if other.get(name) != key.get(name)]
    told = ", ".join(f"{name}={other.get(name, '')}/{key.get(name, '')}" for name in differing)
    raise InvalidInputError(
        f"fields of param={param} have the same place along the dimensions, and differ in {told}: "
        f"name one value in the request, or give extra_dims={differing[0]!r}"
    )


def check_whole(groups: Iterable[Group]) -> None:
    """Refuses holes, and names them.

    Raises
    ------
    MissingFieldsError
        A place has no field.
    """
    count = 0
    keys: list[Key] = []
    for group in groups:
        holes = np.argwhere(group.cells == None)  # noqa: E711
        count += len(holes)
        for index in holes[: _MISSING_KEYS_MAX - len(keys)]:
            keys.append(_key_at(group, index))
    if count == 0:
        return
    told = "; ".join(
        ",".join(f"{name}={value}" for name, value in key.items()) for key in keys[:_MISSING_NAMED]
    )
    more = f"; and {count - _MISSING_NAMED} more" if count > _MISSING_NAMED else ""
    text = f"{count} field{'s' * (count > 1)} missing: {told}{more}"
    error = MissingFieldsError(f"{text}. With allow_holes=True their values are NaN")
    error.missing = Missing(count, keys, text)
    raise error


def _key_at(group: Group, index: Iterable[int]) -> Key:
    key = {"param": group.param}
    for extent, place in zip(group.extents, index, strict=True):
        named = zip(extent.axis.keys, extent.raws[place], strict=True)
        key.update({name: value for name, value in named if value is not None})
    return key
