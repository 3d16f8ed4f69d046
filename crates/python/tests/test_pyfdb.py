"""The interface of pyfdb over a store."""

from __future__ import annotations

import gc
import inspect
import io
import json
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import isotach
import isotach.pyfdb as pyfdb
import pytest

from test_grib import message

SCHEMA = """
param: Param; step: Step; date: Date; levelist: Double; expver: Expver; time: Time;
[ class, expver, stream, date, time, domain? [ type, levtype [ step, levelist?, param ]]]
"""
KEY = {
    "class": "rd",
    "expver": "xxxx",
    "stream": "oper",
    "date": "20240101",
    "time": "0000",
    "domain": "g",
    "type": "fc",
    "levtype": "sfc",
    "step": "0",
    "param": "138",
}


def key(**changes: str) -> dict[str, str]:
    """The key of a field."""
    return {**KEY, **changes}


@pytest.fixture
def config(tmp_path: Path) -> dict[str, Any]:
    """A configuration in FDB's form, whose root is empty."""
    (tmp_path / "schema").write_text(SCHEMA)
    (tmp_path / "root").mkdir()
    roots = [{"path": str(tmp_path / "root")}]
    return {
        "type": "local",
        "engine": "toc",
        "schema": str(tmp_path / "schema"),
        "spaces": [{"handler": "Default", "roots": roots}],
    }


@pytest.fixture
def fdb(config: dict[str, Any]) -> pyfdb.FDB:
    """An FDB with steps 0, 6 and 12 on one day, and step 0 on the next."""
    fdb = pyfdb.FDB(config)
    for step in ("0", "6", "12"):
        fdb.archive(f"step {step}".encode(), key(step=step))
    fdb.archive(b"next day", key(date="20240102"))
    fdb.flush()
    return fdb


# The store


def test_making_an_fdb_touches_no_file(config: dict[str, Any], tmp_path: Path) -> None:
    fdb = pyfdb.FDB(config)
    assert list(fdb.list({})) == []
    assert list(fdb.status({})) == []
    assert fdb.axes({}) == {}
    assert fdb.retrieve(KEY).readall() == b""
    assert list(fdb.wipe({}, doit=True)) == []
    assert not any((tmp_path / "root").iterdir())
    fdb.archive(b"x", KEY)
    assert any((tmp_path / "root").iterdir())


def test_a_root_with_other_files_is_refused(config: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "root" / "rd:xxxx").mkdir()
    with pytest.raises(RuntimeError, match="is not an Isotach pool"):
        list(pyfdb.FDB(config).list({}))
    with pytest.raises(RuntimeError, match="holds other files"):
        pyfdb.FDB(config).archive(b"x", KEY)


def test_a_root_that_does_not_exist_is_no_empty_answer(config: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "root").rmdir()
    with pytest.raises(isotach.NotFoundError, match="root"):
        list(pyfdb.FDB(config).list({}))


