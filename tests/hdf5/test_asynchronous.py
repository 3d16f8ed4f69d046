"""Asynchronous calls of HDF5: transfers that go on in the background, fail there, and are cancelled."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conftest import HERE, Connector, compile_c

CHECK = """
import h5py, sys
with h5py.File(sys.argv[1]) as file:
    print(*(f"{name} {len(set(file[name][:1000])) > 900}" for name in file))
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of `asynchronous.c`."""
    program = tmp_path_factory.mktemp("program") / "asynchronous"
    compile_c([HERE / "asynchronous.c"], program)
    return program


def run(isotach: Connector, *command: Path | str) -> str:
    """Runs a program, and returns what it printed."""
    done = isotach.run([*command])
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    return done.stdout


def test_a_file_is_closed_with_all_that_was_not_waited_for(
    program: Path, isotach: Connector, tmp_path: Path
) -> None:
    file = tmp_path / "going.h5"
    assert run(isotach, program, "going", file) == "12 requests\n"
    found = run(isotach, sys.executable, "-c", CHECK, file)
    assert found.split() == [word for name in sorted(f"d{n}" for n in range(12)) for word in (name, "True")]


def test_a_failure_in_the_background_is_told_and_nothing_is_committed(
    program: Path, isotach: Connector, tmp_path: Path
) -> None:
    file = tmp_path / "failing.h5"
    told, closed = run(isotach, program, "failing", file).splitlines()
    assert told.startswith("H5Dwrite_async: /failing: no space left: ")
    assert closed == "close: 1"
    assert run(isotach, sys.executable, "-c", CHECK, file) == "\n"


def test_a_transfer_that_has_not_begun_can_be_cancelled(
    program: Path, isotach: Connector, tmp_path: Path
) -> None:
    told = run(isotach, program, "cancelled", tmp_path / "cancelled.h5")
    assert told == "as many as could not be cancelled: 1\n"
