"""Snapshots: named versions of a file, as h5py, netCDF4 and `isotach h5` have them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from conftest import Connector
from test_h5_command import command, fails


def python(connector: Connector, folder: Path, text: str, **environment: str) -> str:
    """What a Python program prints that uses the connector."""
    done = connector.run([sys.executable, "-c", text], folder, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folder(isotach: Connector, tmp_path: Path) -> Path:
    """A folder with a file that has a snapshot `one` and was changed since."""
    python(isotach, tmp_path, "import h5py; h5py.File('a.h5', 'w')['x'] = [1, 2, 3]")
    assert command(tmp_path, "snapshot", "create", "a.h5", "one").stdout == "created snapshot one\n"
    python(isotach, tmp_path, "import h5py; h5py.File('a.h5', 'r+')['x'][:] = [4, 5, 6]")
    return tmp_path


def test_a_file_is_opened_at_a_snapshot_by_its_name(isotach: Connector, folder: Path) -> None:
    show = "import h5py; print(h5py.File('a.h5')['x'][:], h5py.File('a.h5@one')['x'][:])"
    assert python(isotach, folder, show) == "[4 5 6] [1 2 3]\n"
    link = "import h5py; h5py.File('b.h5', 'w')['e'] = h5py.ExternalLink('a.h5@one', '/x')"
    python(isotach, folder, link)
    assert python(isotach, folder, "import h5py; print(h5py.File('b.h5')['e'][:])") == "[1 2 3]\n"


def test_a_variable_opens_files_at_a_snapshot(isotach: Connector, folder: Path) -> None:
    show = "import h5py, netCDF4; print(h5py.File('a.h5')['x'][:], netCDF4.Dataset('a.h5')['x'][:])"
    assert python(isotach, folder, show, ISOTACH_H5_SNAPSHOT="one") == "[1 2 3] [1 2 3]\n"


def test_a_snapshot_is_neither_written_nor_invented(isotach: Connector, folder: Path) -> None:
    for name, mode, text in [
        ("a.h5@one", "r+", "for reading only"),
        ("a.h5@two", "r", "snapshot two of file a.h5"),
    ]:
        done = isotach.run([sys.executable, "-c", f"import h5py; h5py.File('{name}', '{mode}')"], folder)
        assert done.returncode == 1 and text in done.stderr, done.stderr


def test_the_command_lists_creates_and_removes_snapshots(isotach: Connector, folder: Path) -> None:
    assert command(folder, "snapshot", "list", "a.h5").stdout.splitlines()[-1].split() == ["one", "0"]
    assert command(folder, "dump", "a.h5@one", "x").stdout.endswith("[0] 1, 2, 3\n")
    told = json.loads(command(folder, "snapshot", "create", "a.h5", "two", "--json").stdout)
    assert told == {"snapshot": "two", "done": "made"}
    assert "two" in fails(folder, "snapshot", "create", "a.h5", "two")
    lines = command(folder, "snapshot", "list", "a.h5", "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"snapshot": "one", "transaction": 0},
        {"snapshot": "two", "transaction": 0},
    ]
    assert command(folder, "snapshot", "remove", "a.h5", "one").stdout == "removed snapshot one\n"
    assert "snapshot one of file a.h5 does not exist" in fails(folder, "snapshot", "remove", "a.h5", "one")
    assert "expected 1 to 127" in fails(folder, "snapshot", "create", "a.h5", "a/b")
    assert "none.h5" in fails(folder, "snapshot", "list", "none.h5")
    command(folder, "snapshot", "create", "a.h5", code=2)
    assert python(isotach, folder, "import h5py; print(h5py.File('a.h5@two')['x'][:])") == "[4 5 6]\n"


def test_the_command_sweeps_what_a_dead_program_has_left(isotach: Connector, folder: Path) -> None:
    # Its data is stored, and its commit fails, since another program has created the link.
    die = """
import h5py, numpy, os, subprocess, sys
file = h5py.File("a.h5", "r+")
file["y"] = numpy.zeros(9000)
subprocess.run([sys.executable, "-c", "import h5py; h5py.File('a.h5', 'r+').create_group('y')"], check=True)
try:
    file.flush()
finally:
    os.kill(os.getpid(), 9)
"""
    assert isotach.run([sys.executable, "-c", die], folder).returncode == -9
    assert command(folder, "sweep", "a.h5").stdout == "removed 1 array\n"
    assert json.loads(command(folder, "sweep", "a.h5", "--json").stdout) == {"file": "a.h5", "removed": 0}
    assert "none.h5" in fails(folder, "sweep", "none.h5")
