"""From the arguments of ``open_dataset`` to a store and a request."""

from __future__ import annotations

import os
from typing import Any

from isotach import _open
from isotach._arguments import RequestLike
from isotach._exceptions import InvalidInputError
from isotach._handles import Source
from isotach._isotach import Request
from isotach._store import Store


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
