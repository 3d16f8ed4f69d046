"""What operations of the store report, before ``pyfdb_iterator`` wraps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from isotach._isotach import Inspected, Listed, Location
from isotach._store import Store
from isotach.pyfdb._internal._handle import Located, RawDataHandle

Key = dict[str, str]


class RawControlIdentifier(IntEnum):
    """An action that can be locked."""

    NONE = 0
    LIST = 1
    RETRIEVE = 2
    ARCHIVE = 4
    WIPE = 8
    UNIQUEROOT = 16


class RawControlAction(IntEnum):
    """Whether to lock."""

    NONE = 0
    DISABLE = 1
    ENABLE = 2


RawWipeElementType = IntEnum(
    "RawWipeElementType",
    "ERROR CATALOGUE_INFO CATALOGUE CATALOGUE_INDEX CATALOGUE_SAFE CATALOGUE_CONTROL STORE STORE_AUX STORE_SAFE UNKNOWN",
    start=0,
)
RawWipeElementType.__doc__ = "What an element of a wipe tells."


class RawListElement:
    """A field, or a dataset or collocation without a location. Keys are made when they are asked for."""

    __slots__ = ("_found", "_keys", "_store")

    def __init__(self, store: Store, found: Listed | Inspected | None, keys: list[Key] | None = None) -> None:
        """The keys are those of ``found`` if they are not given."""
        self._store = store
        self._found = found
        self._keys = keys

    @property
    def location(self) -> Location | None:
        """Where the bytes of the field are."""
        return None if self._found is None else self._found.location

    @property
    def levels(self) -> list[Key]:
        """The key of each level in the order of the schema."""
        if self._keys is None:
            assert isinstance(self._found, Listed)
            self._keys = self._found.keys
        return self._keys

    def data_handle(self, location: Location) -> RawDataHandle:
        """The bytes at the location of the field."""
        return RawDataHandle(Located(self._store, location))

    @property
    def timestamp(self) -> int:
        """When the field was archived, in seconds since 1970. Zero if that is unknown."""
        archived = None if self.location is None else self.location.archived
        return 0 if archived is None else int(archived.timestamp())

    def __str__(self) -> str:
        """The keys, the location, the length and the time, as FDB writes them."""
        keys = "".join(key_text(key) for key in self.levels if key)
        location = self.location
        if location is None:
            return f"{keys},length=0,timestamp=0"
        scheme, _, name = location.uri.partition(":")
        length = location.length
        place = f"uri=URI[scheme={scheme},name={name}],offset={location.offset},length={length},remapKey={{}}"
        return f"{keys},TocFieldLocation[{place}],length={length},timestamp={self.timestamp}"


@dataclass(frozen=True, slots=True)
class RawControlElement:
    """A dataset with its place and locks."""

    key: Key
    location: str
    identifiers: list[RawControlIdentifier]


@dataclass(frozen=True, slots=True)
class RawWipeElement:
    """A line of a wipe, with the places that it speaks of."""

    kind: RawWipeElementType
    message: str
    uris: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """The line, and a line for each place."""
        places = "".join(f"    {uri}\n" for uri in self.uris)
        return f"{self.message}\n{places}\n" if places else f"{self.message}\n"


@dataclass(frozen=True, slots=True)
class RawPurgeElement:
    """A line of the report of a purge."""

    text: str

    def __str__(self) -> str:
        """The line."""
        return self.text


@dataclass(frozen=True, slots=True)
class RawStatsElement:
    """The statistics of one dataset, as text."""

    index_statistics: str
    db_statistics: str

    def __str__(self) -> str:
        """Both."""
        return f"Index Statistics: \n{self.index_statistics}\nDB Statistics: \n{self.db_statistics}"


class RawIndexAxis:
    """The values of each key."""

    def __init__(self, axes: Mapping[str, list[str]]) -> None:
        """Sorts them by name."""
        self.axes = {name: list(axes[name]) for name in sorted(axes)}


def key_text(key: Mapping[str, str]) -> str:
    """A key in braces."""
    return "{" + ",".join(f"{name}={value}" for name, value in key.items()) + "}"
