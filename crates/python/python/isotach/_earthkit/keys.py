"""Fields of earthkit-data whose headers are made from their keys. Of each parameter one field is read, for its grid and its names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from earthkit.data import Field, SimpleFieldList
from earthkit.data.field.grib.create import create_grib_field
from earthkit.data.field.grib.data import GribData
from earthkit.data.field.grib.ensemble import GribEnsemble
from earthkit.data.field.grib.metadata import GribMetadata
from earthkit.data.field.grib.time import GribTime
from earthkit.data.field.grib.vertical import GribVertical
from earthkit.data.field.mars.ensemble import MarsEnsembleBuilder
from earthkit.data.field.mars.time import MarsTimeBuilder
from earthkit.data.field.mars.vertical import MarsVerticalBuilder

from isotach._earthkit.messages import Found, Messages, StoredHandle, is_cached, name_of
from isotach._exceptions import MessageError
from isotach._reports import Key
from isotach._store import Store

_NUMBERS = ("date", "time", "step", "levelist")
"""The keys whose values earthkit-data takes for numbers, where they are some."""


class _OfKey:
    """Makes a component from the key of a field when something asks for it."""

    def __init__(self, builder: Any) -> None:
        self._builder = builder

    def build(self, handle: StoredHandle) -> Any:
        return self._builder.build(_request(handle.key))


class _Time(GribTime):  # type: ignore[misc]
    BUILDER = _OfKey(MarsTimeBuilder)


class _Vertical(GribVertical):  # type: ignore[misc]
    BUILDER = _OfKey(MarsVerticalBuilder)


class _Ensemble(GribEnsemble):  # type: ignore[misc]
    BUILDER = _OfKey(MarsEnsembleBuilder)


class _Grid:
    """The grid that the fields of a parameter have: that of the first one."""

    def __init__(self, handle: StoredHandle) -> None:
        self._handle = handle
        self._digest: str | None = None

    def check(self, message: Any, key: Key) -> None:
        if self._digest is None:
            self._digest = self._handle.get("md5GridSection")
        if message.get("md5GridSection") != self._digest:
            raise MessageError(
                f"the field {name_of(key)} is on another grid than the first one of its parameter: expected one grid, or lazy=False"
            )


class _Values(GribData):  # type: ignore[misc]
    """The values of a field, read when they are asked for."""

    def __init__(self, handle: StoredHandle, grid: _Grid) -> None:
        super().__init__(handle)
        self._grid = grid

    def get_values(self, *arguments: Any, **options: Any) -> Any:
        self._grid.check(self.handle, self.handle.key)
        return super().get_values(*arguments, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Values, (self.handle, self._grid)


def fields_of(store: Store, found: Iterable[Found]) -> Any:
    """A field list, of which nothing is read yet."""
    messages = Messages(store)
    first: dict[str | None, tuple[_Grid, Any]] = {}
    fields = []
    for one in found:
        handle, param = StoredHandle(messages, one), one[0].get("param")
        if param not in first:
            first[param] = _Grid(handle), create_grib_field(handle)
        fields.append(_field(handle, *first[param]))
    return SimpleFieldList(fields)


def _field(handle: StoredHandle, grid: _Grid, first: Any) -> Any:
    """A field whose components are those of its key, and else of the first field. Its message has everything else."""
    ensemble = _Ensemble(handle) if "number" in handle.key else None
    of_key = {"time": _Time(handle), "vertical": _Vertical(handle), "ensemble": ensemble}
    field = Field.from_field(first, data=_Values(handle, grid), **of_key)
    field._set_private_data("metadata", GribMetadata(handle, cache=is_cached()))
    return field


def _request(key: Key) -> dict[str, Any]:
    """The key in the form that earthkit-data reads. The step of a range is its end."""
    values = {**key, "step": key.get("step", "0").rpartition("-")[2]}
    return {
        name: int(value) if name in _NUMBERS and value.isdigit() else value for name, value in values.items()
    }
