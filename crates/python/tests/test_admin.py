"""Datasets: status, stats, wipe, delete, purge, adopt, verify."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import isotach
import pytest

from conftest import KEY, key


def test_status_and_stats_describe_a_dataset(filled: isotach.Store) -> None:
    filled.lock("class=od", actions=["wipe", "list"])
    [status] = filled.status(class_="od")
    assert status.key == {"class": "od", "expver": "0001", "date": "20240101"}
    assert sorted(status.locks) == ["list", "wipe"]
    assert status.created is not None
    assert abs(status.created - datetime.now(UTC)) < timedelta(hours=1)
    assert status.catalogue.startswith("posix:")
    filled.unlock("class=od", actions=["wipe", "list"])
    [stats] = filled.stats()
    assert (stats.fields, stats.replaced_fields, stats.collocations) == (6, 0, 1)
    assert stats.bytes == sum(field.location.length for field in filled.list())
    assert stats.container_bytes > 0
    assert filled.stats(class_="rd") == []


def test_a_wipe_removes_only_if_it_is_told_to(filled: isotach.Store) -> None:
    report = filled.wipe(class_="od")
    assert (report.done, report.fields, len(report.datasets)) == (False, 6, 1)
    assert report.datasets[0].is_whole
    assert len(list(filled.list())) == 6
    assert filled.wipe(class_="od", doit=True).done
    assert list(filled.list()) == []


def test_a_wipe_of_single_fields_or_of_everything_is_refused(filled: isotach.Store) -> None:
    with pytest.raises(isotach.InvalidInputError, match="the request names step") as caught:
        filled.wipe(key(), doit=True)
    assert caught.value.code == "below-collocation"
    with pytest.raises(isotach.InvalidInputError, match="a request without keys"):
        filled.wipe(doit=True)
    assert len(list(filled.list())) == 6


def test_a_deletion_removes_the_named_fields_only_if_it_is_told_to(filled: isotach.Store) -> None:
    two = key(step=[6, 12, 18], param=130)
    report = filled.delete(two)
    assert (report.done, report.fields, report.bytes) == (False, 2, 23)
    assert report.datasets[0].key == {"class": "od", "expver": "0001", "date": "20240101"}
    assert len(list(filled.list())) == 6
    assert filled.delete(two, doit=True).done
    assert [field.key["step"] for field in filled.list(param=130)] == ["0"]
    assert filled.retrieve_one(key(step=6)) is None
    assert filled.delete(two, doit=True).datasets == []
    [purged] = filled.purge(doit=True)
    assert purged.replaced_fields == 2


def test_a_deletion_that_lacks_keys_or_is_locked_is_refused(filled: isotach.Store) -> None:
    with pytest.raises(isotach.InvalidInputError, match="type"):
        filled.delete(class_="od", doit=True)
    with pytest.raises(isotach.InvalidInputError, match="a request without keys"):
        filled.delete(doit=True)
    filled.lock("class=od", actions="wipe")
    with pytest.raises(isotach.LockedError):
        filled.delete(key(), doit=True)
    assert len(list(filled.list())) == 6


def test_a_purge_frees_replaced_fields(filled: isotach.Store) -> None:
    filled.archive(b"new", KEY)
    filled.flush()
    [purged] = filled.purge(class_="od")
    assert (purged.replaced_fields, purged.replaced_bytes) == (1, 11)
    assert len(list(filled.list(duplicates=True))) == 7
    [purged] = filled.purge(class_="od", doit=True)
    assert purged.replaced_fields == 1
    assert len(list(filled.list(duplicates=True))) == 6


def test_a_part_of_a_file_is_adopted_in_place(store: isotach.Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    assert store.adopt(tmp_path / "file", KEY, offset=2, length=3) == [KEY]
    store.adopt(str(tmp_path / "file"), key(step=12))
    store.flush()
    assert [bytes(field) for field in store.retrieve(key(step=[6, 12]))] == [b"234", b"0123456789"]
    location = store.locate(KEY)
    assert location is not None
    assert (location.is_adopted, location.offset, location.length) == (True, 2, 3)
    with pytest.raises(ValueError, match="offset or length without a key"):
        store.adopt(tmp_path / "file", offset=2)
    with pytest.raises(isotach.InvalidInputError, match="20 bytes at 0 of"):
        store.adopt(tmp_path / "file", KEY, length=20)
    with pytest.raises(isotach.InvalidInputError, match="offset 11 of .*: expected at most its 10 bytes"):
        store.adopt(tmp_path / "file", KEY, offset=11)
    with pytest.raises(FileNotFoundError):
        store.adopt(tmp_path / "none", KEY)
    (tmp_path / "file").write_bytes(b"9876543210")
    with pytest.raises(isotach.CorruptError, match="checksum"):
        store.retrieve_one(KEY)


def test_an_interrupt_during_the_progress_of_a_verification_is_raised(filled: isotach.Store) -> None:
    calls: list[tuple[int, int, int | None]] = []

    def interrupt(*state: object) -> None:
        calls.append(state)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        filled.verify(data=True, threads=1, progress=interrupt)
    assert len(calls) == 1


def test_a_signal_ends_a_verification_soon(store: isotach.Store) -> None:
    for step in range(500):
        store.archive(b"field", key(step=step))
    store.flush()
    calls = 0

    def interrupted(*_: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 10:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.02)

    # A program that was started in the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            store.verify(data=True, threads=1, progress=interrupted)
    finally:
        signal.signal(signal.SIGINT, before)
    assert 10 <= calls < 100
    assert store.verify(data=True).fields == 500


def test_a_verification_reports_progress_and_what_it_read(filled: isotach.Store) -> None:
    seen: list[tuple[int, int, int | None]] = []
    report = filled.verify(data=True, threads=2, progress=lambda *state: seen.append(state))
    assert report.is_sound
    assert (report.fields, report.damage) == (6, [])
    assert report.bytes >= 6 * 11
    assert all(isinstance(fields, int) for fields, _, _ in seen)
    assert filled.verify(class_="rd").is_sound


def test_wrong_arguments_are_refused_by_their_name(filled: isotach.Store, tmp_path: Path) -> None:
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: filled.verify(threads=0), "threads=0: expected at least 1"),
        (lambda: filled.lock(class_="od", actions=[]), "no actions: expected some of retrieve, list"),
        (
            lambda: filled.adopt(tmp_path, KEY, offset=-3),
            "offset=-3, length=None: expected no negative number",
        ),
    ]
    for call, text in calls:
        with pytest.raises(ValueError, match=text):
            call()


def test_a_path_that_is_no_file_is_refused_in_the_words_of_the_system(
    filled: isotach.Store, tmp_path: Path
) -> None:
    calls: list[Callable[[Path], object]] = [filled.archive, filled.transaction().archive, filled.adopt]
    for call in calls:
        with pytest.raises(FileNotFoundError, match="No such file or directory: '.*/none'"):
            call(tmp_path / "none")
        with pytest.raises(IsADirectoryError, match=f"Is a directory: '{tmp_path}'"):
            call(tmp_path)
