"""Handles that the objects of a process share: lazy arrays, fields of earthkit-data, files of fsspec.

What must stay true: such an object is pickled by what opens its store. Where many of them are unpickled, the store is opened once.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Any, Self

from isotach._exceptions import MissingFieldsError
from isotach._isotach import Field
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
    """A store that objects read from. Where it is unpickled, all objects of the process share one handle.

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
            It was removed since it was found.
        """
        field = self.store.retrieve_one(key)
        if field is None:
            text = ",".join(f"{name}={value}" for name, value in key.items())
            error = MissingFieldsError(f"the field {text} was removed since it was found")
            error.missing = Missing(1, [key], str(error))
            raise error
        return field

    def __reduce__(self) -> tuple[Any, ...]:
        """By what opens the store."""
        return _restored, (type(self), *_arguments(self.store))

    @classmethod
    def _of(cls, *arguments: Any) -> Self:
        """With the handle of this process for what the arguments open."""
        with _lock:
            store = _handles.get(arguments)
            if store is None or store.is_closed:
                store = _reopened(*arguments)
            return cls(_kept(arguments, store))


def shared(store: Store) -> Store:
    """The handle of this process for what a store shows: another one, or from now on this one."""
    arguments = _arguments(store)
    with _lock:
        kept = _handles.get(arguments)
        return _kept(arguments, store if kept is None or kept.is_closed else kept)


def _arguments(store: Store) -> tuple[Any, ...]:
    """What opens a store, in any process."""
    return tuple(store.__reduce__()[1])


def _kept(arguments: tuple[Any, ...], store: Store) -> Store:
    """The store, as the one that was used last. The lock is held."""
    _handles[arguments] = store
    _handles.move_to_end(arguments)
    while len(_handles) > _HANDLES_MAX:
        _handles.popitem(last=False)
    return store


def _restored(kind: type[Source], *arguments: Any) -> Source:
    return kind._of(*arguments)
