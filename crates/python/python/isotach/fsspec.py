"""fsspec: the fields of a store as files that are read.

fsspec finds the file system by its entry point::

    import fsspec

    path = "isotach:///data/fields/class=od,expver=0001,stream=oper,date=20240101,time=0000,domain=g/type=fc,levtype=sfc/step=6,param=167"
    with fsspec.open(path) as file:
        message = file.read()

It needs the extra ``isotach[fsspec]``. The guide is ``docs/fsspec.md``.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NoReturn

from isotach import _open
from isotach._exceptions import InvalidInputError, NotFoundError
from isotach._extras import extra
from isotach._fsspec import ranges
from isotach._fsspec.paths import Place, level_of, path_of, place_of
from isotach._handles import shared
from isotach._isotach import Location
from isotach._store import Store

with extra("fsspec"):
    from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

__all__ = ["IsotachFileSystem", "url_of"]

Info = dict[str, Any]


def url_of(location: Location) -> str:
    """The URL of the bytes at a location, which never change: ``isotach://`` and the location.

    Raises
    ------
    InvalidInputError
        The location is that of a field which an overlay shows under another key.
    """
    return f"isotach://{path_of(location)}"


class IsotachFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """Fields as files: a store has a directory for each dataset, a dataset one for each collocation, and that a file for each field.

    A path is the store, as :func:`isotach.open` takes it, and the levels of a key. It may also be a location: see :func:`url_of`.
    Files cannot be written; :meth:`isotach.Store.archive` writes fields.

    Listings are not cached, since writers go on, unless ``use_listings_cache=True`` is given.
    """

    protocol = "isotach"
    cachable = False
    """fsspec would know an open store by its text alone. Those of a process share the handles of stores."""
    root_marker = ""

    def __init__(self, store: Any = None, at: str | None = None, **options: Any) -> None:
        """Opens nothing yet.

        Parameters
        ----------
        store
            The store of paths that do not name one: as for :func:`isotach.open`, or an open :class:`isotach.Store`. Locations are
            read through it, too. Without it they are read through the store in their pool.
        at
            The name of a snapshot of the stores.
        options
            Those of every file system of fsspec.
        """
        super().__init__(**{"use_listings_cache": False, **options})
        self._given = store
        self._at = at
        self._stores: dict[str, Store] = {}

    # Looking

    def info(self, path: str, **kwargs: Any) -> Info:
        """The name, the type and the size of a directory or a field. That of a field also has its ``location``.

        Raises
        ------
        FileNotFoundError
            There is no such store, dataset, collocation or field.
        """
        path = self._strip_protocol(path)
        place = self._place(path)
        store = self._store(place)
        why: InvalidInputError | None = None
        try:
            location = place.location or (store.locate(place.key()) if place.levels else None)
            if location is not None:
                return _file(path, location)
        except InvalidInputError as error:
            # The levels lack keys, as those of a directory do, or have one that the schema does not know.
            why = error
        if not place.levels or next(self._children(place), None) is not None:
            return _directory(path)
        raise _absent(path, why) from why

    def ls(self, path: str, detail: bool = True, refresh: bool = False, **kwargs: Any) -> list[Any]:
        """The entries of a directory.

        Parameters
        ----------
        detail
            Whether to return what :meth:`info` returns; otherwise names.
        refresh
            Whether to look again if listings are cached.

        Raises
        ------
        FileNotFoundError
            There is no such directory.
        """
        path = self._strip_protocol(path)
        entries = None if refresh else self._ls_from_cache(path)
        if entries is None:
            entries = self.dircache[path] = self._listed(path)
        return entries if detail else [entry["name"] for entry in entries]

    def created(self, path: str) -> datetime | None:
        """When a field was archived. None if that is unknown."""
        return self._location(path).archived

    modified = created

    def ukey(self, path: str) -> str:
        """What changes when a field is replaced: its location."""
        return path_of(self._location(path))

    def checksum(self, path: str) -> int:
        """CRC32C of a field."""
        return self._location(path).checksum

    # Reading

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        """The bytes of a field from ``start`` to ``end``, which count as in a slice."""
        return ranges.read(self._store(self._place(path)), self._location(path), start, end)

    def cat_ranges(
        self,
        paths: list[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        on_error: str = "return",
        **kwargs: Any,
    ) -> list[Any]:
        """The parts of fields, read by several threads. Each path is looked up once.

        Parameters
        ----------
        paths, starts, ends
            A path, the first byte and the end of each part. One number, or None, may stand for all.
        max_gap
            Without effect.
        on_error
            ``"return"`` an exception in the place of a part that cannot be read, or ``"raise"`` the first one.
        """
        begins, stops = (
            [one] * len(paths) if one is None or isinstance(one, int) else [*one] for one in (starts, ends)
        )
        names = list(dict.fromkeys(paths))
        found = dict(zip(names, ranges.each(self._location, names), strict=True))

        def part(number: int) -> bytes:
            path = paths[number]
            location = found[path]
            if isinstance(location, Exception):
                raise location
            return ranges.read(self._store(self._place(path)), location, begins[number], stops[number])

        if not len(paths) == len(begins) == len(stops):
            raise ValueError(
                f"{len(paths)} paths, {len(begins)} starts and {len(stops)} ends: expected as many"
            )
        parts = ranges.each(part, range(len(paths)))
        if on_error == "raise":
            for one in parts:
                if isinstance(one, Exception):
                    raise one
        return parts

    def _open(self, path: str, mode: str = "rb", **options: Any) -> IsotachFile:
        if mode != "rb":
            self._refuse(path)
        return IsotachFile(self, path, mode, **options)

    # Writing

    def _refuse(self, path: Any, *arguments: Any, **options: Any) -> NoReturn:
        """Refuses to write.

        Raises
        ------
        OSError
            Always.
        """
        text = f"{os.strerror(errno.EROFS)}: isotach.Store.archive writes fields"
        raise OSError(errno.EROFS, text, str(path))

    mkdir = makedirs = rmdir = rm = rm_file = _rm = cp_file = mv = pipe_file = put_file = touch = _refuse

    # Paths

    def _place(self, path: str) -> Place:
        path = self._strip_protocol(path)
        try:
            return place_of(path)
        except InvalidInputError as error:
            raise _absent(path, error) from error

    def _store(self, place: Place) -> Store:
        """The handle of this process for the store of a path."""
        name = "" if place.location is not None and self._given is not None else place.store
        store = self._stores.get(name)
        if store is None or store.is_closed:
            store = self._stores[name] = self._opened(name)
        return store

    def _opened(self, name: str) -> Store:
        given = name or self._given
        if isinstance(given, Store):
            return given if self._at is None else given.snapshot(self._at)
        try:
            return shared(_open.open(given, at=self._at))
        except (NotFoundError, InvalidInputError) as error:
            if isinstance(error, InvalidInputError) and not name:
                raise
            raise FileNotFoundError(errno.ENOENT, str(error), name) from error

    def _location(self, path: str) -> Location:
        info = self.info(path)
        if info["type"] != "file":
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        location: Location = info["location"]
        return location

    def _listed(self, path: str) -> list[Info]:
        inside = f"{path}/" if path else ""
        entries: dict[str, Info] = {}
        for level, location in self._children(self._place(path)):
            name = inside + level
            entries[name] = _directory(name) if location is None else _file(name, location)
        if entries:
            return [*entries.values()]
        info = self.info(path)
        return [info] if info["type"] == "file" else []

    def _children(self, place: Place) -> Iterator[tuple[str, Location | None]]:
        """The next level of everything that is below a path, with the location if it is a field."""
        store, depth = self._store(place), len(place.levels)
        if depth == 0:
            for status in store.status():
                if "list" not in (*status.locks, *status.forbidden):
                    yield level_of(status.key), None
            return
        try:
            listing = store.list({name: [value] for name, value in place.key().items()})
        except InvalidInputError:
            return
        for listed in listing:
            levels = [level_of(key) for key in listed.keys]
            if tuple(levels[:depth]) == place.levels and depth < len(levels):
                yield levels[depth], listed.location if depth == len(levels) - 1 else None


class IsotachFile(AbstractBufferedFile):  # type: ignore[misc]
    """A field that is read. It stays the one that was opened if it is replaced."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        place = self.fs._place(self.path)
        return ranges.read(self.fs._store(place), self.details["location"], start, end)


def _file(name: str, location: Location) -> Info:
    facts = {"location": location, "created": location.archived}
    return {"name": name, "size": location.length, "type": "file", **facts}


def _directory(name: str) -> Info:
    return {"name": name, "size": 0, "type": "directory"}


def _absent(path: str, why: Exception | None = None) -> FileNotFoundError:
    text = os.strerror(errno.ENOENT)
    return FileNotFoundError(errno.ENOENT, text if why is None else f"{text}: {why}", path)
