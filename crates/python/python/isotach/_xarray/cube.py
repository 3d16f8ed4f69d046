"""Where each field lies along the dimensions of its variable."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isotach._exceptions import InvalidInputError, MissingFieldsError
from isotach._reports import Key, Missing
from isotach._xarray.axes import CFGRIB_LEVEL, PREDEFINED, Axis, Raw, axis_of
from isotach._xarray.options import Options

Requested = dict[str, list[Raw]]
"""For axes, the values that a request names: those that no field has are missing."""

_MISSING_KEYS_MAX = 1000
_MISSING_NAMED = 4


Cells = np.ndarray[Any, Any]
"""For each place of a hypercube with holes the text of the keys that vary, or None where there is no field."""


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
    cells: Cells | None
    """The fields over the extents. None if every place has the one that the extents name."""
    varying: tuple[str, ...]
    """The keys of the text in each cell."""

    @property
    def keys(self) -> Iterator[Key]:
        """The keys of the fields in the order of the extents."""
        shape = tuple(len(extent.values) for extent in self.extents)
        found = (self.key_at(place) for place in np.ndindex(shape))
        return (key for key in found if key is not None)

    def key_at(self, place: Sequence[int]) -> Key | None:
        """The key of the field at a place. None for a hole."""
        if self.cells is None:
            return {**self.common, **_labels(self.extents, place)}
        cell = self.cells[tuple(place)]
        if cell is None:
            return None
        pairs = zip(self.varying, cell, strict=True)
        return {**self.common, **{name: value for name, value in pairs if value is not None}}

    def at(self, squeezed: Collection[int]) -> Group:
        """The group without some of its extents, of which only the first coordinate is kept."""
        common = dict(self.common)
        cells = self.cells
        if cells is None:
            for number in squeezed:
                common.update(_labels([self.extents[number]], [0]))
        else:
            index = tuple(0 if number in squeezed else slice(None) for number in range(len(self.extents)))
            cells = cells[(*index, ...)]
        kept = tuple(one for number, one in enumerate(self.extents) if number not in squeezed)
        return Group(self.param, self.levtype, common, kept, cells, self.varying)


def _labels(extents: Iterable[Extent], place: Iterable[int]) -> Key:
    """The keys that the coordinates at a place stand for."""
    return {
        name: value
        for extent, at in zip(extents, place, strict=True)
        for name, value in zip(extent.axis.keys, extent.raws[at], strict=True)
        if value is not None
    }


def groups_of(records: Sequence[Key], options: Options, requested: Requested) -> list[Group]:
    """The variables of fields.

    Raises
    ------
    InvalidInputError
        Two fields have the same place.
    """
    axes = axes_of(options)
    by_variable: dict[tuple[str, str | None], list[Key]] = {}
    is_one = options.level_dim_mode == "level_and_type"
    for key in records:
        variable = key.get("param", ""), None if is_one else key.get("levtype")
        by_variable.setdefault(variable, []).append(key)
    found = [
        (param, levtype, members, [axis for axis in axes if _has(axis, members)])
        for (param, levtype), members in sorted(by_variable.items(), key=lambda item: in_order(*item[0]))
    ]
    extents = _extents(found, requested)
    groups = [
        _group(param, levtype, members, [extents[axis.name, _scope(axis, levtype)] for axis in present])
        for param, levtype, members, present in found
    ]
    return groups


def in_order(param: str, levtype: str | None) -> tuple[bool, int, str, str]:
    """The order of variables: by the number of the parameter."""
    return not param.isdigit(), int(param) if param.isdigit() else 0, param, levtype or ""


def axes_of(options: Options) -> list[Axis]:
    """The dimensions that the options ask for, in their order."""
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


def check_keys(options: Options, found: Collection[str]) -> None:
    """Refuses dimensions of keys that no field has. Found are the keys of the fields.

    A dimension that datasets have by themselves may be absent.
    """
    common = {key for axis in PREDEFINED.values() for key in axis.keys}
    for option, asked in (("extra_dims", options.extra_dims), ("fixed_dims", options.fixed_dims)):
        for name, key in asked.items():
            (first, *_) = axis_of(name, key).keys
            if first not in common and first not in found:
                raise InvalidInputError(f"{option}={key}: no field has this key, but {', '.join(found)}")


def _has(axis: Axis, members: Iterable[Key]) -> bool:
    """Whether fields have the first key of an axis, which the others refine."""
    return any(axis.keys[0] in key for key in members)


def _scope(axis: Axis, levtype: str | None) -> str | None:
    """Levels of different types are different axes."""
    return levtype if axis.keys == ("levelist",) else None


def _extents(
    found: Sequence[tuple[str, str | None, list[Key], list[Axis]]], requested: Requested
) -> dict[tuple[str, str | None], Extent]:
    """The extent of each axis over all variables."""
    raws: dict[tuple[str, str | None], set[Raw]] = {}
    by_name: dict[tuple[str, str | None], Axis] = {}
    for _, levtype, members, axes in found:
        for axis in axes:
            name = axis.name, _scope(axis, levtype)
            by_name[name] = axis
            raws.setdefault(name, set()).update(tuple(map(key.get, axis.keys)) for key in members)
    return {
        name: extent_of(axis, raws[name], requested.get(axis.name, []), name[1])
        for name, axis in by_name.items()
    }


def extent_of(axis: Axis, raws: Iterable[Raw], requested: Iterable[Raw], levtype: str | None) -> Extent:
    """The extent of an axis with these texts, and with what the request names."""
    descends = levtype in axis.descends_on
    by_value: dict[Any, Raw] = {}
    for raw in (*sorted(raws, key=str), *requested):
        by_value.setdefault(axis.value(raw), raw)
    try:
        values = sorted(by_value, reverse=descends)
    except TypeError:
        values = sorted(by_value, key=str)
    return Extent(axis, tuple(values), tuple(by_value[value] for value in values))


def _group(param: str, levtype: str | None, members: Sequence[Key], extents: Sequence[Extent]) -> Group:
    cells: Cells = np.full(tuple(len(extent.values) for extent in extents), None, dtype=object)
    common = _common(members)
    varying = tuple(dict.fromkeys(name for key in members for name in key if name not in common))
    order = [{value: place for place, value in enumerate(extent.values)} for extent in extents]
    places: list[dict[Raw, int]] = [{} for _ in extents]
    for key in members:
        index = []
        for extent, by_value, known in zip(extents, order, places, strict=True):
            raw = tuple(map(key.get, extent.axis.keys))
            place = known.get(raw)
            if place is None:
                place = known[raw] = by_value[extent.axis.value(raw)]
            index.append(place)
        labels = tuple(map(key.get, varying))
        other = cells[tuple(index)]
        if other is not None:
            _refuse_double(
                param, dict(zip(varying, other, strict=True)), dict(zip(varying, labels, strict=True))
            )
        cells[tuple(index)] = labels
    return Group(param, levtype, common, tuple(extents), cells, varying)


def _common(members: Sequence[Key]) -> Key:
    common = dict(members[0])
    for key in members:
        if not common.items() <= key.items():
            common = {name: value for name, value in common.items() if key.get(name) == value}
    return common


def _refuse_double(param: str, one: dict[str, str | None], other: dict[str, str | None]) -> None:
    differing = [name for name in one if one[name] != other[name]]
    told = ", ".join(f"{name}={one[name] or ''}/{other[name] or ''}" for name in differing)
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
        if group.cells is None:
            continue
        holes = np.argwhere(group.cells == None)  # noqa: E711
        count += len(holes)
        for index in holes[: _MISSING_KEYS_MAX - len(keys)]:
            keys.append({"param": group.param, **_labels(group.extents, index)})
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
