"""Selections, identifiers, the data handle, URIs, and what can be locked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import IntEnum, IntFlag
from types import TracebackType
from typing import Any, Self

from isotach.pyfdb._internal import _URI, _ControlAction, _ControlIdentifier, _DataHandle
from isotach.pyfdb._internal._eccodes import is_stream_reader
from isotach.pyfdb._internal.pyfdb_internal import InternalMarsIdentifier, InternalMarsSelection

URI = _URI

MarsSelection = Mapping[str, str | int | float | Collection[str | int | float]]
"""Keys with one or several values. Text with slashes is a list or a range, as in ``"0/to/24/by/6"``."""

MarsIdentifier = list[tuple[str, str]] | dict[str, str]
"""The key of a field: one value for each name."""


class UserInputMapper:
    """Selections and identifiers in the form that the operations take."""

    @classmethod
    def map_selection_to_internal(cls, selection: MarsSelection) -> InternalMarsSelection:
        """Each value as a list of text. Text with slashes is split, but not text within a list.

        Raises
        ------
        ValueError
            A value is neither text, nor a number, nor a collection of them.
        """
        return {name: _texts(name, value) for name, value in selection.items()}

    @classmethod
    def map_selection_to_external(cls, selection: Mapping[str, Any]) -> MarsSelection:
        """Each list as a list of text, and each single value as text."""
        found: dict[str, str | list[str]] = {}
        for name, value in selection.items():
            is_single = isinstance(value, (str, int, float))
            found[name] = str(value) if is_single else _texts(name, value)
        return found

    @classmethod
    def map_identifier_to_internal(cls, identifier: MarsIdentifier) -> InternalMarsIdentifier:
        """The pairs of an identifier.

        Raises
        ------
        KeyError
            A name is there twice.
        ValueError
            A name has several values, or the identifier is neither a list nor a dictionary.
        """
        if not isinstance(identifier, (list, dict)):
            raise ValueError(
                f"Identifier: Unknown type {type(identifier).__name__}: expected a list of pairs, or a dictionary"
            )
        found: dict[str, str] = {}
        for name, value in identifier.items() if isinstance(identifier, dict) else identifier:
            if name in found:
                raise KeyError(f"Identifier: Key {name} already exists in Identifier: {found}")
            text = str(value) if isinstance(value, (int, float)) else value
            if not isinstance(text, str) or "/" in text:
                raise ValueError(
                    f"Identifier: {name}={value!r}: No list of values allowed, expected one value"
                )
            found[name] = text
        return list(found.items())


def _texts(name: str, value: Any) -> list[str]:
    if isinstance(value, str):
        return value.split("/")
    if isinstance(value, (int, float)):
        return [str(value)]
    if isinstance(value, Collection) and not isinstance(value, Mapping):
        return [one if isinstance(one, str) else str(one) for one in value]
    raise ValueError(
        f"MarsSelectionMapper: The given value for key '{name}' is not valid: {value!r}. "
        "Expected text, a number, or a collection of them"
    )


class DataHandle:
    """The bytes of a field or of many, one after the other.

    It is returned by ``FDB.retrieve`` and ``ListElement.data_handle``, and read with ``with``, or between ``open`` and
    ``close``. Threads may share it.
    """

    def __init__(self, dataHandle: _DataHandle, *, _internal: bool = False) -> None:
        """Called by the package."""
        if not _internal:
            raise TypeError("Creating a DataHandle from user code is not supported.")
        self.dataHandle = dataHandle
        self.opened = False

    def __enter__(self) -> Self:
        """Opens it."""
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        self.close()

    def open(self) -> None:
        """Begins at the first byte. Does nothing if it is open."""
        if not self.opened:
            self.dataHandle.open()
            self.opened = True

    def close(self) -> None:
        """Ends reading. Does nothing if it is closed."""
        if self.opened:
            self.opened = False
            self.dataHandle.close()

    def size(self) -> int:
        """The number of bytes in all, whether it is open or not."""
        return self.dataHandle.size()

    def read(self, len: int | None = -1) -> bytes:  # noqa: A002
        """The next bytes: fewer than ``len`` at the end, and none behind it. All of the rest if ``len`` is -1.

        Raises
        ------
        RuntimeError
            The handle is not open.
        CorruptError
            A field is damaged. Reading on begins with the field behind it.
        """
        if not self.opened and is_stream_reader():
            self.open()
        self._check_opened()
        if len is None or len == -1:
            return self.dataHandle.take(None)
        if len < 0:
            raise ValueError("negative count")
        return self.dataHandle.take(len)

    def readinto(self, buffer: Any) -> int:
        """Fills a writable buffer, and returns the number of bytes: fewer than it holds at the end, and 0 behind it.

        Raises
        ------
        RuntimeError
            The handle is not open.
        """
        self._check_opened()
        return self.dataHandle.read(buffer)

    def readall(self, buffer_size: int = 1024) -> bytes:
        """All bytes, or those that are left if the handle is open. It is opened if need be, and closed.

        Parameters
        ----------
        buffer_size
            Without effect.
        """
        self.open()
        try:
            return self.dataHandle.take(None)
        finally:
            self.close()

    def _check_opened(self) -> None:
        if not self.opened:
            raise RuntimeError("DataHandle: Read occured before the handle was opened. Must be opened first.")

    def __repr__(self) -> str:
        """The state and the kind."""
        return f"[{'Opened' if self.opened else 'Closed'}] Datahandle: {self.dataHandle}"


class ControlIdentifier(IntFlag):
    """An action that can be locked."""

    NONE = 0
    LIST = 1
    RETRIEVE = 2
    ARCHIVE = 4
    WIPE = 8
    UNIQUEROOT = 16

    @classmethod
    def _from_raw(cls, raw: _ControlIdentifier) -> ControlIdentifier:
        return cls[raw.name]

    def _to_raw(self) -> _ControlIdentifier:
        return _ControlIdentifier[self.name or "NONE"]

    def __repr__(self) -> str:
        """The names, with bars between them."""
        return "|".join(one.name or "" for one in ControlIdentifier if one & self) or "NONE"

    __str__ = __repr__


class ControlAction(IntEnum):
    """Whether to lock (``DISABLE``) or to unlock (``ENABLE``)."""

    NONE = 0
    DISABLE = 1
    ENABLE = 2

    @classmethod
    def _from_raw(cls, raw: _ControlAction) -> ControlAction:
        return cls[raw.name]

    def _to_raw(self) -> _ControlAction:
        return _ControlAction[self.name]

    def __repr__(self) -> str:
        """The name."""
        return self.name

    __str__ = __repr__
