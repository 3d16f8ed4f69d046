"""What all read-only Zarr stores over a field store share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Protocol, Self

from zarr.abc.store import ByteRequest, Store
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype

import isotach
from isotach.zarr._ranges import part_of

_READ_ONLY = "store was opened in read-only mode and does not support writing"


class Content(Protocol):
    """What a store shows."""

    documents: dict[str, bytes]
    """The metadata and the coordinates, by the key of Zarr."""

    def chunk_keys(self) -> Iterable[str]:
        """The keys of all chunks that there are."""

    def chunk_size(self, key: str) -> int | None:
        """The bytes of a chunk. None if there is no such chunk."""

    def read_chunk(self, store: isotach.Store, key: str) -> memoryview | None:
        """A chunk that is decoded now. None if there is no such chunk."""


class ReadOnlyStore(Store):
    """A Zarr store whose chunks are decoded from fields when they are read."""

    supports_writes: bool = False
    supports_deletes: bool = False
    supports_listing: bool = True

    def __init__(self, store: isotach.Store, view: Content) -> None:
        """Called by the classes below."""
        super().__init__(read_only=True)
        self._store = store
        self._view = view

    def with_read_only(self, read_only: bool = False) -> Self:
        """The same view as a new object, which is read-only as well."""
        if not read_only:
            raise self._refusal()
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__, _is_open=False)
        return other

    def _refusal(self) -> Exception:
        """The error of every write."""
        return ValueError(_READ_ONLY)

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
        document = self._view.documents.get(key)
        data = memoryview(document) if document is not None else self._view.read_chunk(self._store, key)
        if data is None:
            return None
        if last is not None:
            start = max(0, len(data) - last)
        return (prototype or default_buffer_prototype()).buffer.from_bytes(data[start:end])

    async def get(
        self,
        key: str,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """A document, or the decoded values of a field. None if there is no such key or field."""
        if key in self._view.documents:
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
        return self._view.chunk_size(key)

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
        yield from self._view.chunk_keys()

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
        raise self._refusal()

    def delete_sync(self, key: str) -> None:
        """Refuses: the store is read-only."""
        raise self._refusal()

    async def set(self, key: str, value: Buffer) -> None:
        """Refuses: the store is read-only."""
        raise self._refusal()

    async def delete(self, key: str) -> None:
        """Refuses: the store is read-only."""
        raise self._refusal()
