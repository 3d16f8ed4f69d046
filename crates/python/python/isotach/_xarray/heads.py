"""What one field of a variable says of itself, remembered by its location.

The bytes at a location never change, so that a dataset that is opened again in a process reads no field at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from isotach._exceptions import CorruptError, IsotachError, MessageError
from isotach._handles import Source
from isotach._isotach import Location
from isotach._reports import Key
from isotach._xarray.cube import Group
from isotach._xarray.grid import Grid, grid_of
from isotach._xarray.header import Header, header_of
from isotach._xarray.message import opened
from isotach._xarray.naming import named

_TRIED_MAX = 8
"""How many fields of a variable are tried: a damaged one must not hide the others."""
_REMEMBERED_MAX = 1000

_remembered: dict[tuple[Location, bool], tuple[Header, Grid]] = {}


@dataclass(frozen=True)
class Head:
    """The header and the grid of a field."""

    key: Key
    header: Header
    grid: Grid


def head_of(source: Source, group: Group, *, is_flat: bool) -> Head:
    """The head of the first field of a variable that can be read."""
    first: IsotachError | None = None
    for key in islice(group.keys, _TRIED_MAX):
        location = source.store.locate(key)
        try:
            return Head(key, *_read(source, key, location, is_flat))
        except (CorruptError, MessageError) as error:
            first = first or named(error, key, location)
    assert first is not None, "a group has fields"
    raise first


def _read(source: Source, key: Key, location: Location | None, is_flat: bool) -> tuple[Header, Grid]:
    known = _remembered.get((location, is_flat)) if location is not None else None
    if known is not None:
        return known
    field = source.read(key)
    with opened(field) as message:
        read = header_of(message), grid_of(message, is_flat=is_flat)
    if len(_remembered) >= _REMEMBERED_MAX:
        _remembered.clear()
    _remembered[field.location, is_flat] = read
    return read
