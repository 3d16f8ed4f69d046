"""What the operations yield, and the axes."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from enum import IntEnum
from typing import Any, NoReturn

from isotach._isotach import Location
from isotach.pyfdb._internal import ControlElement as _ControlElement
from isotach.pyfdb._internal import IndexAxis as _IndexAxis
from isotach.pyfdb._internal import ListElement as _ListElement
from isotach.pyfdb._internal import PurgeElement as _PurgeElement
from isotach.pyfdb._internal import StatsElement as _StatsElement
from isotach.pyfdb._internal import WipeElement as _WipeElement
from isotach.pyfdb._internal import WipeElementType as _WipeElementType
from isotach.pyfdb.pyfdb_type import URI, ControlIdentifier, DataHandle, MarsSelection, UserInputMapper

logger = logging.getLogger(__name__)


def _refuse(element: object, internal: bool) -> None:
    if not internal:
        raise TypeError(f"Creating a {type(element).__name__} from user code is not supported.")


class ListElement:
    """A field of a listing, or a collocation or dataset where the listing has a lower level."""

    __slots__ = ("_element",)

    def __init__(self, list_element: _ListElement, *, _internal: bool = False) -> None:
        """Called by the package."""
        _refuse(self, _internal)
        self._element = list_element

    def has_location(self) -> bool:
        """Whether it is a field, as at level 3."""
        return self._element.location is not None

    def offset(self) -> int | None:
        """The first byte of the field in its object or file. None below level 3."""
        location = self._location("offset")
        return None if location is None else location.offset

    def length(self) -> int | None:
        """The length of the field in bytes. None below level 3."""
        location = self._location("length")
        return None if location is None else location.length

    def timestamp(self) -> int | None:
        """When the field was archived, in seconds since 1970 in UTC. None below level 3. pyfdb has it in ``repr`` only."""
        return None if self._location("timestamp") is None else self._element.timestamp

    def combined_key(self) -> dict[str, str]:
        """The keys of all levels up to that of the listing."""
        return dict(sorted(pair for level in self._element.levels for pair in level.items()))

    def keys(self) -> list[dict[str, str]]:
        """The keys of each of the three levels. Those below the level of the listing are empty."""
        return [dict(sorted(level.items())) for level in self._element.levels]

    @property
    def data_handle(self) -> DataHandle | None:
        """The bytes of the field. None below level 3."""
        location = self._location("data handle")
        return None if location is None else DataHandle(self._element.data_handle(location), _internal=True)

    @property
    def uri(self) -> URI | None:
        """The object or file that holds the field. None below level 3."""
        location = self._location("URI")
        return None if location is None else URI(location.uri)

    def __getitem__(self, name: str) -> Any:
        """``"keys"``, ``"path"``, ``"offset"`` or ``"length"``, as elements of pyfdb 0.1 have them."""
        match name:
            case "keys":
                return self.combined_key()
            case "path":
                return None if self.uri is None else self.uri.path()
            case "offset":
                return self.offset()
            case "length":
                return self.length()
        raise KeyError(name)

    def _location(self, what: str) -> Location | None:
        """The location. Without one, the log says what the element does not have."""
        location = self._element.location
        if location is None:
            logger.info("an element without a location has no %s: expected a listing with level=3", what)
        return location

    def __repr__(self) -> str:
        """The keys, the location, the length and the time, as FDB writes them."""
        return str(self._element)


class WipeElementType(IntEnum):
    """What an element of a wipe tells."""

    ERROR = 0
    CATALOGUE_INFO = 1
    CATALOGUE = 2
    CATALOGUE_INDEX = 3
    CATALOGUE_SAFE = 4
    CATALOGUE_CONTROL = 5
    STORE = 6
    STORE_AUX = 7
    STORE_SAFE = 8
    UNKNOWN = 9

    @classmethod
    def _from_raw(cls, raw: _WipeElementType) -> WipeElementType:
        return cls[raw.name]

    def _to_raw(self) -> _WipeElementType:
        return _WipeElementType[self.name]

    def __repr__(self) -> str:
        """The name."""
        return self.name

    __str__ = __repr__


class WipeElement:
    """A line of a wipe."""

    def __init__(self, wipe_element: _WipeElement, *, _internal: bool = False) -> None:
        """Called by the package."""
        _refuse(self, _internal)
        self._element = wipe_element

    def type(self) -> WipeElementType:
        """What it tells."""
        return WipeElementType._from_raw(self._element.kind)

    def msg(self) -> str:
        """The line."""
        return self._element.message

    def uris(self) -> list[URI]:
        """The places that it speaks of."""
        return [URI(uri) for uri in self._element.uris]

    def __repr__(self) -> str:
        """The line and the places."""
        return str(self._element)


class _DatasetElement:
    """A dataset with its locks."""

    def __init__(self, control_element: _ControlElement, *, _internal: bool = False) -> None:
        """Called by the package."""
        _refuse(self, _internal)
        self.element = control_element

    def location(self) -> URI:
        """The place of its catalogue."""
        return URI(self.element.location)

    def controlIdentifiers(self) -> list[ControlIdentifier]:
        """The actions that it is locked against."""
        return [ControlIdentifier._from_raw(one) for one in self.element.identifiers]

    def key(self) -> dict[str, list[str]]:
        """Its key, each value in a list."""
        return {name: [value] for name, value in sorted(self.element.key.items())}

    def __eq__(self, other: object) -> bool:
        """Whether both are the same dataset with the same locks."""
        return isinstance(other, _DatasetElement) and self.element == other.element

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The locks, the key and the place."""
        locks, key, location = self.controlIdentifiers(), self.key(), self.location()
        return f"{type(self).__name__}(control_identifiers={locks}, key={key}, location={location})"


