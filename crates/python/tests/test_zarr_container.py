"""The Zarr store on a container, by Zarr's own suite of stores and by what the suite does not ask."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import threading
from pathlib import Path
from typing import Any

import isotach
import numpy as np
import pytest
import zarr
from isotach.zarr import ContainerStore
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.buffer.cpu import Buffer, buffer_prototype
from zarr.testing.store import StoreTests

from conftest import forks, in_child

LARGE = bytes(range(256)) * 1000
"""A value that is an array of its own."""


async def collected(names: Any) -> list[str]:
    """All names of a listing, sorted."""
    return sorted([name async for name in names])


def listed(store: Store, prefix: str = "") -> list[str]:
    """The keys that begin with a prefix, sorted."""
    return asyncio.run(collected(store.list_prefix(prefix)))


def children(store: Store, prefix: str = "") -> list[str]:
    """The names directly below a prefix, sorted."""
    return asyncio.run(collected(store.list_dir(prefix)))


def put(store: ContainerStore, key: str, data: bytes) -> None:
    """Sets a key."""
    store.set_sync(key, Buffer.from_bytes(data))


def got(store: ContainerStore, key: str, part: Any = None) -> bytes | None:
    """The value of a key."""
    value = store.get_sync(key, byte_range=part)
    return None if value is None else value.to_bytes()


@pytest.fixture
def store(tmp_path: Path) -> ContainerStore:
    """An empty store."""
    return ContainerStore(tmp_path / "pool", "arrays")


def other(store: ContainerStore) -> ContainerStore:
    """Another handle on the same container."""
    return ContainerStore(store.pool, store.container)


class ContainerStoreTests(StoreTests[ContainerStore, Buffer]):
    """Zarr's suite, on one engine."""

    store_cls = ContainerStore
    buffer_cls = Buffer

    async def set(self, store: ContainerStore, key: str, value: Buffer) -> None:
        """Writes through another handle."""
        other(store)._tree().put(key, value.to_bytes())

    async def get(self, store: ContainerStore, key: str) -> Buffer:
        """Reads through another handle."""
        data = other(store)._tree().read(key)
        assert data is not None
        return Buffer.from_bytes(data)

    def test_store_repr(self, store: ContainerStore) -> None:
        assert repr(store) == f"<ContainerStore {store.pool}#{store.container}>"
        assert str(store) == f"{store.pool}#{store.container}"

    def test_store_supports_writes(self, store: ContainerStore) -> None:
        assert store.supports_writes and store.supports_deletes

    def test_store_supports_listing(self, store: ContainerStore) -> None:
        assert store.supports_listing


class TestOnPosix(ContainerStoreTests):
    """The suite on the posix engine."""

    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        pool = f"posix:{tmp_path}/pool"
        ContainerStore(pool, "suite").flush()
        return {"pool": pool, "container": "suite", "read_only": False}


class TestInMemory(ContainerStoreTests):
    """The suite on the memory engine."""

    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        pool = f"memory:{tmp_path}"
        ContainerStore(pool, "suite").flush()
        return {"pool": pool, "container": "suite", "read_only": False}


def test_arrays_and_groups_read_back_through_another_handle(store: ContainerStore) -> None:
    values = np.arange(60, dtype="f4").reshape(3, 4, 5)
    root = zarr.create_group(store, attributes={"title": "fields"})
    array = root.create_array("level/temperature", shape=values.shape, chunks=(1, 4, 5), dtype="f4")
    array[:] = values
    read = zarr.open_group(other(store), mode="r")
    assert read.attrs["title"] == "fields"
    assert np.array_equal(read["level/temperature"][:], values)
    assert children(store) == ["level", "zarr.json"]
    assert children(store, "level/temperature/c") == ["0", "1", "2"]


@pytest.mark.parametrize("data", [LARGE, LARGE[:200], b""])
def test_parts_of_small_and_large_values_are_read_alone(store: ContainerStore, data: bytes) -> None:
    put(store, "a/value", data)
    parts = {
        RangeByteRequest(10, 90): data[10:90],
        RangeByteRequest(10, 10**9): data[10:],
        RangeByteRequest(10**8, 10**9): b"",
        OffsetByteRequest(100): data[100:],
        SuffixByteRequest(7): data[-7:],
        SuffixByteRequest(10**9): data,
        SuffixByteRequest(0): b"",
    }
    for part, expected in parts.items():
        assert got(store, "a/value", part) == expected, part
    assert asyncio.run(store.getsize("a/value")) == len(data)


def test_a_value_is_replaced_whole_for_readers_that_race_with_writers(store: ContainerStore) -> None:
    put(store, "key", bytes([0]) * 100_000)
    end = threading.Event()

    def write() -> None:
        for value in range(1, 200):
            put(store, "key", bytes([value]) * (100_000 + value))
        end.set()

    writer = threading.Thread(target=write)
    writer.start()
    reader = other(store)
    while not end.is_set():
        data = got(reader, "key")
        assert data == bytes([data[0]]) * (100_000 + data[0])
    writer.join()
    assert got(reader, "key") == bytes([199]) * 100_199


