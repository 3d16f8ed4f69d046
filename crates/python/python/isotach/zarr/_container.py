"""A Zarr store that keeps its keys in an Isotach container."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from zarr.abc.store import ByteRequest, Store
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype

from isotach._isotach import Tree
from isotach.zarr._ranges import part_of


class ContainerStore(Store):
    """A Zarr store in a container of any engine.

    Each key is a value of its own: small ones, such as metadata, are in an index, and larger ones, such as chunks, are arrays
    that the engine checks whenever it reads them. Setting a key replaces its value whole, for every reader at once. Readers and
    writers, of any number of processes, never wait for each other.

    ::

        store = ContainerStore("posix:/data/climate", "temperature")
        with store.transaction():
            array = zarr.create_array(store, shape=(365, 721, 1440), chunks=(1, 721, 1440), dtype="f4")
            array[:] = values

    What was set survives the end of the process. It survives a power failure after :meth:`flush`, :meth:`close`, or the end of a
    transaction.

    Parameters
    ----------
    pool
        The URI of a pool (``"posix:/data/climate"``, ``"rados:pool"``, ``"daos:pool"``, ``"memory:"``) or a path.
    container
        The label of the container: letters, digits and ``. _ : -``.
    create
        Whether the pool and the container are created if they do not exist. A read-only store creates nothing.
    read_only
        Whether the store refuses writes.

    Raises
    ------
    NotFoundError
        By the first use, if the container does not exist and is not to be created.
    InvalidInputError
        By the first use, if the container holds something else than a Zarr store.
    """

    supports_writes: bool = True
    supports_deletes: bool = True
    supports_listing: bool = True

    def __init__(
        self,
        pool: str | os.PathLike[str],
        container: str,
        *,
        create: bool = True,
        read_only: bool = False,
    ) -> None:
        """Nothing is opened before the first use."""
        super().__init__(read_only=read_only)
        self._pool = Tree.address(os.path.abspath(pool) if isinstance(pool, os.PathLike) else pool)
        self._container = container
        self._create = create
        self._trees: dict[str, Tree] = {}

    # Opening

    @property
    def pool(self) -> str:
        """The URI of the pool."""
        return self._pool

    @property
    def container(self) -> str:
        """The label of the container."""
        return self._container

    def with_read_only(self, read_only: bool = False) -> Self:
        """The same store, read-only or not, which takes part in an open transaction."""
        other = type(self)(self._pool, self._container, create=self._create, read_only=read_only)
        other._trees = self._trees
        return other

    def _tree(self) -> Tree:
        """The native handle, which is opened by the first use."""
        tree = self._trees.get("tree")
        if tree is None:
            create = self._create and not self.read_only
            # Threads may open several, of which all use one.
            tree = self._trees.setdefault("tree", Tree(self._pool, self._container, create=create))
        self._is_open = True
        return tree

    async def _open(self) -> None:
        await super()._open()
        await asyncio.to_thread(self._tree)

    def close(self) -> None:
        """Makes everything durable. The next use opens the store again."""
        if not self.read_only and "tree" in self._trees:
            self._trees["tree"].flush()
        super().close()

    def flush(self) -> None:
        """Makes everything that was set and deleted durable."""
        self._tree().flush()

    def purge(self) -> int:
        """Frees the space of values that were replaced or deleted, and of those that processes left which died before they counted.

        Others may read and write meanwhile. A transaction that is open in another store object and has written a large value fails
        at its end. Programs with a version of Isotach without ``purge`` must have ended before the first one. They cannot open the
        container afterwards.

        Returns
        -------
        The freed bytes.

        Raises
        ------
        UnsupportedError
            The engine has no transactions.
        InvalidInputError
            A transaction of this store is open.
        ConflictError
            Another purge of the container runs.
        """
        self._check_writable()
        return self._tree().purge()

    @contextmanager
    def transaction(self) -> Iterator[Self]:
        """Makes the writes of a block visible together.

        Inside the block every write through this store, by all threads and arrays that use it, belongs to the transaction, and
        only this store sees it. At the end all of them become visible and durable together. After an exception none does.

        Keys that the transaction reads stay as it first saw them.

        Raises
        ------
        ConflictError
            At the end: another writer changed a key after the transaction first saw it, which the transaction also changes.
            Nothing is written then.
        UnsupportedError
            The engine has no transactions.
        """
        self._check_writable()
        tree = self._tree()
        tree.begin()
        try:
            yield self
        except BaseException:
            tree.roll_back()
            raise
        tree.commit()

    # Reading

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """The value of a key, or a part of it. None if there is none."""
        data = self._tree().read(key, *part_of(byte_range))
        if data is None:
            return None
        return (prototype or default_buffer_prototype()).buffer.from_bytes(data)

    async def get(
        self,
        key: str,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """The value of a key, or a part of it. None if there is none."""
        return await asyncio.to_thread(self.get_sync, key, prototype=prototype, byte_range=byte_range)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Parts of several values, in the order in which they are asked for."""
        return await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges))

    async def exists(self, key: str) -> bool:
        """Whether a key has a value."""
        return await asyncio.to_thread(lambda: self._tree().size(key) is not None)

    async def getsize(self, key: str) -> int:
        """The length of a value in bytes, which is not read."""
        size = await asyncio.to_thread(lambda: self._tree().size(key))
        if size is None:
            raise FileNotFoundError(key)
        return size

    async def getsize_prefix(self, prefix: str) -> int:
        """The bytes of all values below a prefix, which are not read."""
        directory = prefix.rstrip("/")
        return await asyncio.to_thread(lambda: self._tree().size_of_all(f"{directory}/" if directory else ""))

    # Writing

    def _writable(self) -> Tree:
        self._check_writable()
        return self._tree()

    def set_sync(self, key: str, value: Buffer) -> None:
        """Sets the value of a key."""
        self._writable().put(key, _data(value))

    def delete_sync(self, key: str) -> None:
        """Deletes a key. None there is fine."""
        self._writable().remove(key)

    async def set(self, key: str, value: Buffer) -> None:
        """Sets the value of a key."""
        await asyncio.to_thread(self.set_sync, key, value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Sets the value of a key that has none. Of several writers one succeeds."""
        await asyncio.to_thread(lambda: self._writable().put_if_absent(key, _data(value)))

    async def delete(self, key: str) -> None:
        """Deletes a key. None there is fine."""
        await asyncio.to_thread(self.delete_sync, key)

    async def delete_dir(self, prefix: str) -> None:
        """Deletes all keys below a prefix. Where the engine has transactions, readers see all or none."""
        await asyncio.to_thread(lambda: self._writable().remove_below(prefix.rstrip("/")))

    # Listing

    async def is_empty(self, prefix: str) -> bool:
        """Whether there is no key below a prefix."""
        return await asyncio.to_thread(lambda: self._tree().is_empty(prefix.rstrip("/")))

    async def list(self) -> AsyncIterator[str]:
        """All keys."""
        async for key in self.list_prefix(""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """The keys that begin with a prefix."""
        for key in await asyncio.to_thread(lambda: self._tree().list(prefix)):
            yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """The names of keys and prefixes directly below a prefix."""
        for name in await asyncio.to_thread(lambda: self._tree().children(prefix.rstrip("/"))):
            yield name

    # The handle

    def __eq__(self, other: object) -> bool:
        """Whether both are the same container, and both read-only or not."""
        return isinstance(other, type(self)) and self._identity() == other._identity()

    def __hash__(self) -> int:
        """Of the container."""
        return hash(self._identity())

    def _identity(self) -> tuple[str, str, bool]:
        return self._pool, self._container, self.read_only

    def __getstate__(self) -> dict[str, Any]:
        """The container is opened again where the store is unpickled."""
        return {**self.__dict__, "_trees": {}, "_is_open": False}

    def __str__(self) -> str:
        """The pool and the container."""
        return f"{self._pool}#{self._container}"

    def __repr__(self) -> str:
        """The pool and the container."""
        return f"<ContainerStore {self}{' read-only' if self.read_only else ''}>"


def _data(value: Buffer) -> Any:
    """The bytes of a buffer, without a copy where they are in the memory of the processor."""
    if not isinstance(value, Buffer):
        raise TypeError(f"a value of type {type(value).__name__}: expected a Buffer of Zarr")
    return value.as_buffer_like()
