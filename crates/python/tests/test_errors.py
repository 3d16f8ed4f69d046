"""Errors: classes, codes, facts."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path

import isotach
import pytest
from isotach import _exceptions, _isotach

from conftest import KEY, SCHEMA, key


def test_every_code_of_the_library_has_a_class() -> None:
    assert sorted(_exceptions.CLASSES) == _isotach.codes()


def test_every_exception_is_an_isotach_error_and_wrong_input_a_value_error() -> None:
    for code, kind in _exceptions.CLASSES.items():
        error = _exceptions.exception_of(code, "text", {})
        assert isinstance(error, isotach.IsotachError)
        assert isinstance(error, RuntimeError)
        assert type(error) is kind
        assert error.code == code
    for code in ("key", "request", "schema", "invalid-input", "below-collocation", "message"):
        assert issubclass(_exceptions.CLASSES[code], ValueError)


def test_an_error_of_a_store_survives_pickling() -> None:
    error = _exceptions.exception_of("corrupt", "text", {"field": "step=6", "place": "data/1"})
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.code) == (isotach.CorruptError, "text", "corrupt")
    assert (again.field, again.place) == ("step=6", "data/1")


def test_a_store_that_does_not_exist_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(isotach.NotFoundError, match="does not exist") as caught:
        isotach.open(tmp_path / "none")
    assert caught.value.code == "not-found"
    assert caught.value.__notes__ == ["isotach.create creates a store"]
    (tmp_path / "folder").mkdir()
    with pytest.raises(isotach.InvalidInputError, match="is not an Isotach pool"):
        isotach.open(tmp_path / "folder")


def test_a_corrupt_field_names_field_and_place_and_others_are_read(
    filled: isotach.Store, tmp_path: Path
) -> None:
    text = b"field 6 130"
    damaged = [
        path for path in (tmp_path / "fields").rglob("*") if path.is_file() and text in path.read_bytes()
    ]
    assert damaged
    for path in damaged:
        path.write_bytes(path.read_bytes().replace(text, b"FIELD 6 130"))
    store = isotach.open(tmp_path / "fields")
    retrieval = store.retrieve(key(step=[0, 6, 12]))
    assert bytes(next(retrieval)) == b"field 0 130"
    with pytest.raises(isotach.CorruptError, match=r"field .*step=6.* is corrupt") as caught:
        next(retrieval)
    assert caught.value.code == "corrupt"
    assert caught.value.field is not None
    assert "step=6" in caught.value.field
    assert caught.value.place is not None
    assert [bytes(field) for field in retrieval] == [b"field 12 130"]
    batches = store.retrieve(key(step=[0, 6, 12]))
    assert len(batches.next_batch()) == 1
    with pytest.raises(isotach.CorruptError):
        batches.next_batch()
    assert len(batches.next_batch()) == 1
    report = store.verify(data=True)
    assert not report.is_sound
    assert [damage.key["step"] for damage in report.damage] == ["6"]


def test_a_store_with_another_schema_exists_already(tmp_path: Path) -> None:
    isotach.create(tmp_path / "fields", SCHEMA).close()
    with pytest.raises(isotach.AlreadyExistsError, match="with another schema") as caught:
        isotach.create(tmp_path / "fields", "[ class [ type [ step ]]]")
    assert caught.value.code == "other-schema"


def crc32c(data: bytes) -> int:
    """The checksum of a superblock."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def test_a_pool_of_a_newer_format_is_refused_as_such(filled: isotach.Store, tmp_path: Path) -> None:
    superblock = tmp_path / "fields" / "superblock"
    block = bytearray(superblock.read_bytes())
    struct.pack_into("<I", block, 8, 2)
    struct.pack_into("<I", block, 60, crc32c(block[:60]))
    superblock.chmod(0o600)
    superblock.write_bytes(block)
    with pytest.raises(isotach.NewerFormatError, match="has format version 2 .*use a newer Isotach"):
        isotach.open(tmp_path / "fields")


def test_a_store_that_vanished_is_an_error_of_its_class(filled: isotach.Store, tmp_path: Path) -> None:
    (tmp_path / "fields").rename(tmp_path / "elsewhere")
    with pytest.raises(isotach.IsotachError):
        isotach.open(tmp_path / "fields")


def test_a_locked_dataset_names_itself(filled: isotach.Store) -> None:
    assert filled.lock(class_="od", actions="archive") == [
        {"class": "od", "expver": "0001", "date": "20240101"}
    ]
    with pytest.raises(isotach.LockedError, match="no archive until it is unlocked") as caught:
        filled.archive(b"x", KEY)
    assert caught.value.dataset is not None
    assert "class=od" in caught.value.dataset
    filled.unlock(class_="od", actions=["archive"])
    filled.archive(b"x", KEY)
    filled.flush()
    with pytest.raises(ValueError, match='action "write": expected retrieve, list, archive or wipe'):
        filled.lock(class_="od", actions="write")


def test_a_snapshot_is_read_only_and_shows_the_past(filled: isotach.Store) -> None:
    made = filled.create_snapshot("before", class_="od")
    assert (made.name, made.is_complete, len(made.datasets)) == ("before", True, 1)
    filled.archive(b"new", KEY)
    filled.flush()
    with filled.snapshot("before") as past:
        field = past.retrieve_one(KEY)
        assert field is not None
        assert bytes(field) == b"field 6 130"
        assert past.at == "before"
        with pytest.raises(isotach.ForbiddenError, match="snapshot before is read only"):
            past.archive(b"x", KEY)
    assert [snapshot.name for snapshot in filled.snapshots()] == ["before"]
    filled.remove_snapshot("before")
    assert filled.snapshots() == []
    with pytest.raises(isotach.NotFoundError):
        filled.snapshot("before")
