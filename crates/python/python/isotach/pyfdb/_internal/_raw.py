"""The store below ``FDB``: opened when it is first used, created when something is first archived."""

from __future__ import annotations

import os
import threading
from typing import Any

from isotach._exceptions import InvalidInputError
from isotach._store import Store
from isotach.pyfdb._internal._configuration import Configuration
from isotach.pyfdb._internal._errors import in_words_of_fdb

_NOT_A_STORE = " is not an Isotach pool"


class RawFDB:
    """A store that is opened when it is needed, so that making an ``FDB`` touches no file. Threads may share it."""

    def __init__(self, configuration: Configuration) -> None:
        """The configuration is not read yet."""
        self.configuration = configuration
        self._store: Store | None = None
        self._lock = threading.Lock()

    def readable(self) -> Store | None:
        """The store. None if nothing was archived yet: its folder is there, and empty.

        Raises
        ------
        NotFoundError
            The folder does not exist.
        InvalidInputError
            The configuration is wrong, or the folder holds other files, such as those of FDB itself.
        """
        with self._lock:
            if self._store is None:
                try:
                    self._store = self.configuration.store(create=False)
                except InvalidInputError as error:
                    if _is_empty_folder(error):
                        return None
                    raise
            return self._store

    def writable(self) -> Store:
        """The store, which is created if it does not exist."""
        with self._lock:
            if self._store is None:
                self._store = self.configuration.store(create=True)
            return self._store

    def archive(self, data: Any, key: dict[str, str] | None) -> None:
        """Archives one field under a key, or GRIB messages under the keys that they carry."""
        bytes_like = data.encode() if isinstance(data, str) else data
        with in_words_of_fdb(archiving=True):
            self.writable().archive(bytes_like, key)

    def flush(self) -> None:
        """Makes what was archived durable and visible."""
        if self.dirty():
            self.writable().flush()

    def dirty(self) -> bool:
        """Whether something was archived that is not flushed."""
        store = self._store
        return store is not None and store.is_dirty

    def __repr__(self) -> str:
        """The name of the store."""
        name = self.configuration.value if self.configuration.kind in ("uri", "file") else ""
        return f"LocalFDB(isotach={name or self.configuration.kind})"


def _is_empty_folder(error: InvalidInputError) -> bool:
    """Whether a folder that is no store is empty, and so the place of a store to come."""
    folder, found, _ = str(error).partition(_NOT_A_STORE)
    return bool(found) and os.path.isdir(folder) and not os.listdir(folder)