def test_every_form_of_a_configuration_names_the_same_store(
    fdb: pyfdb.FDB, config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, home = tmp_path / "config.yaml", tmp_path / "home" / "etc" / "fdb"
    file.write_text(json.dumps(config))
    home.mkdir(parents=True)
    shutil.copy(file, home / "config.yaml")
    root = tmp_path / "root"
    for form in (
        config,
        json.dumps(config),
        json.dumps(config, indent=1),
        file,
        f"posix:{root}",
        str(root),
        root,
    ):
        assert len(list(pyfdb.FDB(form).list({}))) == 4, form
    for name in ("ISOTACH_STORE", "ISOTACH_CONFIG", "FDB_CONFIG", "FDB_CONFIG_FILE", "FDB_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "FDB_HOME": str(home.parents[1]),
        "FDB5_CONFIG_FILE": str(file),
        "FDB5_CONFIG": json.dumps(config),
        "ISOTACH_STORE": f"posix:{root}",
    }.items():
        monkeypatch.setenv(name, value)
        assert len(list(pyfdb.FDB().list({}))) == 4, name
        monkeypatch.delenv(name)
    with pytest.raises(ValueError, match="Config: Unknown config type, must be str, dict or Path"):
        pyfdb.FDB(0)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        pyfdb.FDB(tmp_path / "none.yaml")


def test_the_configurations_are_returned(config: dict[str, Any]) -> None:
    assert pyfdb.FDB(config).config() == (config, {})
    assert pyfdb.FDB(json.dumps(config), {"useSubToc": True}).config() == (config, {"useSubToc": True})
    assert pyfdb.FDB(config, userconfig={"useSubToc": True}).config()[1] == {"useSubToc": True}
    assert "user_config" in inspect.signature(pyfdb.FDB.__init__).parameters


def test_switches_of_the_configuration_tell_what_is_enabled(config: dict[str, Any]) -> None:
    identifiers = pyfdb.ControlIdentifier
    assert all(pyfdb.FDB(config).enabled(one) for one in identifiers)
    fdb = pyfdb.FDB({**config, "writable": False})
    assert [one for one in identifiers if not fdb.enabled(one)] == [identifiers.ARCHIVE, identifiers.WIPE]
    fdb = pyfdb.FDB({**config, "visitable": False})
    assert [one for one in identifiers if not fdb.enabled(one)] == [identifiers.LIST, identifiers.RETRIEVE]


# Archiving


def test_what_was_archived_is_visible_after_a_flush(config: dict[str, Any]) -> None:
    fdb = pyfdb.FDB(config)
    assert not fdb.dirty()
    fdb.archive(b"x", KEY)
    assert fdb.dirty()
    assert fdb.retrieve(KEY).readall() == b""
    fdb.flush()
    assert not fdb.dirty()
    assert fdb.retrieve(KEY).readall() == b"x"


def test_a_block_a_drop_and_the_end_of_the_program_flush(config: dict[str, Any]) -> None:
    with pytest.raises(KeyError), pyfdb.FDB(config) as fdb:
        fdb.archive(b"block", key(step="0"))
        raise KeyError
    assert pyfdb.FDB(config).retrieve(key(step="0")).readall() == b"block"
    dropped = pyfdb.FDB(config)
    dropped.archive(b"dropped", key(step="6"))
    del dropped
    gc.collect()
    assert pyfdb.FDB(config).retrieve(key(step="6")).readall() == b"dropped"
    code = f"import isotach.pyfdb as p; fdb = p.FDB({config!r}); fdb.archive(b'end', {key(step='12')!r})"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)
    assert pyfdb.FDB(config).retrieve(key(step="12")).readall() == b"end"


def test_messages_are_archived_under_the_keys_that_they_carry(config: dict[str, Any]) -> None:
    with pyfdb.FDB(config) as fdb:
        fdb.archive(message(0) + message(6))
    request = {"class": "od", "expver": 1, "stream": "oper", "domain": "g", "date": 20240101, "time": 0}
    request |= {"type": "fc", "levtype": "pl", "levelist": 500, "param": "t", "step": [6, 0]}
    assert fdb.retrieve(request).readall() == message(6) + message(0)
    with pytest.raises(RuntimeError, match="Cannot find a metkit SplitterBuilder"):
        fdb.archive(b"no message")