class StatusElement(_DatasetElement):
    """A dataset with its locks."""


class ControlElement(_DatasetElement):
    """A dataset with its locks after they were changed."""


class PurgeElement:
    """A line of the report of a purge."""

    def __init__(self, purge_element: _PurgeElement, *, _internal: bool = False) -> None:
        """Called by the package."""
        _refuse(self, _internal)
        self.element = purge_element

    def __repr__(self) -> str:
        """The line."""
        return str(self.element)


class StatsElement:
    """The statistics of a dataset, as text."""

    def __init__(self, stats_element: _StatsElement, *, _internal: bool = False) -> None:
        """Called by the package."""
        _refuse(self, _internal)
        self.element = stats_element

    def db_statistics(self) -> str:
        """Of its storage."""
        return self.element.db_statistics

    def index_statistics(self) -> str:
        """Of its fields."""
        return self.element.index_statistics

    def __repr__(self) -> str:
        """Both."""
        return str(self.element)


class IndexAxis(dict[str, Collection[str]]):
    """The values of each key, as a dictionary that cannot be changed."""

    def __init__(self, index_axis: _IndexAxis | MarsSelection) -> None:
        """From a selection, or from what ``FDB.axes`` found."""
        if isinstance(index_axis, _IndexAxis):
            axes: Mapping[str, Collection[str]] = index_axis.axes
        elif isinstance(index_axis, dict):
            axes = UserInputMapper.map_selection_to_internal(index_axis)
        else:
            raise TypeError(
                f"IndexAxis: Unknown type {type(index_axis)} for creating IndexAxis. Expected a dictionary"
            )
        super().__init__((name, axes[name]) for name in sorted(axes))

    def __missing__(self, name: str) -> NoReturn:
        """There is no such key."""
        raise KeyError(f"Couldn't find key: {name} in IndexAxis.")

    def has_key(self, k: str) -> bool:
        """Whether there is such a key."""
        return k in self

    def __eq__(self, other: object) -> bool:
        """Whether both have the same values. A single value equals the list of it."""
        if not isinstance(other, dict):
            return False
        mapped = {
            name: value
            if isinstance(value, Collection) and not isinstance(value, str)
            else [value if isinstance(value, str) else str(value)]
            for name, value in other.items()
        }
        return dict(self) == mapped

    def __ne__(self, other: object) -> bool:
        """The opposite."""
        return not self == other

    def _read_only(self, *_arguments: Any, **_keywords: Any) -> NoReturn:
        raise TypeError("This mapping is read-only")

    __setitem__ = __delitem__ = __ior__ = _read_only
    clear = pop = popitem = setdefault = update = _read_only

    def __reduce__(self) -> tuple[type[IndexAxis], tuple[dict[str, Collection[str]]]]:
        """As it was made."""
        return IndexAxis, (dict(self),)

    def __repr__(self) -> str:
        """The values in brackets, as FDB writes them: without the keys that no field has."""
        known = ((name, list(values)) for name, values in self.items())
        axes = ",".join(f"{name}=({','.join(values)})" for name, values in known if values != [""])
        return f"IndexAxis[axis={{{axes}}}]"
