"""Reading fields, and parts of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from isotach._isotach import Location
from isotach._store import Store

_T = TypeVar("_T")
_R = TypeVar("_R")
_THREADS_MAX = 8


def read(store: Store, location: Location, start: int | None = None, end: int | None = None) -> bytes:
    """The bytes at a location from ``start`` to ``end``, which count as in a slice.

    A part of an object is read alone: the engine has a checksum for each block. A part of an adopted file, and of a field that an
    overlay shows under another key, is cut out of the whole.
    """
    if location.is_adopted or location.relabel is not None:
        return bytes(memoryview(store.read(location))[start:end])
    first, last, _ = slice(start, end).indices(location.length)
    if last <= first:
        return b""
    part = Location(location.uri, location.offset + first, last - first, location.checksum)
    return bytes(store.read(part))


def each(act: Callable[[_T], _R], items: Sequence[_T]) -> list[_R | Exception]:
    """What a function returns or raises for each item, from several threads if there are several."""

    def tried(item: _T) -> _R | Exception:
        try:
            return act(item)
        except Exception as error:
            return error

    if len(items) <= 1:
        return [tried(item) for item in items]
    with ThreadPoolExecutor(min(len(items), _THREADS_MAX), "isotach-read") as pool:
        return list(pool.map(tried, items))
