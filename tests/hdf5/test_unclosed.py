"""Programs that end with files open: HDF5 closes these, and says nothing."""

from __future__ import annotations

from pathlib import Path

import ranks
from conftest import HERE, Connector, compile_c

SOURCE = HERE / "unclosed.c"


def run_both(isotach: Connector, program: list[str | Path], folder: Path) -> None:
    """Leaves a file open, then reads it."""
    for verb in ("write", "read"):
        done = isotach.run([*program, verb, folder / "file.h5"], folder)
        assert (done.returncode, done.stderr) == (0, ""), verb


def test_a_file_that_a_program_leaves_open_is_committed(isotach: Connector, tmp_path: Path) -> None:
    compile_c([SOURCE], tmp_path / "unclosed")
    run_both(isotach, [tmp_path / "unclosed"], tmp_path)


def test_a_file_that_a_program_leaves_open_is_committed_on_hdf5_1_14(
    isotach: Connector, tmp_path: Path
) -> None:
    program = ranks.build(tmp_path / "unclosed", [SOURCE])
    run_both(isotach, [*ranks.WITH_MPI, program], tmp_path)
