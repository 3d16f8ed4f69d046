"""Retrieving: iterators, single fields, buffers, files."""

from __future__ import annotations

import asyncio
import io
import os
import pickle
import warnings
from pathlib import Path

import isotach
import numpy
import pytest

from conftest import KEY, key


def test_fields_come_in_the_order_of_the_request(filled: isotach.Store) -> None:
    fields = list(filled.retrieve(key(step=[12, 0], param=["131", "130"])))
    assert [(field.key["step"], field.key["param"]) for field in fields] == [
        ("12", "131"),
        ("12", "130"),
        ("0", "131"),
        ("0", "130"),
    ]
    assert bytes(fields[0]) == b"field 12 131"


def test_a_field_is_read_without_a_copy_and_not_written(filled: isotach.Store) -> None:
    field = filled.retrieve_one(KEY)
    assert field is not None
    view = memoryview(field)
    assert (view.readonly, view.nbytes, view.format, view.contiguous) == (True, len(field), "B", True)
    assert numpy.frombuffer(field, numpy.uint8).ctypes.data == numpy.frombuffer(view, numpy.uint8).ctypes.data
    with pytest.raises(TypeError, match="read-only"):
        view[0] = 1
    array = numpy.frombuffer(field, numpy.uint8)
    del field, view
    assert array.tobytes() == b"field 6 130"


def test_a_kept_field_stays_as_it_is_while_others_are_read(filled: isotach.Store) -> None:
    fields, copies = [], []
    for _ in range(3):
        for field in filled.retrieve(key(step=[0, 6, 12], param=[130, 131])):
            fields.append(memoryview(field))
            copies.append(bytes(field))
    assert [view.tobytes() for view in fields] == copies


def test_missing_fields_are_an_exception_at_the_end(filled: isotach.Store) -> None:
    retrieval = filled.retrieve(key(step=[0, 3, 6, 9]))
    assert retrieval.missing is None
    assert bytes(next(retrieval)) == b"field 0 130"
    assert bytes(next(retrieval)) == b"field 6 130"
    with pytest.raises(isotach.MissingFieldsError, match="2 fields missing: step=3; step=9") as caught:
        next(retrieval)
    assert caught.value.code == "missing-fields"
    assert caught.value.missing.count == 2
    assert [missing["step"] for missing in caught.value.missing.keys] == ["3", "9"]
    assert isinstance(caught.value, LookupError)
    assert list(retrieval) == []
    assert retrieval.missing == caught.value.missing


def test_missing_fields_are_skipped_or_reported_if_asked_for(filled: isotach.Store) -> None:
    skipping = filled.retrieve(key(step=[0, 3]), missing="skip")
    assert len(list(skipping)) == 1
    assert skipping.missing is not None
    assert skipping.missing.count == 1
    with pytest.warns(isotach.MissingFieldsWarning, match="1 field missing: step=3"):
        assert len(list(filled.retrieve(key(step=[0, 3]), missing="report"))) == 1
    with pytest.raises(ValueError, match="missing='ignore': expected one of 'raise', 'skip', 'report'"):
        filled.retrieve(KEY, missing="ignore")  # type: ignore[arg-type]


def test_an_empty_answer_names_the_key_that_rules_everything_out(filled: isotach.Store) -> None:
    with pytest.raises(isotach.MissingFieldsError, match="step=7 matches nothing: stored is step=0/6/12"):
        list(filled.retrieve(key(step=7)))
    assert filled.explain(key(type="an")) == "type=an matches nothing: stored is type=fc"
    assert filled.explain(class_="rd") == "class=rd matches nothing: stored is class=od"


def test_one_field_is_none_where_it_does_not_exist(filled: isotach.Store) -> None:
    assert filled.retrieve_one(key(step=7)) is None
    assert filled.retrieve_into(key(step=7), bytearray(10)) is None
    assert filled.share(key(step=7)) is None
    assert filled.locate(key(step=7)) is None


def test_a_field_is_read_into_buffers_of_any_kind(filled: isotach.Store) -> None:
    for buffer in (bytearray(20), numpy.zeros(20, numpy.uint8), memoryview(bytearray(20)), numpy.zeros(3)):
        assert filled.retrieve_into(KEY, buffer) == 11
        assert memoryview(buffer).cast("B")[:11].tobytes() == b"field 6 130"


def test_a_buffer_that_cannot_take_a_field_is_refused(filled: isotach.Store) -> None:
    with pytest.raises(
        isotach.InvalidInputError, match="a buffer of 5 bytes: expected room for the 11 bytes of field"
    ):
        filled.retrieve_into(KEY, bytearray(5))
    with pytest.raises(TypeError, match="a bytes that is read-only: expected a writable contiguous buffer"):
        filled.retrieve_into(KEY, bytes(20))
    with pytest.raises(TypeError, match="not contiguous"):
        filled.retrieve_into(KEY, numpy.zeros((4, 4))[:, 0])
    with pytest.raises(TypeError, match="a buffer of type int"):
        filled.retrieve_into(KEY, 5)


def test_a_part_of_a_field_is_read_by_its_location(filled: isotach.Store) -> None:
    location = filled.locate(KEY)
    assert location is not None
    assert bytes(filled.read(location, offset=6)) == b"6 130"
    part = filled.read(location, offset=6, length=1)
    assert (bytes(part), part.location, part.key) == (b"6", location, {})
    assert bytes(filled.read(location, length=5)) == b"field" and len(filled.read(location, length=0)) == 0
    for offset, length in ((12, None), (6, 6), (2**63, 2**63)):
        with pytest.raises(isotach.InvalidInputError, match="expected a part of its 11 bytes"):
            filled.read(location, offset=offset, length=length)
    with pytest.raises(ValueError, match="offset=-1, length=None: expected no negative number"):
        filled.read(location, offset=-1)


