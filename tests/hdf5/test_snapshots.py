"""Snapshots: named versions of a file, as h5py and netCDF4 open them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from needs import skip

from conftest import ROOT, Connector

Snapshots = Callable[..., str]


@pytest.fixture(scope="module")
def snapshots() -> Snapshots:
    """The example that lists, creates and removes snapshots."""
    if shutil.which("cargo") is None:
        skip("compiler", "there is no cargo, which builds the example")
    command = ["cargo", "build", "--locked", "-q", "-p", "isotach-hdf5", "--example", "snapshots"]
    done = subprocess.run(
        [*command, "--message-format=json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    built = [json.loads(line).get("executable") for line in done.stdout.splitlines()]
    program = next(path for path in built if path)

    def run(*words: str | Path) -> str:
        return subprocess.run([program, *words], check=True, stdout=subprocess.PIPE, text=True).stdout

    return run


def python(connector: Connector, folder: Path, text: str, **environment: str) -> str:
    """What a Python program prints that uses the connector."""
    done = connector.run([sys.executable, "-c", text], folder, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folder(isotach: Connector, snapshots: Snapshots, tmp_path: Path) -> Path:
    """A folder with a file that has a snapshot `one` and was changed since."""
    python(isotach, tmp_path, "import h5py; h5py.File('a.h5', 'w')['x'] = [1, 2, 3]")
    snapshots(tmp_path / "a.h5", "create", "one")
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


def test_snapshots_are_listed_and_removed(isotach: Connector, snapshots: Snapshots, folder: Path) -> None:
    file = folder / "a.h5"
    assert [line.split("\t")[1] for line in snapshots(file).splitlines()] == ["one"]
    snapshots(file, "remove", "one")
    assert snapshots(file) == ""
    assert python(isotach, folder, "import h5py; print(h5py.File('a.h5')['x'][:])") == "[4 5 6]\n"
    assert snapshots(file, "sweep") == "0 removed\n"
