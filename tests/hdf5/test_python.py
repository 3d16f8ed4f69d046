"""`isotach.hdf5`: transactions and snapshots of files that h5py and netCDF4 have open."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT, Connector

Run = Callable[[str], list[str]]
SOURCE = ROOT / "crates" / "python" / "python" / "isotach"
PRELUDE = """
import h5py, isotach.hdf5 as hdf5, numpy as np
def failure(act, *arguments, **named):
    try:
        act(*arguments, **named)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"
"""


@pytest.fixture
def python(isotach: Connector, tmp_path: Path) -> Run:
    """Runs a script in a folder. The package has only what the module needs: no other part of it is built."""
    package = tmp_path / "packages" / "isotach"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name in ("hdf5.py", "_hdf5_calls.py", "_hdf5_query.py", "_extras.py"):
        (package / name).symlink_to(SOURCE / name)

    def run(script: str) -> list[str]:
        done = isotach.run([sys.executable, "-c", PRELUDE + script], tmp_path, PYTHONPATH=str(package.parent))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()

    run("h5py.File('a.h5', 'w')['x'] = np.zeros(1000, int)")
    return run


def test_a_block_is_a_transaction(python: Run) -> None:
    told = python("""
with h5py.File("a.h5", "r+") as file:
    with hdf5.transaction(file, 1):
        file["x"][:] = 1
        file.flush()
        print(hdf5.started(file), hdf5.status(file, 1).state)
    print(hdf5.wait(file, 1, timeout=0).state, hdf5.version(file), hdf5.newest_version(file), hdf5.started(file))
    try:
        with hdf5.transaction(file, 2):
            file["x"][:] = 2
            raise KeyError("no")
    except KeyError:
        print(file["x"][0], hdf5.status(file, 2))
    hdf5.start(file, 3, 0, 2)
    file["x"][:] = 3
    hdf5.finish(file)
    print(hdf5.status(file, 3), hdf5.wait(file, 3, timeout=0.01).state, file["x"][0])
hdf5.abort("a.h5", 3)
print(hdf5.status("a.h5", 3).state, hdf5.status("a.h5", 4).state, hdf5.newest_version("a.h5"))
""")
    assert told == [
        "1 open",
        "committed 1 1 None",
        "1 Status(state='aborted', participants=0, finished=0, reason='by a program')",
        "Status(state='open', participants=2, finished=1, reason='') open 1",
        "aborted not-started 1",
    ]


def test_a_thread_waits_for_a_transaction_while_another_one_ends_it(python: Run) -> None:
    told = python("""
import threading
with h5py.File("a.h5", "r+") as file:
    hdf5.start(file, 1)
    found = []
    waiting = threading.Thread(target=lambda: found.append(hdf5.wait(file, 1).state))
    waiting.start()
    for value in range(20):
        file["x"][:] = value
    hdf5.finish(file)
    waiting.join()
    print(found, hdf5.version(file), file["x"][0])
""")
    assert told == ["['committed'] 1 19"]


def test_snapshots_are_created_opened_listed_and_removed(python: Run) -> None:
    told = python("""
with h5py.File("a.h5", "r+") as file:
    with hdf5.transaction(file, 1):
        file["x"][:] = 1
    hdf5.create_snapshot(file, "monday")
    file["x"][:] = 2
hdf5.create_snapshot("a.h5", "tuesday")
for past in ({"snapshot": "monday"}, {"snapshot": "tuesday"}, {"version": 1}, {}):
    with hdf5.open("a.h5", **past) as file:
        print(file["x"][0], file.mode)
print(hdf5.snapshots("a.h5"))
hdf5.remove_snapshot("a.h5", "monday")
with h5py.File("a.h5", "r") as file:
    print([snapshot.name for snapshot in hdf5.snapshots(file)])
print(hdf5.sweep("a.h5"))
""")
    assert told == [
        "1 r",
        "2 r",
        "2 r",
        "2 r",
        "[Snapshot(name='monday', version=1), Snapshot(name='tuesday', version=1)]",
        "['tuesday']",
        "0",
    ]


def test_failures_are_errors_of_python_with_the_reason(python: Run) -> None:
    told = python("""