def test_the_error_of_a_buffer_that_lends_nothing_is_its_own(filled: isotach.Store) -> None:
    released = memoryview(bytearray(20))
    released.release()
    with pytest.raises(ValueError, match="released memoryview"):
        filled.retrieve_into(KEY, released)


def test_lent_bytes_outlive_the_handle(filled: isotach.Store) -> None:
    view = filled.share(**{"class_": "od", **{name: value for name, value in KEY.items() if name != "class"}})
    assert view is not None
    assert (view.readonly, view.tobytes()) == (True, b"field 6 130")
    filled.close()
    assert view.tobytes() == b"field 6 130"


def test_a_location_is_read_and_survives_pickling(filled: isotach.Store) -> None:
    location = filled.locate(KEY)
    assert location is not None
    assert bytes(filled.read(location)) == b"field 6 130"
    again = pickle.loads(pickle.dumps(location))
    assert again == location
    assert hash(again) == hash(location)
    assert bytes(filled.read(again)) == b"field 6 130"
    assert (location.length, location.offset) == (11, 0)
    assert location.archived is not None
    assert location.archived.utcoffset() is not None
    assert location.uri.startswith("posix:")
    with pytest.raises(isotach.InvalidInputError, match='location "nowhere"'):
        isotach.Location("nowhere", 0, 1, 2)


def test_a_field_survives_pickling(filled: isotach.Store) -> None:
    field = filled.retrieve_one(KEY)
    assert field is not None
    again = pickle.loads(pickle.dumps(field))
    assert (again.key, again.location, bytes(again)) == (field.key, field.location, bytes(field))


def test_fields_are_written_to_an_open_file(filled: isotach.Store) -> None:
    file = io.BytesIO()
    assert filled.retrieve_to(key(step=[0, 6]), file) == 2
    assert file.getvalue() == b"field 0 130field 6 130"


def test_a_file_appears_only_when_it_is_complete(filled: isotach.Store, tmp_path: Path) -> None:
    target = tmp_path / "out" / "fields"
    target.parent.mkdir()
    with pytest.raises(isotach.MissingFieldsError):
        filled.retrieve_to(key(step=[0, 7]), target)
    assert list(target.parent.iterdir()) == []
    target.write_bytes(b"old")
    target.chmod(0o640)
    with pytest.raises(isotach.MissingFieldsError):
        filled.retrieve_to(key(step=[0, 7]), target)
    assert target.read_bytes() == b"old"
    assert filled.retrieve_to(key(step=[0, 7]), str(target), missing="skip") == 1
    assert target.read_bytes() == b"field 0 130"
    assert target.stat().st_mode & 0o777 == 0o640
    assert os.listdir(target.parent) == ["fields"]


def test_a_target_that_cannot_be_written_is_refused_by_its_name(
    filled: isotach.Store, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError, match="No such file or directory: '.*/none/fields'"):
        filled.retrieve_to(KEY, tmp_path / "none" / "fields")
    with pytest.raises(TypeError, match="a target of type int: expected a path or an open binary file"):
        filled.retrieve_to(KEY, 5)  # type: ignore[arg-type]


def test_fields_are_read_asynchronously_while_the_loop_runs(filled: isotach.Store) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    async def read() -> list[bytes]:
        ticking = asyncio.create_task(tick())
        fields = [bytes(field) async for field in filled.aretrieve(key(step=[0, 6, 12]))]
        ticking.cancel()
        return fields

    assert asyncio.run(read()) == [b"field 0 130", b"field 6 130", b"field 12 130"]
    assert ticks > 0


def test_missing_fields_are_an_exception_of_the_asynchronous_iterator(filled: isotach.Store) -> None:
    async def read() -> list[isotach.Field]:
        return [field async for field in filled.aretrieve(key(step=[0, 7]))]

    with pytest.raises(isotach.MissingFieldsError, match="step=7"):
        asyncio.run(read())


def test_batches_end_with_an_empty_one(filled: isotach.Store) -> None:
    retrieval = filled.retrieve(key(step=[0, 6, 12], param=[130, 131]))
    assert sum(len(batch) for batch in iter(retrieval.next_batch, [])) == 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert retrieval.next_batch() == []


def test_a_retrieval_shows_its_request_and_state(filled: isotach.Store) -> None:
    retrieval = filled.retrieve("class=od,expver=1,date=2024-01-01,type=fc,step=6,param=t")
    assert repr(retrieval).endswith("param=t': not begun>")
    field = next(retrieval)
    assert repr(retrieval).endswith(": begun>")
    assert "step=6" in repr(field)
    assert repr(field).endswith(": 11 bytes>")
    list(retrieval)
    assert repr(retrieval).endswith(": ended, nothing is missing>")
    missing = filled.retrieve(key(step=[6, 7]), missing="skip")
    list(missing)
    assert missing.state == "ended, 1 field missing: step=7"
    assert "<b>ended, 1 field missing: step=7</b>" in missing._repr_html_()
    assert "<td>step</td><td>6/7</td>" in missing._repr_html_()
