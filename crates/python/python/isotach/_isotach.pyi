import builtins
import os
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Self, final

from isotach._arguments import KeyLike, RequestLike
from isotach._reports import (
    DatasetStats,
    DatasetStatus,
    DeleteReport,
    Key,
    Missing,
    PurgedDataset,
    Snapshot,
    VerifyReport,
    WipeReport,
)

__all__ = [
    "Columns",
    "Field",
    "Handle",
    "Inspected",
    "Inspection",
    "Listed",
    "Listing",
    "Location",
    "Request",
    "Retrieval",
    "Transaction",
    "Tree",
    "adopt",
    "after_fork",
    "before_fork",
    "codes",
    "columns",
    "control",
    "decode_into",
    "delete",
    "purge",
    "remove_snapshot",
    "set_environment",
    "snapshot",
    "snapshots",
    "stats",
    "status",
    "values",
    "values_at",
    "values_in_file",
    "verify",
    "version",
    "wipe",
]

def after_fork() -> None: ...
def before_fork() -> None: ...
def codes() -> list[str]: ...
def version() -> str: ...
def set_environment(root: str | os.PathLike[str]) -> None: ...

@final
class Request:
    """A request that was read once: names with lists of values.

    ``Request("class=od", step=[0, 6])`` adds keywords to text, a mapping or another request. Equal requests name the same values
    in the same order.
    """

    def __new__(cls, request: RequestLike = None, /, **keywords: Any) -> Self: ...
    def to_dict(self) -> dict[str, list[str]]:
        """The names and their values."""
    def keys(self) -> list[str]:
        """The names, which together with indexing make the request a mapping for ``dict()``."""
    def __getitem__(self, name: str, /) -> list[str]: ...
    def __contains__(self, name: str, /) -> bool: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Self], tuple[str]]: ...

@final
class Location:
    """Where a field's bytes are. Read by :meth:`Store.read`."""

    def __new__(
        cls,
        uri: str,
        offset: int,
        length: int,
        checksum: int,
        archived_us: int = 0,
        relabel: KeyLike | None = None,
    ) -> Self: ...
    @property
    def uri(self) -> str:
        """The object or file, as a URI."""
    @property
    def offset(self) -> int:
        """The first byte there."""
    @property
    def length(self) -> int:
        """The number of bytes."""
    @property
    def checksum(self) -> int:
        """CRC32C of the bytes."""
    @property
    def archived(self) -> datetime | None:
        """When the field was archived or adopted, in UTC. None if that is unknown."""
    @property
    def is_adopted(self) -> bool:
        """Whether the bytes are in a file that was adopted."""
    @property
    def relabel(self) -> Key | None:
        """The keys that are set in the message when it is read, because an overlay shows it under another key."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Field:
    """A field with its bytes.

    It has the buffer protocol: ``memoryview(field)`` and ``numpy.frombuffer(field, dtype)`` read the bytes without a copy, and
    ``bytes(field)`` copies them. They are read-only.
    """

    @property
    def key(self) -> Key:
        """Its whole key, in canonical form."""
    @property
    def location(self) -> Location:
        """Where its bytes are stored."""
    def __len__(self) -> int: ...
    def __bytes__(self) -> bytes: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @classmethod
    def _restored(cls, pairs: KeyLike, location: Location, bytes: Any) -> Self: ...

@final
class Columns:
    """The fields that match a request, key by key. They are numbered in the order of the listing."""

    def __len__(self) -> int: ...
    @property
    def names(self) -> list[str]:
        """The keys that fields have, in the order of the schema."""
    def values(self, name: str) -> list[str]:
        """The values that fields have for a key, each once."""
    def codes(self, name: str) -> bytes:
        """For each field the place of its value among these, as a little-endian int32; -1 for a field without the key."""
    def key(self, field: int) -> Key:
        """The whole key of a field."""
    def location(self, field: int) -> Location:
        """Where its bytes are."""
    def __reduce__(self) -> tuple[Any, ...]: ...
    @classmethod
    def _restored(cls, fields: Sequence[tuple[KeyLike, Location]]) -> Self: ...

@final
class Inspected:
    """A field that was found."""

    @property
    def key(self) -> Key:
        """Its whole key, in canonical form."""
    @property
    def location(self) -> Location:
        """Where its bytes are."""

@final
class Inspection:
    """The locations of the fields of a request, in the request's order."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> Inspected: ...
    @property
    def missing(self) -> Missing | None:
        """After the end, the missing fields. None where a whole dataset could not be read."""
    def _peek(self, count: int) -> tuple[list[Inspected], bool]: ...
    def _repr_html_(self) -> str: ...

@final
class Listed:
    """A field of a listing."""

    @property
    def key(self) -> Key:
        """Its whole key, in canonical form."""
    @property
    def keys(self) -> list[Key]:
        """The keys of its dataset, its collocation and its element."""
    @property
    def location(self) -> Location:
        """Where its bytes are."""
    @property
    def is_replaced(self) -> bool:
        """Whether a later field has replaced it."""

