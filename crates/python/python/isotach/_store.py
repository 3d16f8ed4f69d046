"""The store."""

from __future__ import annotations

import asyncio
import builtins
import os
import warnings
from collections.abc import AsyncIterator, Callable, Iterable
from types import TracebackType
from typing import Any, BinaryIO, overload

from isotach import _html, _isotach
from isotach._arguments import KeyLike, RequestLike, key_of, request_of
from isotach._exceptions import LostFieldsWarning
from isotach._files import existing, written_whole
from isotach._isotach import Field, Inspection, Listing, Location
from isotach._points import PointReader
from isotach._progress import Progress
from isotach._reports import (
    DatasetStats,
    DatasetStatus,
    DeleteReport,
    Key,
    PurgedDataset,
    Snapshot,
    VerifyReport,
    WipeReport,
)
from isotach._retrieval import Retrieval, WhenMissing, checked
from isotach._transaction import Transaction, archive_into, checked_keys


class Store(PointReader):
    """A handle on a field store; see :func:`isotach.open`.

    Threads may share a handle: calls that wait let other threads run. A forked child opens its own handle when it first uses
    this one, and so does a process that receives it by pickle. Fields that are not flushed stay with the process that archived
    them.

    Used with ``with``, the handle flushes and closes on success. After an exception it closes, and what was not flushed is lost.

    Requests are MARS text (``"class=od,step=0/to/24/by/6"``), mappings from names to one or several values, a
    :class:`Request`, or keywords (``class_="od", step=[0, 6]``). Values may be text, numbers, dates, times, sequences and ranges.
    """

    __slots__ = ("__weakref__", "_native")

    def __init__(self, native: _isotach.Handle) -> None:
        """Called by :func:`isotach.open` and :func:`isotach.create`."""
        self._native = native

    # Archiving

    @overload
    def archive(self, data: Any, key: KeyLike) -> None: ...
    @overload
    def archive(self, data: Any, key: None = None) -> builtins.list[Key]: ...
    def archive(self, data: Any, key: KeyLike | None = None) -> builtins.list[Key] | None:
        """Archives a field under a key, or GRIB messages under the keys that they carry.

        The data is copied before the call returns. Readers see it after :meth:`flush`; until then they see the field that it
        replaces, if any.

        Parameters
        ----------
        data
            ``bytes``, a ``memoryview``, a numpy array or another contiguous buffer, which must not change during the call; an
            open binary file, read to its end; or a path. A buffer of any item type is archived as the bytes in memory.
        key
            The key of the one field that the data is. Without it the data is a sequence of GRIB messages, whose keys ecCodes reads.
            Messages with the same key replace each other, with a :class:`RepeatedKeyWarning`.

        Returns
        -------
        The keys of the messages. None if ``key`` was given.

        Raises
        ------
        InvalidInputError
            The key does not fit the schema; as :class:`MessageError`, a message is broken. The messages before it are archived.
        LockedError, ForbiddenError
            Archiving is not allowed.
        """
        if key is not None and isinstance(data, (bytes, bytearray)):
            # The general way costs a fraction of a microsecond.
            self._native.archive(data, key)
            return None
        return archive_into(self._native, data, key)

    def flush(self) -> None:
        """Makes all fields that were archived through this handle durable, and visible to every reader.

        Raises
        ------
        LostError
            Fields that were archived since the last flush must be archived again. After any other error they are kept, and
            the next flush tries again.
        """
        self._native.flush()

    @property
    def is_dirty(self) -> bool:
        """Whether this process has archived fields that are not flushed."""
        return self._native.is_dirty

    def transaction(self) -> Transaction:
        """Begins a transaction: its fields, all of one dataset, become visible together. :meth:`flush` does not affect it."""
        return Transaction(self._native.transaction())

    def adopt(
        self,
        path: str | os.PathLike[str],
        key: KeyLike | None = None,
        *,
        offset: int = 0,
        length: int | None = None,
    ) -> builtins.list[Key]:
        """Indexes fields in an existing file, without a copy. Readers see them after :meth:`flush`.

        The file must not move or change: each read checks the bytes.

        Parameters
        ----------
        path
            A regular file.
        key
            The key of the one field at ``offset``. Without it each GRIB message of the file is adopted under the key that it
            carries.
        offset, length
            The part of the file in bytes; to the end of the file if ``length`` is not given. Only with ``key``.

        Returns
        -------
        The keys of the fields.
        """
        if key is None and (offset or length is not None):
            raise ValueError("offset or length without a key: expected a key for the part of the file")
        _refuse_negative(offset, length)
        keys = _isotach.adopt(self._native, existing(path), key, offset, length)
        return checked_keys(keys, stacklevel=3)

    # Reading

    def retrieve(
        self, request: RequestLike = None, /, *, missing: WhenMissing = "raise", **keywords: Any
    ) -> Retrieval:
        """The fields that a request names, in the request's order, read as they are iterated.

        The keys nest as in the schema, the last one changing fastest, each in the order of the request's values.

        Parameters
        ----------
        missing
            What happens at the end if fields of the request do not exist: ``"raise"`` an exception, ``"skip"`` them, or
            ``"report"`` them by a warning.

        Raises
        ------
        InvalidInputError
            The request cannot be understood, or lacks a key that the schema asks for.
        MissingFieldsError
            By the iterator, after the last field.
        CorruptError
            By the iterator, in place of a damaged field. Iterating may go on.
        """
        how = checked(missing)
        return Retrieval(self._native.retrieve(request_of(request, keywords)), how, self._native.explain)

    async def aretrieve(
        self, request: RequestLike = None, /, *, missing: WhenMissing = "raise", **keywords: Any
    ) -> AsyncIterator[Field]:
        """As :meth:`retrieve`, as an asynchronous iterator. Fields are read on the default executor of the event loop."""
        loop = asyncio.get_running_loop()
        retrieval = await loop.run_in_executor(
            None, lambda: self.retrieve(request, missing=missing, **keywords)
        )
        while fields := await loop.run_in_executor(None, retrieval.next_batch):
            for field in fields:
                yield field

    def retrieve_one(self, key: KeyLike | None = None, /, **keywords: Any) -> Field | None:
        """One field, or None if it does not exist."""
        return self._native.retrieve_one(key_of(key, keywords))

    def retrieve_into(self, key: KeyLike, buffer: Any) -> int | None:
        """Reads one field into the front of a writable contiguous buffer.

        Returns
        -------
        The field's length in bytes, or None if it does not exist.

        Raises
        ------
        InvalidInputError
            The buffer is too small.
        """
        return self._native.retrieve_into(key, buffer)

    def retrieve_to(
        self,
        request: RequestLike,
        target: str | os.PathLike[str] | BinaryIO,
        *,
        missing: WhenMissing = "raise",
        **keywords: Any,
    ) -> int:
        """Writes the fields of a request to a file, one after the other.

        Parameters
        ----------
        target
            An open binary file, or a path. The file at the path appears, or is replaced, when it is complete.

        Returns
        -------
        The number of fields.
        """
        if not isinstance(target, (str, os.PathLike)) and not hasattr(target, "write"):
            raise TypeError(
                f"a target of type {type(target).__name__}: expected a path or an open binary file"
            )
        retrieval = self.retrieve(request, missing=missing, **keywords)
        if isinstance(target, (str, os.PathLike)):
            with written_whole(target) as file:
                return _write(retrieval, file)
        return _write(retrieval, target)

    def share(self, key: KeyLike | None = None, /, **keywords: Any) -> memoryview | None:
        """The bytes of one field without a copy, where the engine can lend them; else a copy. None if it does not exist."""
        return self._native.share(key_of(key, keywords))

    def locate(self, key: KeyLike | None = None, /, **keywords: Any) -> Location | None:
        """The location of one field, or None if it does not exist."""
        return self._native.locate(key_of(key, keywords))

    def read(self, location: Location, *, offset: int = 0, length: int | None = None) -> Field:
        """The bytes at a location, or a part of them, as a field without a key.

        Parameters
        ----------
        offset, length
            The part in bytes, counted from the first byte of the field; to its end if ``length`` is not given. Only the part is read
            and verified, but for an adopted file. The location of the result is that of the whole field.

        Raises
        ------
        InvalidInputError
            The part does not lie within the field.
        CorruptError
            The bytes are damaged.
        """
        _refuse_negative(offset, length)
        return self._native.read(location, offset, length)

    def list(self, request: RequestLike = None, /, *, duplicates: bool = False, **keywords: Any) -> Listing:
        """The fields that match a request, without their bytes. A key left out matches every value.

        The order is not defined. Datasets that are locked for listing are left out.

        Parameters
        ----------
        duplicates
            Whether to include replaced fields.

        Raises
        ------
        NotFoundError, CorruptError
            By the iterator, at its end, for each dataset that is lost or damaged.
        """
        return self._native.list(request_of(request, keywords), duplicates)

    def inspect(self, request: RequestLike = None, /, **keywords: Any) -> Inspection:
        """The locations of the fields that a request names, in the order of :meth:`retrieve`."""
        return self._native.inspect(request_of(request, keywords))

    def axes(self, request: RequestLike = None, /, **keywords: Any) -> dict[str, builtins.list[str]]:
        """The values that the fields of a request have, for each key. Not every combination of them need exist."""
        return self._native.axes(request_of(request, keywords))

    def explain(self, request: RequestLike = None, /, **keywords: Any) -> str | None:
        """Why a request finds nothing: which of its keys rules everything out. None if that is unknown."""
        return self._native.explain(request_of(request, keywords))

    # Datasets

    def status(self, request: RequestLike = None, /, **keywords: Any) -> builtins.list[DatasetStatus]:
        """The datasets that a request names, with their places and locks. No dataset is opened."""
        return _isotach.status(self._native, request_of(request, keywords))

    def stats(self, request: RequestLike = None, /, **keywords: Any) -> builtins.list[DatasetStats]:
        """The counts of each dataset for a request.

        If some datasets are unusable, the exception for the first has the counts of all others as ``answer``.
        """
        return _isotach.stats(self._native, request_of(request, keywords))

    def wipe(self, request: RequestLike = None, /, *, doit: bool = False, **keywords: Any) -> WipeReport:
        """Removes the datasets, or the collocations of datasets, that a request names.

        :meth:`delete` removes single fields. Without ``doit`` nothing is removed, and the report says what would be.

        Raises
        ------
        InvalidInputError
            The request names no key, or keys that tell single fields apart.
        LockedError
            A dataset is locked for wiping. Nothing is removed then.
        """
        return _isotach.wipe(self._native, request_of(request, keywords), doit)

    def delete(self, request: RequestLike = None, /, *, doit: bool = False, **keywords: Any) -> DeleteReport:
        """Deletes the fields that a request names: those that :meth:`inspect` finds.

        Without ``doit`` nothing is deleted, and the report says how many fields would be. The fields are gone durably, and for
        every reader, when this returns; a snapshot still shows them. :meth:`purge` frees their space. Adopted files stay.

        Raises
        ------
        InvalidInputError
            The request names no key, or lacks one that the schema asks for.
        LockedError
            A dataset is locked for wiping. Nothing is deleted then.
        """
        return _isotach.delete(self._native, request_of(request, keywords), doit)

    def purge(
        self, request: RequestLike = None, /, *, doit: bool = False, **keywords: Any
    ) -> builtins.list[PurgedDataset]:
        """Frees the space of replaced and removed fields in the datasets that a request names.

        Without ``doit`` nothing is freed, and the report says how much would be.
        """
        return _isotach.purge(self._native, request_of(request, keywords), doit)

    def lock(
        self, request: RequestLike = None, /, *, actions: str | Iterable[str], **keywords: Any
    ) -> builtins.list[Key]:
        """Locks the datasets that a request names against actions: retrieve, list, archive, wipe.

        Returns
        -------
        The keys of the datasets.
        """
        return _isotach.control(self._native, request_of(request, keywords), True, _names(actions))

    def unlock(
        self, request: RequestLike = None, /, *, actions: str | Iterable[str], **keywords: Any
    ) -> builtins.list[Key]:
        """Unlocks the datasets that a request names; see :meth:`lock`."""
        return _isotach.control(self._native, request_of(request, keywords), False, _names(actions))

    def verify(
        self,
        request: RequestLike = None,
        /,
        *,
        data: bool = False,
        threads: int | None = None,
        progress: Callable[[int, int, int | None], object] | bool | None = None,
        **keywords: Any,
    ) -> VerifyReport:
        """Checks that every field that the catalogue names exists, and reports those that do not.

        Parameters
        ----------
        data
            Whether to verify the bytes of every field against its checksum.
        threads
            The number of threads that read. One for each processor if it is not given.
        progress
            A function of the fields and bytes that are done and the bytes in all (None if unknown); or whether to show a bar on
            standard error. Without it there is a bar if standard error is a terminal.
        """
        if threads is not None and threads < 1:
            raise ValueError(f"threads={threads}: expected at least 1")
        with Progress.of(progress, "verify") as report:
            return _isotach.verify(self._native, request_of(request, keywords), data, threads, report)

    # Snapshots

    def snapshots(self) -> builtins.list[Snapshot]:
        """All snapshots, oldest first."""
        return _isotach.snapshots(self._native)

    def snapshot(self, name: str) -> Store:
        """The store at a snapshot, as a handle of its own, which is read-only."""
        return Store(self._native.open_at(name))

    def create_snapshot(self, name: str, request: RequestLike = None, /, **keywords: Any) -> Snapshot:
        """Names the present state of the datasets that match a request. It stays existing whatever is archived or wiped later.

        Raises
        ------
        AlreadyExistsError
            The name is in use.
        """
        return _isotach.snapshot(self._native, request_of(request, keywords), name)

    def remove_snapshot(self, name: str) -> None:
        """Removes a snapshot."""
        _isotach.remove_snapshot(self._native, name)

    # The handle

    @property
    def name(self) -> str:
        """The URI of the store, or the path of its configuration."""
        return self._native.name

    @property
    def at(self) -> str | None:
        """The snapshot that this handle shows."""
        return self._native.at

    @property
    def schema(self) -> str:
        """The text of the schema."""
        return self._native.schema()

    @property
    def is_closed(self) -> bool:
        """Whether the handle is closed."""
        return self._native.is_closed

    def close(self, *, flush: bool = True) -> None:
        """Flushes, unless ``flush`` is false, and closes the handle. Closing it again does nothing.

        Calls of other threads that have begun end as usual. Iterators and transactions of the handle are closed with it. The
        handle is closed even if the flush fails; what was not flushed is lost then.
        """
        try:
            if flush and self._native.is_dirty:
                self._native.flush()
        finally:
            self._native.close()

    def __enter__(self) -> Store:
        """The store."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Flushes after success, and closes."""
        self.close(flush=kind is None)

    def __del__(self, _warn: Callable[..., None] = warnings.warn) -> None:
        """Warns of fields that are lost."""
        native = getattr(self, "_native", None)
        if native is not None and native.is_dirty:
            text = f"{self!r} is dropped with fields that are not flushed, which are lost: expected flush(), close() or a with block"
            _warn(text, LostFieldsWarning, stacklevel=2)

    def __reduce__(self) -> tuple[Callable[..., Store], tuple[Any, ...]]:
        """The store is opened again where it is unpickled."""
        return _reopened, self._native.arguments()

    def __repr__(self) -> str:
        """The name and the state."""
        at = f" at snapshot {self.at}" if self.at else ""
        return f"<{'closed ' if self.is_closed else ''}Store {self.name}{at}>"

    def _repr_html_(self) -> str:
        """A table of the datasets."""
        return _html.store(self)


def _reopened(*arguments: Any) -> Store:
    return Store(_isotach.Handle(*arguments))


def _refuse_negative(offset: int, length: int | None) -> None:
    if offset < 0 or (length is not None and length < 0):
        raise ValueError(f"offset={offset}, length={length}: expected no negative number")


def _names(actions: str | Iterable[str]) -> list[str]:
    names = [actions] if isinstance(actions, str) else [*actions]
    if not names:
        raise ValueError("no actions: expected some of retrieve, list, archive, wipe")
    return names


def _write(retrieval: Retrieval, file: BinaryIO) -> int:
    fields = 0
    for field in retrieval:
        _write_all(file, memoryview(field))
        fields += 1
    return fields


def _write_all(file: BinaryIO, data: memoryview) -> None:
    """Writes all bytes: an unbuffered file may take fewer."""
    while data:
        written = file.write(data)
        if written is None:
            raise BlockingIOError("a file that is not ready for more bytes: expected one whose write() waits")
        data = data[written:]
