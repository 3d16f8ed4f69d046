"""GRIB messages as ecCodes reads and writes them. Nothing else here knows ecCodes.

Threads decode at the same time: ecCodes is called without the interpreter's lock. A build of ecCodes that is not safe for
threads is called by one of them at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from isotach._exceptions import MessageError
from isotach._extras import extra

with extra("xarray"):
    import eccodes  # type: ignore[import-untyped]

MISSING = 1e300
"""What ecCodes returns where a bitmap leaves a point out: no value of a field."""

Number = np.float32 | np.float64
Values = np.ndarray[Any, np.dtype[Any]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]


def _lock() -> AbstractContextManager[object]:
    is_safe = "THREADS" in eccodes.codes_get_features(eccodes.CODES_FEATURES_ENABLED)
    return nullcontext() if is_safe else threading.RLock()


_LOCK = _lock()


class Message:
    """A GRIB message in memory. Its methods raise :class:`MessageError`."""

    __slots__ = ("_handle",)

    def __init__(self, handle: int) -> None:
        """Called by :func:`opened`."""
        self._handle = handle

    def get(self, key: str) -> Any:
        """The value of a key. None if the message has no such key, or an array under it."""
        try:
            if eccodes.codes_is_missing(self._handle, key):
                return None
            return eccodes.codes_get(self._handle, key)
        except eccodes.CodesInternalError:
            return None

    def text(self, key: str) -> str | None:
        """The value of a key as text. None where ecCodes does not know it."""
        try:
            text = str(eccodes.codes_get_string(self._handle, key))
        except eccodes.CodesInternalError:
            return None
        return None if text in ("", "unknown", "~", "not_found") else text

    def array(self, key: str) -> Doubles:
        """The numbers under a key."""
        with _translated():
            return np.asarray(eccodes.codes_get_double_array(self._handle, key))

    def size(self) -> int:
        """The number of values."""
        with _translated():
            return int(eccodes.codes_get_size(self._handle, "values"))

    def names(self, namespace: str) -> list[str]:
        """The keys of a namespace."""
        with _translated():
            keys = eccodes.codes_keys_iterator_new(self._handle, namespace)
        try:
            names = []
            while eccodes.codes_keys_iterator_next(keys):
                names.append(str(eccodes.codes_keys_iterator_get_name(keys)))
            return names
        finally:
            eccodes.codes_keys_iterator_delete(keys)

    def values(self) -> Doubles:
        """The values in the order of the message. Points that the bitmap leaves out are NaN."""
        has_bitmap = bool(self.get("bitmapPresent"))
        with _translated():
            if has_bitmap:
                eccodes.codes_set(self._handle, "missingValue", MISSING)
            values: Doubles = eccodes.codes_get_double_array(self._handle, "values")
        if has_bitmap:
            values[values == MISSING] = np.nan
        return values

    def set(self, pairs: Iterable[tuple[str, Any]]) -> None:
        """Sets keys, in this order."""
        for key, value in pairs:
            with _translated(f"{key}={value}"):
                eccodes.codes_set(self._handle, key, value)

    def set_values(self, values: Values) -> None:
        """Packs values as the message packs its own. NaN is left out by a bitmap."""
        with _translated():
            absent = np.isnan(values)
            if absent.any():
                values = np.where(absent, MISSING, values)
                eccodes.codes_set(self._handle, "missingValue", MISSING)
                eccodes.codes_set(self._handle, "bitmapPresent", 1)
            eccodes.codes_set_values(self._handle, np.ascontiguousarray(values, dtype="float64"))

    def bytes(self) -> bytes:
        """The whole message."""
        with _translated():
            return bytes(eccodes.codes_get_message(self._handle))


@contextmanager
def opened(data: Any) -> Iterator[Message]:
    """The message in a buffer."""
    view = memoryview(data)
    if bytes(view[:4]) != b"GRIB":
        raise MessageError(f"no GRIB message: {len(view)} bytes that begin with {bytes(view[:4])!r}")
    with _LOCK:
        with _translated():
            handle = eccodes.codes_new_from_message(view)
        try:
            yield Message(handle)
        finally:
            eccodes.codes_release(handle)


@contextmanager
def _translated(what: str = "") -> Iterator[None]:
    try:
        yield
    except (eccodes.CodesInternalError, TypeError) as error:
        raise MessageError(f"ecCodes: {what}{': ' if what else ''}{error}") from error