def test_one_of_several_writers_that_create_the_store_sets_a_key(store: ContainerStore) -> None:
    async def race() -> None:
        stores = [other(store) for _ in range(8)]
        values = [Buffer.from_bytes(bytes([at]) * 10_000) for at in range(8)]
        await asyncio.gather(
            *(one.set_if_not_exists("key", value) for one, value in zip(stores, values, strict=True))
        )

    asyncio.run(race())
    data = got(store, "key")
    put_again = Buffer.from_bytes(b"late")
    asyncio.run(store.set_if_not_exists("key", put_again))
    assert got(store, "key") == data == data[:1] * 10_000


def test_a_transaction_is_visible_to_its_store_alone_until_it_ends(store: ContainerStore) -> None:
    put(store, "a/old", b"old")
    put(store, "b/gone", LARGE)
    reader = other(store)
    with store.transaction():
        put(store, "a/new", LARGE)
        put(store, "a/old", b"newer")
        asyncio.run(store.delete_dir("b"))
        assert listed(store) == ["a/new", "a/old"]
        assert children(store) == ["a"] and children(store, "a") == ["new", "old"]
        assert got(store, "a/new") == LARGE and asyncio.run(store.is_empty("b"))
        assert got(store.with_read_only(True), "a/old") == b"newer"
        assert listed(reader) == ["a/old", "b/gone"] and got(reader, "a/old") == b"old"
    assert listed(reader) == ["a/new", "a/old"]
    assert got(reader, "a/old") == b"newer" and got(reader, "a/new") == LARGE


def test_after_an_exception_nothing_of_a_transaction_counts(store: ContainerStore) -> None:
    put(store, "key", LARGE)
    with pytest.raises(ZeroDivisionError), store.transaction():
        put(store, "key", b"other")
        put(store, "new/key", LARGE)
        raise ZeroDivisionError
    assert listed(store) == ["key"] and children(store) == ["key"]
    assert got(store, "key") == LARGE
    with store.transaction():
        put(store, "key", b"again")
    assert got(store, "key") == b"again"


def test_a_transaction_fails_whole_when_another_writer_was_first(store: ContainerStore) -> None:
    put(store, "count", b"1")
    with pytest.raises(isotach.ConflictError, match="count"), store.transaction():
        seen = got(store, "count")
        put(other(store), "count", b"7")
        put(store, "count", seen + b"1")
        put(store, "log", LARGE)
    assert got(store, "count") == b"7"
    assert listed(store) == ["count"]


def test_a_transaction_of_many_chunks_is_committed_together(store: ContainerStore) -> None:
    reader = other(store)
    with store.transaction():
        array = zarr.create_array(store, shape=(3000, 16), chunks=(1, 16), dtype="i4", compressors=None)
        array[:] = np.arange(48_000, dtype="i4").reshape(3000, 16)
        assert array[2999, 15] == 47_999
        assert listed(reader) == []
    assert len(listed(reader)) == 3001
    assert zarr.open_array(reader, mode="r")[:].sum() == sum(range(48_000))


def test_transactions_do_not_nest_and_read_only_stores_have_none(store: ContainerStore) -> None:
    with store.transaction(), pytest.raises(isotach.InvalidInputError), store.transaction():
        pass
    with pytest.raises(ValueError, match="read-only"), store.with_read_only(True).transaction():
        pass


def test_deleted_directories_vanish_from_listings(store: ContainerStore) -> None:
    for key in ("a/b/c", "a/b/d/e", "ab/c", "a.b"):
        put(store, key, LARGE)
    asyncio.run(store.delete_dir("a"))
    assert listed(store) == ["a.b", "ab/c"] and children(store) == ["a.b", "ab"]
    store.delete_sync("ab/c")
    assert children(store) == ["a.b"] and asyncio.run(store.is_empty("ab"))
    put(store, "a/b/c", b"again")
    assert children(store) == ["a", "a.b"] and listed(store, "a/") == ["a/b/c"]


def test_a_prefix_need_not_end_at_a_slash(store: ContainerStore) -> None:
    for key in ("ab/one", "abc", "b/one"):
        put(store, key, b"")
    assert listed(store, "ab") == ["ab/one", "abc"]
    assert listed(store, "ab/o") == ["ab/one"]
    assert listed(store, "absent/") == []


def test_the_sizes_below_a_prefix_are_known_without_reading(store: ContainerStore) -> None:
    put(store, "a/large", LARGE)
    put(store, "a/b/small", b"12345")
    put(store, "ab", b"1")
    assert asyncio.run(store.getsize_prefix("a")) == len(LARGE) + 5
    assert asyncio.run(store.getsize_prefix("")) == len(LARGE) + 6


