"""Fields of earthkit-data whose messages are read from a store when something asks for them."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import eccodes  # type: ignore[import-untyped]
from earthkit.data import SimpleFieldList
from earthkit.data.core.config import CONFIG
from earthkit.data.field.grib.create import create_grib_field
from earthkit.data.readers.grib.handle import GribCodesHandle, GribHandle

from isotach._exceptions import CorruptError, MessageError
from isotach._handles import Source
from isotach._isotach import Field, Location
from isotach._reports import Key
from isotach._store import Store

Found = tuple[Key, Location]
"""A field that was found."""


class Messages(Source):
    """Reads messages. Each thread keeps its last one, since the metadata of a field is asked for in several steps.

    Threads do not share a message: earthkit-data sets keys in it while it decodes.
    """

    __slots__ = ("_last",)

    def __init__(self, store: Store) -> None:
        """Of an open store."""
        super().__init__(store)
        self._last = threading.local()

    def message(self, found: Found) -> Any:
        """The message of a field, as earthkit-data's handle of ecCodes.

        Raises
        ------
        CorruptError, MessageError
            The field is damaged, or is no GRIB message.
        """
        key, location = found
        if getattr(self._last, "location", None) != location:
            self._last.message = handle_of(self._read(key, location), key, location)
            self._last.location = location
        return self._last.message

    def _read(self, key: Key, location: Location) -> Field:
        try:
            return self.store.read(location)
        except CorruptError as error:
            error.field = error.field or name_of(key)
            error.add_note(f"field {name_of(key)}")
            raise


class StoredHandle(GribHandle):  # type: ignore[misc]
    """The message of a field. It is read for each thread that uses it."""

    def __init__(self, messages: Messages, found: Found) -> None:
        """Of a field that was found."""
        self._messages = messages
        self._found = found

    @property
    def key(self) -> Key:
        """The key of the field."""
        return self._found[0]

    @property
    def handle(self) -> Any:
        """The message."""
        return self._messages.message(self._found)

    def release(self) -> None:
        """Nothing: the next message takes its place."""

    def __reduce__(self) -> tuple[Any, ...]:
        """By the store and the location."""
        return StoredHandle, (self._messages, self._found)


def fields_of(store: Store, found: Iterable[Found]) -> Any:
    """A field list, of which nothing is read yet."""
    messages, cache = Messages(store), is_cached()
    return SimpleFieldList([create_grib_field(StoredHandle(messages, one), cache=cache) for one in found])


def is_cached() -> bool:
    """Whether earthkit-data's configuration wants a field to keep the metadata that it was asked for."""
    return bool(CONFIG.get("use-grib-metadata-cache"))


def handle_of(field: Field, key: Key, location: Location) -> Any:
    """The message that a field is, as earthkit-data's handle. Like one of a file, it cannot be changed.

    Raises
    ------
    MessageError
        It is no GRIB message.
    """
    view = memoryview(field)
    if bytes(view[:4]) != b"GRIB":
        begin = f"{len(view)} bytes that begin with {bytes(view[:4])!r}"
        raise MessageError(f"the field {name_of(key)} at {location} is no GRIB message: {begin}")
    try:
        handle = GribCodesHandle(eccodes.codes_new_from_message(view), location.uri, location.offset)
        length = handle.get_long("totalLength")
    except eccodes.CodesInternalError as error:
        raise MessageError(f"the field {name_of(key)} at {location} cannot be decoded: {error}") from error
    if length > len(view):
        raise MessageError(
            f"the field {name_of(key)} at {location} is a part of a message: {len(view)} of {length} bytes"
        )
    return handle


def name_of(key: Key) -> str:
    """The key as text."""
    return ",".join(f"{name}={value}" for name, value in key.items())