@final
class Listing:
    """The fields that match a request, without their bytes. Threads may share the iterator."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> Listed: ...
    def _peek(self, count: int) -> tuple[list[Listed], bool]: ...
    def _repr_html_(self) -> str: ...

@final
class Retrieval:
    def next(self) -> Field | None: ...
    def next_batch(self) -> list[Field]: ...
    def missing(self) -> Missing | None: ...
    @property
    def request(self) -> Request: ...

@final
class Transaction:
    def archive(self, data: Any, key: KeyLike) -> None: ...
    def archive_messages(self, data: Any) -> list[Key]: ...
    def archive_file(self, path: str | os.PathLike[str]) -> list[Key]: ...
    def commit(self) -> None: ...
    def discard(self) -> None: ...
    @property
    def is_empty(self) -> bool: ...

@final
class Handle:
    def __new__(
        cls,
        kind: str,
        value: str,
        folder: str | os.PathLike[str] | None = None,
        at: str | None = None,
        *,
        create: bool = False,
        schema: str | None = None,
    ) -> Self: ...
    def arguments(self) -> tuple[str, str, os.PathLike[str] | None, str | None]: ...
    @property
    def name(self) -> str: ...
    @property
    def at(self) -> str | None: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def is_dirty(self) -> bool: ...
    def open_at(self, name: str) -> Handle: ...
    def close(self) -> None: ...
    def schema(self) -> str: ...
    def archive(self, data: Any, key: KeyLike) -> None: ...
    def archive_messages(self, data: Any) -> builtins.list[Key]: ...
    def archive_file(self, path: str | os.PathLike[str]) -> builtins.list[Key]: ...
    def flush(self) -> None: ...
    def transaction(self) -> Transaction: ...
    def retrieve(self, request: RequestLike) -> Retrieval: ...
    def retrieve_one(self, key: KeyLike) -> Field | None: ...
    def retrieve_into(self, key: KeyLike, buffer: Any) -> int | None: ...
    def share(self, key: KeyLike) -> memoryview | None: ...
    def locate(self, key: KeyLike) -> Location | None: ...
    def read(self, location: Location, offset: int = 0, length: int | None = None) -> Field: ...
    def list(self, request: RequestLike, duplicates: bool) -> Listing: ...
    def inspect(self, request: RequestLike) -> Inspection: ...
    def axes(self, request: RequestLike) -> dict[str, builtins.list[str]]: ...
    def explain(self, request: RequestLike) -> str | None: ...

@final
class Tree:
    def __new__(cls, pool: str, container: str, *, create: bool = False) -> Self: ...
    @staticmethod
    def address(pool: str) -> str: ...
    def read(
        self, path: str, start: int | None = None, end: int | None = None, last: int | None = None
    ) -> memoryview | None: ...
    def size(self, path: str) -> int | None: ...
    def put(self, path: str, data: Any) -> None: ...
    def put_if_absent(self, path: str, data: Any) -> bool: ...
    def remove(self, path: str) -> None: ...
    def remove_below(self, directory: str) -> None: ...
    def list(self, prefix: str) -> builtins.list[str]: ...
    def size_of_all(self, prefix: str) -> int: ...
    def children(self, directory: str) -> builtins.list[str]: ...
    def is_empty(self, directory: str) -> bool: ...
    def flush(self) -> None: ...
    def purge(self) -> int: ...
    def begin(self) -> None: ...
    def commit(self) -> None: ...
    def roll_back(self) -> None: ...

def status(handle: Handle, request: RequestLike) -> list[DatasetStatus]: ...
def stats(handle: Handle, request: RequestLike) -> list[DatasetStats]: ...
def wipe(handle: Handle, request: RequestLike, doit: bool) -> WipeReport: ...
def delete(handle: Handle, request: RequestLike, doit: bool) -> DeleteReport: ...
def purge(handle: Handle, request: RequestLike, doit: bool) -> list[PurgedDataset]: ...
def control(handle: Handle, request: RequestLike, lock: bool, actions: list[str]) -> list[Key]: ...
def columns(handle: Handle, request: RequestLike) -> Columns:
    """Lists the fields that match a request."""

def decode_into(
    handle: Handle, fields: Sequence[Location | KeyLike | None], grid: str, target: Any
) -> list[int]:
    """Decodes fields to the rows of an array of float64 or float32, several at a time, and returns the rows that are left.

    Left are rows whose field does not exist, cannot be read, or is no message in simple packing or CCSDS on the grid of this digest.
    Reading such a field alone says more. A row whose field is None is not written. Missing points are NaN.
    """

def snapshots(handle: Handle) -> list[Snapshot]: ...
def snapshot(handle: Handle, request: RequestLike, name: str) -> Snapshot: ...
def remove_snapshot(handle: Handle, name: str) -> None: ...
def adopt(
    handle: Handle, path: str | os.PathLike[str], key: KeyLike | None, offset: int, length: int | None
) -> list[Key]: ...
def values(
    handle: Handle,
    request: RequestLike,
    choice: tuple[str, Any],
    grids: tuple[str | None, bool],
    threads: int,
) -> dict[str, Any]: ...
def values_at(
    handle: Handle,
    keys: Sequence[KeyLike],
    ranges: list[tuple[int, int]],
    grids: tuple[str | None, bool],
    threads: int,
) -> list[bytearray | None]: ...
def values_in_file(
    path: str, offset: int, ranges: list[tuple[int, int]], grids: tuple[str | None, bool]
) -> bytearray: ...
def verify(
    handle: Handle,
    request: RequestLike,
    data: bool,
    threads: int | None,
    progress: Callable[[int, int, int | None], object] | None,
) -> VerifyReport: ...