@pytest.mark.parametrize(
    ("identifier", "error", "text"),
    [
        ([("class", "rd"), ("class", "od")], KeyError, "Key class already exists in Identifier"),
        ({"class": "rd/od"}, ValueError, "No list of values allowed"),
        ({"class": ["rd", "od"]}, ValueError, "No list of values allowed"),
        ("class=rd", ValueError, "Identifier: Unknown type"),
        ({"class": "rd"}, RuntimeError, "Could not find a rule to archive"),
        ({}, RuntimeError, "Could not find a rule to archive"),
    ],
    ids=repr,
)
def test_a_wrong_identifier_is_refused(
    config: dict[str, Any], identifier: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        pyfdb.FDB(config).archive(b"x", identifier)


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


def test_ecCodes_reads_a_handle_that_is_not_open(config: dict[str, Any]) -> None:  # noqa: N802
    with pyfdb.FDB(config) as fdb:
        fdb.archive(message(0) + message(6))
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


def test_a_handle_that_has_read_sees_later_fields(fdb: pyfdb.FDB, config: dict[str, Any]) -> None:
    assert fdb.retrieve(key(step="24")).size() == 0
    with pyfdb.FDB(config) as other:
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


def test_axes_are_a_dictionary_that_cannot_be_changed(fdb: pyfdb.FDB) -> None:
    axes = fdb.axes({})
    assert axes["step"] == ["0", "12", "6"]
    assert axes["levelist"] == [""]
    assert list(axes) == sorted([*KEY, "levelist"])
    assert [len(fdb.axes({}, level=level)) for level in (1, 2, 3)] == [6, 8, 11]
    assert fdb.axes({"class": "od"}) == {}
    assert axes.has_key("step") and "colour" not in axes
    assert fdb.axes({"step": 6, "date": "20240101"}) == key(step="6", levelist="")
    assert repr(pyfdb.IndexAxis({"b": "x", "a": [1, "2"]})) == "IndexAxis[axis={a=(1,2),b=(x)}]"
    with pytest.raises(KeyError, match="Couldn't find key: colour in IndexAxis."):
        axes["colour"]
    for change in (lambda: axes.update(a="b"), lambda: axes.__setitem__("a", "b"), axes.clear, axes.popitem):
        with pytest.raises(TypeError, match="read-only"):
            change()
    with pytest.raises(TypeError):
        pyfdb.IndexAxis(5)  # type: ignore[arg-type]


# Datasets


def test_locks_are_shown_and_obeyed_at_once(fdb: pyfdb.FDB) -> None:
    action, identifier = pyfdb.ControlAction, pyfdb.ControlIdentifier
    locks = [identifier.LIST, identifier.RETRIEVE, identifier.ARCHIVE, identifier.WIPE]
    day = {"date": "20240101"}
    (changed,) = fdb.control(day, action.DISABLE, [*locks, identifier.UNIQUEROOT])
    assert isinstance(changed, pyfdb.ControlElement)
    assert changed.controlIdentifiers() == locks
    assert changed.key()["date"] == ["20240101"]
    assert "rd:xxxx:oper:20240101" in str(changed.location())
    assert changed == next(fdb.status(day))
    assert [element.controlIdentifiers() for element in fdb.status({})] == [locks, []]
    assert len(list(fdb.list({}))) == len(list(fdb.list({}, level=1))) == 1
    both = {**KEY, "date": "20240101/20240102"}
    assert fdb.retrieve(both).size() == 8
    assert fdb.retrieve(both).readall() == b"next day"
    assert len(list(fdb.inspect(both))) == 1
    with pytest.raises(RuntimeError, match=" matched for archived is LOCKED against archiving"):
        fdb.archive(b"x", KEY)
    with pytest.raises(RuntimeError, match="locked"):
        list(fdb.wipe(day, doit=True))
    assert [one.controlIdentifiers() for one in fdb.control(day, action.ENABLE, locks)] == [[]]
    assert len(list(fdb.list({}))) == 4


def test_a_wipe_says_what_goes_and_then_removes_it(fdb: pyfdb.FDB) -> None:
    kinds = ["CATALOGUE_INFO", "CATALOGUE", "CATALOGUE_INDEX", "STORE"]
    day = {"date": "20240101"}
    elements = list(fdb.wipe(day))
    assert [element.type().name for element in elements] == kinds
    assert elements[0].msg() == "[Database: rd:xxxx:oper:20240101:0000:g]"
    assert [uri.scheme() for uri in elements[1].uris()] == ["posix"]
    assert len(list(fdb.list({}))) == 4
    assert len(list(fdb.wipe(day, doit=True))) == 4
    assert len(list(fdb.list({}))) == 1
    with pytest.raises(RuntimeError, match="UserError: .*tell single fields apart"):
        list(fdb.wipe({"step": "0"}))
    assert len(list(fdb.wipe({}, doit=True))) == 4
    assert list(fdb.list({})) == []


def test_a_purge_reports_and_frees_replaced_fields(fdb: pyfdb.FDB) -> None:
    with fdb:
        fdb.archive(b"again", KEY)
    report = [str(line) for line in fdb.purge({"date": "20240101"})]
    assert "    Duplicated fields               : 1" in report
    assert list(fdb.purge({}, doit=True, porcelain=True)) == []
    assert len(list(fdb.list({}, include_masked=True))) == 4


def test_statistics_count_the_whole_dataset(fdb: pyfdb.FDB) -> None:
    with fdb:
        fdb.archive(b"again", KEY)
    (stats,) = fdb.stats({"date": "20240101", "step": "6"})
    assert "Fields                          : 4\n" in stats.index_statistics()
    assert "Reachable size                  : 18 (18 bytes)\n" in stats.index_statistics()
    assert "Duplicated fields               : 1\n" in stats.index_statistics()
    assert stats.db_statistics().startswith("Databases                       : 1\n")
    assert (
        str(stats)
        == f"Index Statistics: \n{stats.index_statistics()}\nDB Statistics: \n{stats.db_statistics()}"
    )


# Additions, and the module


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("date", "20240228/to/20240301", ["20240228", "20240229", "20240301"]),
        ("date", "2024-01-31/2024-032/20240131", ["20240131", "20240201"]),
        ("date", "-1/to/0", ["20240531", "20240601"]),
        ("time", "0/6/12:00", ["0000", "0600", "1200"]),
        ("time", "0/to/18", ["0000", "0600", "1200", "1800"]),
        ("step", "0/to/24", ["0", "12", "24"]),
        ("step", "12/to/0/by/-6", ["12", "6", "0"]),
        ("number", ["1", "to", "3", "7"], ["1", "2", "3", "7"]),
        ("expver", 1, ["0001"]),
        ("param", "130.128/T", ["130", "t"]),
    ],
    ids=repr,
)
def test_a_selection_is_expanded(
    monkeypatch: pytest.MonkeyPatch, name: str, value: Any, expected: list[str]
) -> None:
    monkeypatch.setenv("ISOTACH_TODAY", "2024-06-01")
    assert pyfdb.FDB({"spaces": []}).expand({name: value}) == {name: expected}


