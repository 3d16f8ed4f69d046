"""pyfdb 0.1.3, which calls FDB's C library through cffi with a header of its own, on our libfdb5."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from needs import skip

from conftest import ROOT

PYFDB = Path(sys.prefix) / "pyfdb-0.1.3"
SCHEMA = ROOT / "tests" / "parity" / "schema"

PROGRAM = """
import sys

import pyfdb
from pyfdb.pyfdb import FDBException, Key, Request, lib

assert lib.path.startswith(sys.argv[1]), lib.path
surface = {
    "class": "rd", "expver": "xxxx", "stream": "oper", "date": "20240101", "time": "0000", "domain": "g",
    "type": "an", "levtype": "sfc", "param": "167",
}
config = {
    "type": "local", "engine": "toc", "schema": sys.argv[2],
    "spaces": [{"handler": "Default", "roots": [{"path": sys.argv[3]}]}],
}
fdb = pyfdb.FDB(config=config, user_config={"useSubToc": True})
fdb.archive(b"zero", key=surface | {"step": "0"})
fdb.archive(b"six", key=Key(surface | {"step": "6"}))
assert list(fdb.list(keys=True)) == [], "not before the flush"
fdb.flush()
fdb.archive(b"another six", key=surface | {"step": "6"})
fdb.flush()

found = list(fdb.list(surface | {"step": ["0", "6", "12"]}, duplicates=True, keys=True))
assert sorted((one["keys"]["step"], one["length"]) for one in found) == [("0", 4), ("6", 11)], found
assert all(one["keys"] == surface | {"step": one["keys"]["step"]} for one in found)
assert len(list(fdb.list(surface | {"step": "0/to/12/by/6"}))) == 3, "with the replaced field, as in FDB"
assert [one["keys"] for one in fdb.list(duplicates=True, keys=True, depth=1)] == [
    {name: surface[name] for name in ("class", "date", "domain", "expver", "stream", "time")}
]

reader = fdb.retrieve(surface | {"step": "6/0", "param": "2t", "time": "0"})
assert reader.size() == 15
assert reader.read() == b"another sixzero"
assert reader.tell() == 15
reader.seek(8)
reader.skip(3)
assert reader.read(2) == b"ze"
reader.close()
assert fdb.retrieve(surface | {"step": "12"}).read() == b""

request = Request(surface | {"step": "0/to/12/by/6"})
request.expand()
messages = open(sys.argv[4], "rb").read()
forecast = {
    "class": "od", "expver": "0001", "stream": "oper", "date": "20240101", "time": "0000", "domain": "g",
    "type": "fc", "levtype": "pl", "step": ["0", "6"], "levelist": ["500", "850"], "param": "130",
}
fdb.archive(messages, request=forecast)
fdb.flush()
assert len(list(fdb.list(forecast, duplicates=True))) == 4
with fdb.retrieve(forecast) as reader:
    assert reader.read() == messages

for call, reason in [
    (lambda: fdb.archive(messages, request=forecast | {"step": "0"}), "unexpected message"),
    (lambda: fdb.archive(b"no message"), "GRIB"),
    (lambda: fdb.archive(b"x", key={"class": "od"}), "no rule of the schema fits"),
    (lambda: fdb.retrieve(forecast | {"date": "notaday"}), "date"),
    (lambda: pyfdb.FDB(config={"type": "remote", "host": "x", "port": 1}), "type remote"),
]:
    try:
        call()
    except FDBException as error:
        assert reason in str(error), error
    else:
        raise AssertionError(reason)
print("done")
"""


@pytest.fixture
def messages(tmp_path: Path) -> Path:
    """Four messages, of two steps and two levels."""
    if importlib.util.find_spec("eccodes") is None:
        skip("python", "not installed: eccodes: pip install -r tests/requirements.txt")
    import eccodes

    path = tmp_path / "four.grib"
    names = {"setLocalDefinition": 1, "class": "od", "expver": "0001", "stream": "oper", "type": "fc"}
    with path.open("wb") as file:
        for step, level in ((0, 500), (0, 850), (6, 500), (6, 850)):
            handle = eccodes.codes_grib_new_from_samples("regular_ll_pl_grib2")
            values = {"dataDate": 20240101, "dataTime": 0, "step": step, "level": level, "paramId": 130}
            for name, value in (names | values).items():
                eccodes.codes_set(handle, name, value)
            eccodes.codes_write(handle, file)
            eccodes.codes_release(handle)
    return path


def test_pyfdb_archives_lists_and_retrieves_on_our_library(
    prefix: Path, messages: Path, tmp_path: Path
) -> None:
    missing = [name for name in ("cffi", "findlibs", "packaging") if importlib.util.find_spec(name) is None]
    if missing or not (PYFDB / "pyfdb").is_dir():
        skip("python", f"no pyfdb 0.1.3 in {PYFDB}: `scripts/setup test` brings it")
    root = tmp_path / "root"
    root.mkdir()
    names = {"FINDLIBS_DISABLE_PACKAGE": "yes", "FDB5_DIR": str(prefix), "PYTHONPATH": str(PYFDB)}
    here = {name: value for name, value in os.environ.items() if not name.startswith(("FDB", "ISOTACH_"))}
    words = [prefix, SCHEMA, root, messages]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], env=here | names, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
