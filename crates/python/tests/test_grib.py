"""GRIB messages, whose keys ecCodes reads."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import isotach
import pytest

from conftest import forks, in_child
from grib_messages import on_level

SCHEMA = """
param: Param; step: Step; date: Date; time: Time; levelist: Double;
[ class, expver, stream, date, time, domain [ type, levtype [ step, levelist?, param ]]]
"""


@pytest.fixture
def store(tmp_path: Path) -> isotach.Store:
    """An empty store for messages."""
    return isotach.create(tmp_path / "fields", SCHEMA)


def test_messages_are_archived_under_the_keys_that_they_carry(store: isotach.Store, tmp_path: Path) -> None:
    one, two, three = on_level(0), on_level(6), on_level(12)
    (tmp_path / "file").write_bytes(one + b"padding" + two)
    with store:
        keys = store.archive(tmp_path / "file")
        keys += store.archive(io.BytesIO(three))
        keys += store.archive(memoryview(on_level(18)))
        with (tmp_path / "file").open("rb") as file, store.transaction() as step:
            assert len(step.archive(file)) == 2
        store.flush()
        assert [key["step"] for key in keys] == ["0", "6", "12", "18"]
        assert keys[0]["class"] == "od"
        request = {**keys[0], "step": [0, 6, 12]}
        assert [bytes(field) for field in store.retrieve(request)] == [one, two, three]


def test_messages_of_a_file_are_adopted_in_place(store: isotach.Store, tmp_path: Path) -> None:
    one, two = on_level(0), on_level(6)
    (tmp_path / "file").write_bytes(one + two)
    with store:
        keys = store.adopt(tmp_path / "file")
        store.flush()
        locations = [store.locate(key) for key in keys]
        assert [location.offset for location in locations if location is not None] == [0, len(one)]
        assert [bytes(store.read(location)) for location in locations if location is not None] == [one, two]


def test_messages_of_one_call_with_the_same_key_cause_a_warning(store: isotach.Store, tmp_path: Path) -> None:
    first, second, other = on_level(6), on_level(6), on_level(12)
    (tmp_path / "file").write_bytes(first + other + second)
    text = r"the last message with a key replaces those before it \(1 of 3 messages\): .*step=6"
    calls: list[Callable[[], object]] = [
        lambda: store.archive(tmp_path / "file"),
        lambda: store.archive(first + other + second),
        lambda: store.transaction().archive(first + other + second),
        lambda: store.adopt(tmp_path / "file"),
    ]
    with store:
        for call in calls:
            with pytest.warns(isotach.RepeatedKeyWarning, match=text) as caught:
                call()
            assert caught[0].filename == __file__
        store.archive(first + other)


def test_a_broken_message_names_its_place_and_those_before_it_are_archived(store: isotach.Store) -> None:
    one = on_level(0)
    with pytest.raises(isotach.MessageError, match=f"message 2 at byte {len(one)}") as caught:
        store.archive(one + on_level(6)[:-8])
    assert isinstance(caught.value, ValueError)
    store.flush()
    assert [field.key["step"] for field in store.list()] == ["0"]
    with pytest.raises(isotach.MessageError, match="no GRIB message found in 5 bytes"):
        store.archive(b"other")
    with pytest.raises(isotach.InvalidInputError) as refused:
        store.archive(one + b"GRIB" + bytes(100))
    assert refused.value.code == "message"
    store.close()


def test_a_message_that_does_not_fit_the_schema_names_its_place(tmp_path: Path) -> None:
    with isotach.create(tmp_path / "fields", "[ class, expver [ type [ step ]]]") as store:
        with pytest.raises(isotach.InvalidInputError, match="no rule of the schema fits") as caught:
            store.archive(on_level(0))
        assert caught.value.code == "key"
        assert caught.value.__notes__ == ["message 1 at byte 0"]


@forks
def test_a_child_reads_keys_while_threads_of_the_parent_do(store: isotach.Store) -> None:
    data, done = on_level(0), threading.Event()

    def work() -> None:
        with store.transaction() as step:
            while not done.is_set():
                step.archive(data)

    def act() -> bool:
        with pytest.warns(isotach.RepeatedKeyWarning):
            return len(store.archive(data * 3)) == 3

    with store, ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(work) for _ in range(3)]
        try:
            assert [in_child(act) for _ in range(20)] == [0] * 20
        finally:
            done.set()
        for future in futures:
            future.result(timeout=60)