def test_a_damaged_chunk_is_an_error_and_others_still_load(store: ContainerStore, tmp_path: Path) -> None:
    array = zarr.create_array(store, shape=(2, 5000), chunks=(1, 5000), dtype="u1", compressors=None)
    array[:] = np.array([[1], [2]], dtype="u1")
    store.close()
    (damaged,) = (
        path for path in tmp_path.rglob("*") if path.is_file() and b"\1" * 5000 in path.read_bytes()
    )
    damaged.write_bytes(damaged.read_bytes().replace(b"\1" * 5000, b"\1" * 4999 + b"\0"))
    array = zarr.open_array(other(store), mode="r")
    assert array[1].tolist() == [2] * 5000
    with pytest.raises(isotach.CorruptError):
        array[0]


def test_a_wrong_key_value_or_place_is_refused(store: ContainerStore, tmp_path: Path) -> None:
    for key in ("", "/a", "a/", "a//b"):
        with pytest.raises(isotach.InvalidInputError):
            put(store, key, b"")
    with pytest.raises(TypeError, match="expected a Buffer"):
        store.set_sync("key", b"bytes")  # type: ignore[arg-type]
    with pytest.raises(isotach.NotFoundError):
        got(ContainerStore(tmp_path / "none", "arrays", read_only=True), "key")
    with pytest.raises(isotach.NotFoundError):
        got(ContainerStore(store.pool, "none", create=False), "key")
    with pytest.raises(isotach.InvalidInputError):
        got(ContainerStore(store.pool, "not/a/label"), "key")


def _in_child(store: ContainerStore, results: Any) -> None:
    put(store, "from/child", LARGE)
    results.put(got(store, "key"))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_process_uses_the_store(store: ContainerStore, method: str) -> None:
    put(store, "key", LARGE)
    context = multiprocessing.get_context(method)
    results = context.Queue()
    child = context.Process(target=_in_child, args=(store, results))
    child.start()
    assert results.get(timeout=20) == LARGE
    child.join()
    assert got(store, "from/child") == LARGE


def _die_in_transaction(store: ContainerStore) -> None:
    with store.transaction():
        put(store, "key", b"new")
        put(store, "large", LARGE)
        os._exit(7)


def test_a_process_that_dies_in_a_transaction_leaves_nothing_to_see(store: ContainerStore) -> None:
    put(store, "key", b"old")
    child = multiprocessing.get_context("spawn").Process(target=_die_in_transaction, args=(store,))
    child.start()
    child.join()
    assert child.exitcode == 7
    assert listed(store) == ["key"] and got(store, "key") == b"old"
    with store.transaction():
        put(store, "large", LARGE)
    assert got(other(store), "large") == LARGE


def _replace(store: ContainerStore) -> None:
    put(store, "kept", LARGE)
    for _ in range(3):
        put(store, "replaced", LARGE)
    store.flush()


def test_a_purge_frees_what_dead_processes_and_replaced_values_left(store: ContainerStore) -> None:
    for act in (_replace, _die_in_transaction):
        child = multiprocessing.get_context("spawn").Process(target=act, args=(store,))
        child.start()
        child.join()
    assert store.purge() >= 2 * len(LARGE)
    assert (listed(store), got(store, "kept"), got(store, "replaced")) == (["kept", "replaced"], LARGE, LARGE)
    with store.transaction(), pytest.raises(isotach.InvalidInputError, match="a sweep within a transaction"):
        store.purge()
    with pytest.raises(ValueError, match="read-only"):
        store.with_read_only(True).purge()


def test_an_unpickled_store_is_the_same_store(store: ContainerStore) -> None:
    put(store, "key", b"value")
    again = pickle.loads(pickle.dumps(store))
    assert again == store and hash(again) == hash(store)
    assert got(again, "key") == b"value"
    assert store != ContainerStore(store.pool, "another") and store != store.with_read_only(True)


def test_values_are_read_without_holding_other_threads(store: ContainerStore) -> None:
    put(store, "key", LARGE)
    parts = asyncio.run(
        store.get_partial_values(
            buffer_prototype,
            [("key", RangeByteRequest(0, 4)), ("absent", None), ("key", SuffixByteRequest(2))],
        )
    )
    assert [part and part.to_bytes() for part in parts] == [LARGE[:4], None, LARGE[-2:]]


@forks
def test_a_child_that_is_forked_within_a_transaction_writes_nothing(store: ContainerStore) -> None:
    put(store, "key", b"old")

    def write() -> None:
        for act in (lambda: put(store, "key", b"new"), lambda: asyncio.run(store.delete("key"))):
            with pytest.raises(isotach.InvalidInputError, match="forked within a transaction"):
                act()
        assert got(store, "key") == b"old"
        put(ContainerStore(store.pool, store.container), "own", b"value")

    with store.transaction():
        put(store, "key", b"committed")
        assert in_child(write) == 0
    assert got(other(store), "key") == b"committed" and got(store, "own") == b"value"
