"""The bytes of fields, one after the other, as a stream."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, Protocol

from isotach._exceptions import LockedError
from isotach._isotach import Field, Location
from isotach._store import Store
from isotach.pyfdb._internal._selection import each_of, logger


class Source(Protocol):
    """Where a stream's fields come from."""

    name: str

    def fields(self) -> Iterator[Field]:
        """The fields from the first one on."""

    def size(self) -> int:
        """The sum of their lengths."""


class Requested:
    """The fields of a request, in its order. Fields that are missing or locked are left out."""

    name = "MultiHandle"

    def __init__(self, store: Store, request: dict[str, str]) -> None:
        """Reads the request, so that a mistake is reported by ``retrieve``."""
        self._store = store
        self._request = request
        self._begun: Iterator[Field] | None = self._begin()

    def _begin(self) -> Iterator[Field]:
        found = each_of(self._request, lambda request: self._store.retrieve(request, missing="skip"))
        return iter(()) if found is None else Unlocked(found)

    def fields(self) -> Iterator[Field]:
        """The fields, read ahead of the caller."""
        begun, self._begun = self._begun, None
        return begun or self._begin()

    def size(self) -> int:
        """The sum of the lengths that the catalogue has."""
        found = each_of(self._request, self._store.inspect)
        return 0 if found is None else sum(one.location.length for one in Unlocked(found))


class Located:
    """One field, by its location."""

    name = "PartFileHandle"

    def __init__(self, store: Store, location: Location) -> None:
        """The bytes are read when the stream is."""
        self._store = store
        self._location = location

    def fields(self) -> Iterator[Field]:
        """The field."""
        yield self._store.read(self._location)

    def size(self) -> int:
        """Its length."""
        return self._location.length


class Nothing:
    """No fields."""

    name = "MultiHandle"

    def fields(self) -> Iterator[Field]:
        """None."""
        return iter(())

    def size(self) -> int:
        """Zero."""
        return 0


class Unlocked(Iterator[Any]):
    """An iterator without the datasets that are locked. After an error for one field it goes on with the next."""

    def __init__(self, found: Iterator[Any]) -> None:
        self._found = found

    def __next__(self) -> Any:
        while True:
            try:
                return next(self._found)
            except LockedError as error:
                # One that is being moved is locked for a moment only: its fields are not absent.
                if error.code != "locked":
                    raise
                logger.warning("left out: %s", error)


class RawDataHandle:
    """A stream over a source's fields. Threads may share it: each byte is read once."""

    def __init__(self, source: Source) -> None:
        """A closed stream."""
        self._source = source
        self._fields: Iterator[Field] = iter(())
        self._rest = memoryview(b"")
        self._size: int | None = None
        self._failure: BaseException | None = None
        self._lock = threading.Lock()

    def open(self) -> None:
        """Begins at the first byte."""
        with self._lock:
            self._fields = self._source.fields()
            self._rest, self._failure = memoryview(b""), None

    def close(self) -> None:
        """Gives the memory back."""
        with self._lock:
            self._fields = iter(())
            self._rest = memoryview(b"")

    def size(self) -> int:
        """All bytes, read or not."""
        if self._size is None:
            self._size = self._source.size()
        return self._size

    def take(self, length: int | None) -> bytes:
        """The next bytes. All of the rest if ``length`` is None.

        There are fewer than ``length`` only at the end, and before a field that cannot be read: the next call raises its error,
        and the call behind that goes on with the field behind it.
        """
        with self._lock:
            return b"".join(self._pieces(length))

    def read(self, buffer: Any) -> int:
        """Fills a buffer, or as much of it as there are bytes, and returns their number."""
        target = memoryview(buffer).cast("B")
        at = 0
        with self._lock:
            for piece in self._pieces(len(target)):
                target[at : at + len(piece)] = piece
                at += len(piece)
        return at

    def _pieces(self, length: int | None) -> Iterator[memoryview]:
        """The parts of fields that make up the next bytes."""
        wanted = length
        while wanted is None or wanted > 0:
            if not self._rest and not self._advance(may_wait=wanted != length):
                return
            piece = self._rest if wanted is None else self._rest[:wanted]
            self._rest = self._rest[len(piece) :]
            wanted = None if wanted is None else wanted - len(piece)
            yield piece

    def _advance(self, *, may_wait: bool) -> bool:
        """Turns to the next field that has bytes. Its error may wait for the next call if there are bytes for this one."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        try:
            while not self._rest:
                self._rest = memoryview(next(self._fields))
        except StopIteration:
            return False
        except Exception as error:
            if not may_wait:
                raise
            self._failure = error
            return False
        return True

    def __repr__(self) -> str:
        """FDB's name for such a stream."""
        return self._source.name
