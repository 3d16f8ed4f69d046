"""What names the store of isotach.pyfdb, archiving into it, and the module itself."""

from __future__ import annotations

import gc
import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import isotach
import isotach.pyfdb as pyfdb
import pytest

from grib_messages import on_level
from pyfdb_keys import KEY, key

# The store


def test_making_an_fdb_touches_no_file(fdb_config: dict[str, Any], tmp_path: Path) -> None:
    fdb = pyfdb.FDB(fdb_config)
    assert list(fdb.list({})) == []
    assert list(fdb.status({})) == []
    assert fdb.axes({}) == {}
    assert fdb.retrieve(KEY).readall() == b""
    assert list(fdb.wipe({}, doit=True)) == []
    assert not any((tmp_path / "root").iterdir())
    fdb.archive(b"x", KEY)
    assert any((tmp_path / "root").iterdir())


def test_a_root_with_other_files_is_refused(fdb_config: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "root" / "rd:xxxx").mkdir()
    with pytest.raises(RuntimeError, match="is not an Isotach pool"):
        list(pyfdb.FDB(fdb_config).list({}))
    with pytest.raises(RuntimeError, match="holds other files"):
        pyfdb.FDB(fdb_config).archive(b"x", KEY)


def test_a_root_that_does_not_exist_is_no_empty_answer(fdb_config: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "root").rmdir()
    with pytest.raises(isotach.NotFoundError, match="root"):
        list(pyfdb.FDB(fdb_config).list({}))


def test_every_form_of_a_configuration_names_the_same_store(
    fdb: pyfdb.FDB, fdb_config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, home = tmp_path / "config.yaml", tmp_path / "home" / "etc" / "fdb"
    file.write_text(json.dumps(fdb_config))
    home.mkdir(parents=True)
    shutil.copy(file, home / "config.yaml")
    root = tmp_path / "root"
    for form in (
        fdb_config,
        json.dumps(fdb_config),
        json.dumps(fdb_config, indent=1),
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
        "FDB5_CONFIG": json.dumps(fdb_config),
        "ISOTACH_STORE": f"posix:{root}",
    }.items():
        monkeypatch.setenv(name, value)
        assert len(list(pyfdb.FDB().list({}))) == 4, name
        monkeypatch.delenv(name)
    with pytest.raises(ValueError, match="Config: Unknown config type, must be str, dict or Path"):
        pyfdb.FDB(0)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        pyfdb.FDB(tmp_path / "none.yaml")


def test_the_configurations_are_returned(fdb_config: dict[str, Any]) -> None:
    assert pyfdb.FDB(fdb_config).config() == (fdb_config, {})
    assert pyfdb.FDB(json.dumps(fdb_config), {"useSubToc": True}).config() == (
        fdb_config,
        {"useSubToc": True},
    )
    assert pyfdb.FDB(fdb_config, userconfig={"useSubToc": True}).config()[1] == {"useSubToc": True}
    assert "user_config" in inspect.signature(pyfdb.FDB.__init__).parameters


def test_switches_of_the_configuration_tell_what_is_enabled(fdb_config: dict[str, Any]) -> None:
    identifiers = pyfdb.ControlIdentifier
    assert all(pyfdb.FDB(fdb_config).enabled(one) for one in identifiers)
    fdb = pyfdb.FDB({**fdb_config, "writable": False})
    assert [one for one in identifiers if not fdb.enabled(one)] == [identifiers.ARCHIVE, identifiers.WIPE]
    fdb = pyfdb.FDB({**fdb_config, "visitable": False})
    assert [one for one in identifiers if not fdb.enabled(one)] == [identifiers.LIST, identifiers.RETRIEVE]


# Archiving


def test_what_was_archived_is_visible_after_a_flush(fdb_config: dict[str, Any]) -> None:
    fdb = pyfdb.FDB(fdb_config)
    assert not fdb.dirty()
    fdb.archive(b"x", KEY)
    assert fdb.dirty()
    assert fdb.retrieve(KEY).readall() == b""
    fdb.flush()
    assert not fdb.dirty()
    assert fdb.retrieve(KEY).readall() == b"x"


def test_a_block_a_drop_and_the_end_of_the_program_flush(fdb_config: dict[str, Any]) -> None:
    with pytest.raises(KeyError), pyfdb.FDB(fdb_config) as fdb:
        fdb.archive(b"block", key(step="0"))
        raise KeyError
    assert pyfdb.FDB(fdb_config).retrieve(key(step="0")).readall() == b"block"
    dropped = pyfdb.FDB(fdb_config)
    dropped.archive(b"dropped", key(step="6"))
    del dropped
    gc.collect()
    assert pyfdb.FDB(fdb_config).retrieve(key(step="6")).readall() == b"dropped"
    code = f"import isotach.pyfdb as p; fdb = p.FDB({fdb_config!r}); fdb.archive(b'end', {key(step='12')!r})"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)
    assert pyfdb.FDB(fdb_config).retrieve(key(step="12")).readall() == b"end"


def test_messages_are_archived_under_the_keys_that_they_carry(fdb_config: dict[str, Any]) -> None:
    with pyfdb.FDB(fdb_config) as fdb:
        fdb.archive(on_level(0) + on_level(6))
    request = {"class": "od", "expver": 1, "stream": "oper", "domain": "g", "date": 20240101, "time": 0}
    request |= {"type": "fc", "levtype": "pl", "levelist": 500, "param": "t", "step": [6, 0]}
    assert fdb.retrieve(request).readall() == on_level(6) + on_level(0)
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
    fdb_config: dict[str, Any], identifier: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        pyfdb.FDB(fdb_config).archive(b"x", identifier)


# Additions, and the module


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("date", "20240228/to/20240301", ["20240228", "20240229", "20240301"]),
        ("date", "2024-01-31/2024-032/20240131", ["20240131", "20240201", "20240131"]),
        ("date", "-1/to/0", ["20240531", "20240601"]),
        ("time", "0/6/12:00", ["0000", "0600", "1200"]),
        ("time", "0/to/18", ["0000", "0600", "1200", "1800"]),
        ("step", "0/to/24", ["0", "12", "24"]),
        ("step", "12/to/0/by/-6", ["12", "6", "0"]),
        ("step", "6h/1d/90m/ALL", ["6", "24", "1h30m", "all"]),
        ("step", "0/to/2/by/30m", ["0", "30m", "1", "1h30m", "2"]),
        ("step", "0-24/to/48-72/by/24", ["0-24", "24-48", "48-72"]),
        ("levelist", "500.0/850", ["500", "850"]),
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


def test_a_forked_child_reads_and_leaves_the_flush_to_its_parent(fdb_config: dict[str, Any]) -> None:
    code = f"""
import os, isotach.pyfdb
fdb = isotach.pyfdb.FDB({fdb_config!r})
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
