"""The fields of a request as a read-only Zarr store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Literal, Self

import numpy as np
from zarr.abc.store import ByteRequest, Store
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype

import isotach
from isotach._arguments import RequestLike
from isotach._exceptions import CorruptError
from isotach._isotach import Request
from isotach.zarr._decode import values_of
from isotach.zarr._ranges import part_of
from isotach.zarr._view import Chunk, View, view_of

_READ_ONLY = "store was opened in read-only mode and does not support writing"


class FieldsStore(Store):
    """The fields of a request as a read-only Zarr v3 group, with an array for each parameter.

    The dimensions of an array are the keys with several values, in the order of the request, then those of the grid:
    ``latitude`` and ``longitude``, or ``values``. A chunk is a field, decoded when it is read. Fields that do not exist are NaN; a
    damaged one is an error.

    ::

        store = FieldsStore("posix:/data/fields", date=20240101, step=[0, 6, 12], param=["2t", "tp"], levtype="sfc")
        zarr.open(store)["2t"][1]
        xarray.open_zarr(store)

    Opening lists the fields and reads one of each parameter. The view stays as it is when fields are archived later.

    Parameters
    ----------
    store
        An open :class:`isotach.Store`, or what :func:`isotach.open` takes.
    request
        As for :meth:`isotach.Store.list`: a key left out matches every value.
    dtype
        ``"float64"``, in which ecCodes decodes, or ``"float32"``, in half the memory.

    Raises
    ------
    MissingFieldsError
        No field matches the request.
    InvalidInputError
        The fields are on several grids, or those of a parameter have different keys.
    MessageError
        A field is no GRIB message.
    """

    supports_writes: bool = False
    supports_deletes: bool = False
    supports_listing: bool = True

    def __init__(
        self,
        store: isotach.Store | str | os.PathLike[str] | Mapping[str, Any] | None = None,
        request: RequestLike = None,
        *,
        dtype: Literal["float64", "float32"] = "float64",
        read_only: bool = True,
        **keywords: Any,
    ) -> None:
        """Lists the fields, and reads one of each parameter."""
        if not read_only:
            raise ValueError("read_only=False: expected True, because the fields of a request are a view")
        if dtype not in ("float64", "float32"):
            raise ValueError(f"dtype={dtype!r}: expected 'float64' or 'float32'")
        super().__init__(read_only=True)
        self._store = store if isinstance(store, isotach.Store) else isotach.open(store)
        self._request = Request(request, **keywords)
        self._view: View = view_of(self._store, self._request, np.dtype(dtype).newbyteorder("<"))

    @property
    def request(self) -> Request:
        """The request."""
        return self._request

    @property
    def dtype(self) -> str:
        """The type of the values."""
        return self._view.dtype.name

    def with_read_only(self, read_only: bool = False) -> Self:
        """The store itself in a new object, which is read-only as well."""
        if not read_only:
            raise ValueError(_READ_ONLY)
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__, _is_open=False)
        return other

    # Reading

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """A document, or the decoded values of a field. None if there is no such key or field."""
        self._is_open = True
        start, end, last = part_of(byte_range)
        data = self._data(key)
        if data is None:
            return None
        if last is not None:
            start = max(0, len(data) - last)
        return (prototype or default_buffer_prototype()).buffer.from_bytes(data[start:end])

    def _data(self, key: str) -> memoryview | None:
        document = self._view.documents.get(key)
        if document is not None:
            return memoryview(document)
        chunk = self._view.chunks.get(key)
        return None if chunk is None else self._decoded(chunk)

    def _decoded(self, chunk: Chunk) -> memoryview:
        try:
            message = self._store.read(chunk.location)
            values = values_of(message, self._view.grid, self._view.dtype)
        except isotach.IsotachError as error:
            name = ",".join(f"{name}={value}" for name, value in chunk.key.items())
            if isinstance(error, CorruptError):
                error.field = error.field or name
            error.add_note(f"field {name}")
            raise
        return np.ascontiguousarray(values, self._view.dtype).view("u1").data

    async def get(
        self,
        key: str,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """A document, or the decoded values of a field. None if there is no such key or field."""
        if key not in self._view.chunks:
            return self.get_sync(key, prototype=prototype, byte_range=byte_range)
        return await asyncio.to_thread(self.get_sync, key, prototype=prototype, byte_range=byte_range)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Parts of several values, in the order in which they are asked for."""
        return await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges))

    def _size(self, key: str) -> int | None:
        document = self._view.documents.get(key)
        if document is not None:
            return len(document)
        return self._view.chunk_size if key in self._view.chunks else None

    async def exists(self, key: str) -> bool:
        """Whether there is such a document or field."""
        return self._size(key) is not None

    async def getsize(self, key: str) -> int:
        """The length of a value in bytes, for which no field is read."""
        size = self._size(key)
        if size is None:
            raise FileNotFoundError(key)
        return size

    # Listing

    def _keys(self) -> Iterable[str]:
        yield from self._view.documents
        yield from self._view.chunks

    async def list(self) -> AsyncIterator[str]:
        """All keys."""
        for key in self._keys():
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """The keys that begin with a prefix."""
        for key in self._keys():
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """The names of keys and prefixes directly below a prefix."""
        directory = prefix.rstrip("/")
        start = f"{directory}/" if directory else ""
        below = (key[len(start) :].split("/", 1)[0] for key in self._keys() if key.startswith(start))
        for name in dict.fromkeys(below):
            yield name

    # Writing is refused

    def set_sync(self, key: str, value: Buffer) -> None:
        """Refuses: the store is read-only."""
        raise ValueError(_READ_ONLY)

    def delete_sync(self, key: str) -> None:
        """Refuses: the store is read-only."""
        raise ValueError(_READ_ONLY)

    async def set(self, key: str, value: Buffer) -> None:
        """Refuses: the store is read-only."""
        raise ValueError(_READ_ONLY)

    async def delete(self, key: str) -> None:
        """Refuses: the store is read-only."""
        raise ValueError(_READ_ONLY)

    # The handle

    def __eq__(self, other: object) -> bool:
        """Whether both show the same request of the same store."""
        return isinstance(other, type(self)) and self._identity() == other._identity()

    def __hash__(self) -> int:
        """Of the request."""
        return hash(self._identity())

    def _identity(self) -> tuple[str, str | None, Request, str]:
        return self._store.name, self._store.at, self._request, self.dtype

    def __str__(self) -> str:
        """The store and the request."""
        return f"{self._store.name}?{self._request}"

    def __repr__(self) -> str:
        """The store and the request."""
        return f"<FieldsStore {self}>"
