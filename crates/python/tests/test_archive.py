"""Archiving from every kind of buffer and file."""

from __future__ import annotations

import array
import io
from collections.abc import Callable
from pathlib import Path

import isotach
import numpy
import pytest

from conftest import KEY, key


@pytest.mark.parametrize(
    "data",
    [
        b"12345678",
        bytearray(b"12345678"),
        memoryview(b"12345678"),
        memoryview(b"0123456789")[1:9],
        array.array("H", [0x3231, 0x3433, 0x3635, 0x3837]),
        numpy.frombuffer(b"12345678", numpy.float64),
        numpy.frombuffer(b"12345678", numpy.int16).reshape(2, 2),
        numpy.asfortranarray(numpy.frombuffer(b"12345678", numpy.int8).reshape(1, 8)),
        io.BytesIO(b"12345678"),
    ],
    ids=lambda data: type(data).__name__,
)
def test_data_of_any_contiguous_kind_is_archived_as_its_bytes(store: isotach.Store, data: object) -> None:
    assert store.archive(data, KEY) is None
    store.flush()
    field = store.retrieve_one(KEY)
    assert field is not None
    assert bytes(field) == b"12345678"
    assert field.key == KEY


def test_a_file_is_archived_by_its_path(store: isotach.Store, tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"of a path")
    store.archive(tmp_path / "one", KEY)
    store.archive(str(tmp_path / "one"), key(step=12))
    store.flush()
    assert [bytes(field) for field in store.retrieve(key(step=[6, 12]))] == [b"of a path", b"of a path"]
    with pytest.raises(FileNotFoundError, match="none"):
        store.archive(tmp_path / "none", KEY)


def test_an_empty_field_is_a_field(store: isotach.Store) -> None:
    store.archive(b"", KEY)
    store.archive(numpy.empty(0), key(step=12))
    store.flush()
    field = store.retrieve_one(KEY)
    assert field is not None
    assert len(field) == 0
    assert bytes(field) == b""
    assert len(memoryview(field)) == 0


class NonBlocking(io.RawIOBase):
    """A file that does not wait for its bytes."""

    def read(self, size: int = -1) -> None:  # type: ignore[override]
        """There are none yet."""


def test_data_that_is_no_buffer_is_refused_by_its_type(store: isotach.Store) -> None:
    with pytest.raises(TypeError, match=r"data of type int: expected bytes, a contiguous buffer"):
        store.archive(5, KEY)
    with pytest.raises(BufferError, match="not contiguous"):
        store.archive(numpy.zeros((4, 4))[:, 1], KEY)
    with pytest.raises(TypeError, match="binary mode"):
        store.archive(io.StringIO("GRIB"))
    with pytest.raises(BlockingIOError, match="has no bytes yet"):
        store.archive(NonBlocking())
    assert not store.is_dirty


@pytest.mark.parametrize(
    "data",
    [
        numpy.array([b"one", None], object),
        memoryview(numpy.array([b"one", None], object)),
        numpy.zeros(2, [("number", "f8"), ("thing", "O")]),
    ],
    ids=["array", "memoryview", "record"],
)
def test_a_buffer_of_python_objects_is_neither_archived_nor_read_into(
    store: isotach.Store, data: object
) -> None:
    calls: list[Callable[[], object]] = [
        lambda: store.archive(data, KEY),
        lambda: store.transaction().archive(data, KEY),
        lambda: store.retrieve_into(KEY, data),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"of Python objects: expected numbers or bytes"):
            call()
    assert not store.is_dirty
    store.archive(numpy.zeros(2, [("O", "f8")]), KEY)


def test_an_exception_of_a_file_reaches_the_caller(store: isotach.Store) -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        store.archive(Broken())


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        ({"class": "od"}, ValueError, "no rule of the schema fits the key"),
        ({**KEY, "colour": "red"}, ValueError, "has no place for colour"),
        ({**KEY, "step": "x"}, ValueError, 'step="x"'),
        ({**KEY, 5: "x"}, TypeError, "a key with the name 5"),
        ({**KEY, "step": None}, TypeError, "step=None"),
        ({**KEY, "step": True}, TypeError, "step=True"),
        ({**KEY, "step": [6, 12]}, TypeError, r"step=\[6, 12\] of type list"),
        ({**KEY, "step": float("nan")}, ValueError, "step=nan: expected a finite number"),
        ("class", ValueError, "expected '=' after the key name"),
        (7, TypeError, "a key of type int"),
    ],
)
def test_a_wrong_key_is_refused_with_name_and_value(
    store: isotach.Store, wrong: object, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        store.archive(b"x", wrong)  # type: ignore[call-overload]
    assert not store.is_dirty


def test_readers_see_fields_only_after_flush(store: isotach.Store) -> None:
    store.archive(b"old", KEY)
    assert store.is_dirty
    assert store.retrieve_one(KEY) is None
    store.flush()
    assert not store.is_dirty
    store.archive(b"new", KEY)
    before = store.retrieve_one(KEY)
    store.flush()
    after = store.retrieve_one(KEY)
    assert before is not None
    assert after is not None
    assert (bytes(before), bytes(after)) == (b"old", b"new")
