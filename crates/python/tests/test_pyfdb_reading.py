"""Retrieving and listing with isotach.pyfdb."""

from __future__ import annotations

import inspect
import io
import pickle
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import isotach
import isotach.pyfdb as pyfdb
import pytest

from grib_messages import on_level
from pyfdb_keys import KEY, key

# Retrieving


def test_fields_come_in_the_order_of_the_selection(fdb: pyfdb.FDB) -> None:
    handle = fdb.retrieve({**KEY, "date": ["20240102", "20240101"], "step": "12/0/99"})
    assert handle.size() == 21
    assert handle.readall() == b"next daystep 12step 0"


def test_a_handle_is_opened_before_it_is_read(fdb: pyfdb.FDB) -> None:
    handle = fdb.retrieve(key(step="0/to/12/by/6"))
    for read in (handle.read, lambda: handle.readinto(bytearray(4))):
        with pytest.raises(RuntimeError, match="Must be opened first"):
            read()
    with handle:
        assert repr(handle) == "[Opened] Datahandle: MultiHandle"
        assert handle.read(8) == b"step 0st"
        assert handle.read() == b"ep 6step 12"
        assert handle.read() == handle.read(5) == b""
    assert repr(handle) == "[Closed] Datahandle: MultiHandle"
    with handle:
        assert handle.read(4) == b"step"
        assert handle.readall() == b" 0step 6step 12"
    with pytest.raises(TypeError):
        pyfdb.DataHandle(None)  # type: ignore[arg-type]


def test_a_short_read_has_no_padding(fdb: pyfdb.FDB) -> None:
    with fdb.retrieve(KEY) as handle:
        handle.read(3)
        assert handle.read(100) == b"p 0"
        assert handle.readinto(bytearray(100)) == 0
    buffer = bytearray(b"........")
    with fdb.retrieve(KEY) as handle:
        assert handle.readinto(memoryview(buffer)) == 6
    assert buffer == b"step 0.."


def test_a_handle_is_copied_as_a_file(fdb: pyfdb.FDB) -> None:
    out = io.BytesIO()
    with fdb.retrieve(key(step="0/6")) as handle:
        shutil.copyfileobj(handle, out, 5)
    assert out.getvalue() == b"step 0step 6"


def test_ecCodes_reads_a_handle_that_is_not_open(fdb_config: dict[str, Any]) -> None:  # noqa: N802
    with pyfdb.FDB(fdb_config) as fdb:
        fdb.archive(on_level(0) + on_level(6))
    import eccodes

    selection = {name: values[0] for name, values in fdb.axes({}).items()} | {"step": "0/6"}
    steps = [one.get("step") for one in eccodes.StreamReader(fdb.retrieve(selection))]
    assert steps == [0, 6]


def test_an_empty_answer_is_a_handle_of_size_zero(fdb: pyfdb.FDB) -> None:
    incomplete = {name: value for name, value in KEY.items() if name != "step"}
    for selection in (key(step="99"), key(date="20250101"), incomplete):
        assert fdb.retrieve(selection).size() == 0
        with fdb.retrieve(selection) as handle:
            assert handle.read() == handle.read(4) == b""
        assert list(fdb.inspect(selection)) == []
    with pytest.raises(TypeError, match="Wildcard"):
        fdb.retrieve({})


def test_a_key_that_the_schema_lacks_is_ignored_where_one_field_is_meant(fdb: pyfdb.FDB) -> None:
    assert fdb.retrieve(key(number="1")).readall() == b"step 0"
    assert list(fdb.list(key(number="1"))) == []


def test_a_damaged_field_is_an_error_and_the_next_one_is_read(fdb: pyfdb.FDB, tmp_path: Path) -> None:
    (place,) = {file for file in (tmp_path / "root").rglob("data/*") if b"step 6" in file.read_bytes()}
    place.write_bytes(place.read_bytes().replace(b"step 6", b"stop 6"))
    with fdb.retrieve(key(step="0/6/12")) as handle:
        assert handle.read(12) == b"step 0"
        with pytest.raises(isotach.CorruptError, match="step=6"):
            handle.read(12)
        assert handle.read(12) == b"step 12"
    with pytest.raises(isotach.CorruptError):
        fdb.retrieve(key(step="0/6/12")).readall()


def test_a_handle_that_has_read_sees_later_fields(fdb: pyfdb.FDB, fdb_config: dict[str, Any]) -> None:
    assert fdb.retrieve(key(step="24")).size() == 0
    with pyfdb.FDB(fdb_config) as other:
        other.archive(b"later", key(step="24"))
    assert fdb.retrieve(key(step="24")).readall() == b"later"


def test_threads_share_an_fdb_and_a_handle(fdb: pyfdb.FDB) -> None:
    with fdb.retrieve(key(step="0/6/12")) as handle:
        found: list[bytes] = []

        def work() -> None:
            while piece := handle.read(1):
                found.append(piece)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == sorted(bytes([one]) for one in b"step 0step 6step 12")


def test_an_fdb_and_axes_are_pickled(fdb: pyfdb.FDB) -> None:
    assert len(list(pickle.loads(pickle.dumps(fdb)).list({}))) == 4
    assert pickle.loads(pickle.dumps(fdb.axes({}))) == fdb.axes({})


# Listing


