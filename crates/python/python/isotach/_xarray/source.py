"""From the arguments of ``open_dataset`` to a store and a request, and handles that tasks of one process share."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Any

from isotach import _open
from isotach._arguments import RequestLike
from isotach._exceptions import InvalidInputError, MissingFieldsError
from isotach._isotach import Field, Request
from isotach._reports import Key, Missing
from isotach._store import Store, _reopened

_HANDLES_MAX = 8
_handles: OrderedDict[tuple[Any, ...], Store] = OrderedDict()
_lock = threading.Lock()


def _after_fork() -> None:
    """The lock of a child: another thread of the parent may have held the parent's."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


class Source:
    """A store that arrays read from. Where it is unpickled, all arrays of the process share one handle.

    So a task of dask does not open the store for each chunk.
    """

    __slots__ = ("store",)

    def __init__(self, store: Store) -> None:
        """Of an open store."""
        self.store = store

    def read(self, key: Key) -> Field:
        """The field of a key, as it is now.

        Raises
        ------
        MissingFieldsError
            It was removed since the dataset was opened.
        """
        field = self.store.retrieve_one(key)
        if field is None:
            text = ",".join(f"{name}={value}" for name, value in key.items())
            error = MissingFieldsError(f"the field {text} was removed since the dataset was opened")
            error.missing = Missing(1, [key], str(error))
            raise error
        return field

    def __reduce__(self) -> tuple[Any, ...]:
        """By what opens the store."""
        return _shared, tuple(self.store.__reduce__()[1])


def _shared(*arguments: Any) -> Source:
    """A handle of this process for the store."""
    with _lock:
        store = _handles.get(arguments)
        if store is None or store.is_closed:
            store = _handles[arguments] = _reopened(*arguments)
        _handles.move_to_end(arguments)
        while len(_handles) > _HANDLES_MAX:
            _handles.popitem(last=False)
    return Source(store)


def opened(obj: Any, store: Any, at: str | None) -> tuple[Source, Request]:
    """The store and the request that the arguments of ``open_dataset`` mean.

    With a store, the object is a request. Without one, it is a store if it is a handle, a path or a URI, and else a request to
    the store that the program ``isotach`` would use.
    """
    if store is None and _is_store(obj):
        store, obj = obj, None
    elif store is None and isinstance(obj, str) and obj.strip() and "=" not in obj:
        raise InvalidInputError(
            f"{obj} is neither a store nor a request: expected the path of a store, a URI such as posix:/data/fields, "
            "or a request such as class=od,param=t"
        )
    if isinstance(store, Store):
        if at is not None:
            store = store.snapshot(at)
    else:
        store = _open.open(store, at=at)
    return Source(store), _request(obj)


def _is_store(obj: Any) -> bool:
    if isinstance(obj, (Store, os.PathLike)):
        return True
    if not isinstance(obj, str):
        return False
    scheme, colon, _ = obj.partition(":")
    return os.path.exists(obj) or (bool(colon) and "=" not in scheme and scheme.isalnum())


def _request(obj: RequestLike) -> Request:
    try:
        return Request(obj)
    except TypeError as error:
        raise InvalidInputError(f"a request of type {type(obj).__name__}: {error}") from error