def test_install_takes_the_place_of_pyfdb() -> None:
    code = (
        "import isotach.pyfdb; isotach.pyfdb.install(); isotach.pyfdb.install(); import pyfdb, importlib.util;"
        "from pyfdb.pyfdb_type import UserInputMapper; from pyfdb._internal.pyfdb_internal import FDBToolRequest;"
        "from pyfdb.pyfdb_iterator import WipeElementType; import pyfdb.pyfdb;"
        "assert pyfdb is isotach.pyfdb and pyfdb.pyfdb.FDB is isotach.pyfdb.FDB;"
        "assert importlib.util.find_spec('pyfdb') is not None"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)
    code = (
        "import sys, types; sys.modules['pyfdb'] = types.ModuleType('pyfdb');"
        "import isotach.pyfdb; isotach.pyfdb.install()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "call isotach.pyfdb.install() before the first import of pyfdb" in run.stderr


def test_a_script_runs_with_the_module_in_place_of_pyfdb(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import pyfdb, sys, helper\nprint(pyfdb.__name__, sys.argv[1:], __name__, helper.HERE)")
    (tmp_path / "helper.py").write_text("HERE = 'beside'")
    command = [sys.executable, "-m", "isotach.pyfdb", str(script), "--flag", "value"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout == "isotach.pyfdb ['--flag', 'value'] __main__ beside\n"
    module = [sys.executable, "-m", "isotach.pyfdb"]
    assert subprocess.run(module, capture_output=True, timeout=60).returncode == 2
    told = subprocess.run([*module, "--print-home"], capture_output=True, text=True, timeout=60)
    assert f"fdb {pyfdb.__version__} (isotach {isotach.__version__})" in told.stderr


def test_yaml_without_its_package_names_the_extra(tmp_path: Path) -> None:
    config = "type: local\nspaces: []\n"
    code = (
        "import sys; sys.modules['yaml'] = None\nimport isotach.pyfdb\n"
        f"try: isotach.pyfdb.FDB({config!r}).config()\nexcept ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "pip install isotach[pyfdb]" in run.stdout, run.stderr


def test_a_forked_child_reads_and_leaves_the_flush_to_its_parent(config: dict[str, Any]) -> None:
    code = f"""
import os, isotach.pyfdb
fdb = isotach.pyfdb.FDB({config!r})
fdb.archive(b"first", {KEY!r})
fdb.flush()
fdb.archive(b"of the parent", {key(step="6")!r})
child = os.fork()
if child == 0:
    # It ends as a program does, which flushes.
    raise SystemExit(not (fdb.retrieve({KEY!r}).readall() == b"first" and not fdb.dirty()))
assert os.waitpid(child, 0)[1] == 0
assert fdb.retrieve({key(step="6")!r}).size() == 0
fdb.flush()
assert fdb.retrieve({key(step="6")!r}).readall() == b"of the parent"
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