def test_the_elements_of_a_listing_have_keys_and_places(fdb: pyfdb.FDB) -> None:
    (element,) = fdb.list(key(step="6"))
    assert element.has_location()
    assert element.length() == 6
    assert element.combined_key() == key(step="6")
    assert list(element.combined_key()) == sorted(KEY)
    dataset, collocation, field = element.keys()
    assert dataset["date"] == "20240101"
    assert collocation == {"levtype": "sfc", "type": "fc"}
    assert field == {"param": "138", "step": "6"}
    assert element.data_handle is not None and element.data_handle.readall() == b"step 6"
    assert element.uri is not None and element.uri.scheme() == "posix"
    assert element.timestamp() is not None
    head = "{class=rd,expver=xxxx,stream=oper,date=20240101,time=0000,domain=g}{type=fc,levtype=sfc}{step=6,param=138}"
    assert repr(element).startswith(f"{head},TocFieldLocation[uri=URI[scheme=posix,name=")
    assert repr(element).endswith(
        f"],offset={element.offset()},length=6,remapKey={{}}],length=6,timestamp={element.timestamp()}"
    )
    with pytest.raises(AttributeError):
        element.uri = None  # type: ignore[misc]


def test_a_listing_of_a_higher_level_has_no_places(fdb: pyfdb.FDB) -> None:
    assert [len(list(fdb.list({}, level=level))) for level in (1, 2, 3)] == [2, 2, 4]
    # The datasets are not searched for the keys of fields.
    assert [len(list(fdb.list({"step": "6"}, level=level))) for level in (1, 2, 3)] == [2, 1, 1]
    element = next(fdb.list({"date": "20240102"}, level=2))
    assert element.keys()[1:] == [{"levtype": "sfc", "type": "fc"}, {}]
    assert not element.has_location()
    assert (
        element.offset()
        is element.length()
        is element.timestamp()
        is element.uri
        is element.data_handle
        is None
    )
    assert repr(element).endswith("{type=fc,levtype=sfc},length=0,timestamp=0")


def test_replaced_fields_are_listed_if_asked_for(fdb: pyfdb.FDB) -> None:
    with fdb:
        fdb.archive(b"again", KEY)
    assert len(list(fdb.list(KEY))) == 1
    assert len(list(fdb.list(KEY, include_masked=True))) == 2


def test_calls_in_the_style_of_pyfdb_0_1_work(fdb: pyfdb.FDB) -> None:
    for listing in (
        fdb.list(KEY, keys=True),
        fdb.list(KEY, True, True),
        fdb.list(KEY, duplicates=True, depth=3),
    ):
        (element,) = listing
        assert element["keys"] == KEY
        assert element["length"] == 6
        assert element["path"] == element.uri.path()
    assert len(list(fdb.list())) == 4
    with fdb:
        fdb.archive(b"by key", key=key(step="18"))
    assert fdb.retrieve(key(step="18")).readall() == b"by key"


def test_generators_do_nothing_before_they_are_consumed(fdb: pyfdb.FDB) -> None:
    wrong = fdb.list({"colour": "red"})
    with pytest.raises(RuntimeError, match=r"UserError: Cannot match \[colour\]"):
        next(wrong)
    fdb.wipe({}, doit=True)
    fdb.control({}, pyfdb.ControlAction.DISABLE, [pyfdb.ControlIdentifier.LIST])
    assert len(list(fdb.list({}))) == 4
    assert inspect.isgenerator(fdb.purge({}))


@pytest.mark.parametrize(
    ("selection", "error", "text"),
    [
        ({"param": ["131/132"]}, RuntimeError, "UserError: Bad value"),
        ({"date": ["20240101/to/20240103"]}, RuntimeError, "UserError: Bad value"),
        ({"param": "nonsense"}, RuntimeError, "UserError: Cannot match parameter"),
        ({"date": "nonsense"}, RuntimeError, "UserError: Bad value: date"),
        ({"step": []}, RuntimeError, "UserError: Bad value: step has no values"),
        ({"step": None}, ValueError, "value for key 'step' is not valid"),
        ({"step": {"a": 1}}, ValueError, "value for key 'step' is not valid"),
    ],
    ids=repr,
)
def test_a_wrong_selection_is_refused(
    fdb: pyfdb.FDB, selection: Any, error: type[Exception], text: str
) -> None:
    calls: list[Callable[[], object]] = [
        lambda: list(fdb.list(selection)),
        lambda: list(fdb.inspect({**KEY, **selection})),
        lambda: fdb.retrieve({**KEY, **selection}),
        lambda: fdb.axes(selection),
    ]
    for call in calls:
        with pytest.raises(error, match=text):
            call()


def test_ranges_are_given_as_text_or_as_words(fdb: pyfdb.FDB) -> None:
    for steps in ("0/to/12/by/6", ["0", "to", "12", "by", "6"], [0, 6, 12], range(0, 13, 6), ("0", 6, 12.0)):
        assert len(list(fdb.list({"step": steps, "date": 20240101}))) == 3, steps


def test_inspect_finds_the_fields_in_order(fdb: pyfdb.FDB) -> None:
    found = list(fdb.inspect({**KEY, "date": "20240102/20240101", "step": "6/0"}))
    assert [element.combined_key()["step"] for element in found] == ["0", "6", "0"]
    assert [element.keys()[0]["date"] for element in found] == ["20240102", "20240101", "20240101"]
    assert found[1].keys()[2] == {"param": "138", "step": "6"}