with h5py.File("a.h5", "r+") as file:
    with hdf5.transaction(file, 1):
        file["x"][0] = 1
    print(failure(hdf5.start, file, 1))
    print(failure(hdf5.finish, file))
    print(failure(hdf5.start, file, -1))
    print(failure(hdf5.start, file, 2, -1, 1))
    print(failure(hdf5.start, file, 2, 0, 1 << 32))
    print(failure(hdf5.remove_snapshot, file, "none"))
    print(failure(hdf5.create_snapshot, file, "a b"))
    print(failure(hdf5.create_snapshot, file, "a\\0b"))
with h5py.File("a.h5", "r") as file:
    print(failure(hdf5.start, file, 2))
    print(failure(hdf5.start, file["x"], 2))
print(failure(hdf5.open, "a.h5", snapshot="none"))
print(failure(hdf5.open, "a.h5", version=9))
print(failure(hdf5.open, "a.h5", snapshot="one", version=9))
print(failure(hdf5.status, file, 1))
""")
    for line, (kind, text) in zip(
        told,
        [
            (
                "OSError",
                "start of transaction 1 of file a.h5, which is committed: expected a number from 2 on",
            ),
            ("OSError", "finish of a transaction of file a.h5: expected one that was started"),
            ("ValueError", "transaction -1: expected a number"),
            ("ValueError", "participant -1: expected a number"),
            ("ValueError", "participants 4294967296: expected a number"),
            ("OSError", "snapshot none of file a.h5 does not exist"),
            ("OSError", "expected 1 to 127"),
            ("ValueError", "expected a name without NUL"),
            ("OSError", "for reading only"),
            ("TypeError", "expected an open h5py.File"),
            ("FileNotFoundError", "snapshot none of file a.h5"),
            ("FileNotFoundError", "version 9 of file a.h5"),
            ("OSError", "expected one of them"),
            ("OSError", "expected that of an open file"),
        ],
        strict=True,
    ):
        assert line.startswith(f"{kind}: ") and text in line, line


@pytest.mark.parametrize("first", ["h5py", "netCDF4"])
def test_both_wheels_in_one_process_keep_their_files_apart(first: str, python: Run) -> None:
    # The ids of both libraries look alike.
    told = python(f"""
import {first}
import netCDF4
other = netCDF4.Dataset("b.nc", "w")
other.createDimension("t", 3)
other.createVariable("v", "i4", ("t",))[:] = 7
with h5py.File("a.h5", "r+") as file:
    with hdf5.transaction(file, 1):
        file["x"][:] = 1
        print(failure(hdf5.newest_version, "b.nc"))
    print(hdf5.newest_version(file), file["x"][0])
other.sync()
hdf5.start(there := h5py.File("b.nc", "r+"), 1)
other["v"][:] = 8
other.sync()
print(h5py.File("b.nc", "r")["v"][0], hdf5.newest_version(there))
hdf5.finish(there)
print(other["v"][0], hdf5.newest_version(there))
there.close()
other.close()
hdf5.create_snapshot("b.nc", "s")
print(netCDF4.Dataset("b.nc")["v"][0], hdf5.snapshots("b.nc"))
""")
    assert told == ["no error", "1 1", "8 0", "8 1", "8 [Snapshot(name='s', version=1)]"]


def test_a_connector_that_is_not_there_is_named(isotach: Connector, python: Run, tmp_path: Path) -> None:
    native = Connector({})
    script = PRELUDE + "h5py.File('n.h5', 'w').close()\nprint(failure(hdf5.newest_version, 'n.h5'))"
    done = native.run([sys.executable, "-c", script], tmp_path, PYTHONPATH=str(tmp_path / "packages"))
    assert done.returncode == 0 and "no libisotach_vol.so in HDF5_PLUGIN_PATH" in done.stdout, (
        done.stdout + done.stderr
    )
