"""Programs that end with files open: HDF5 closes these, and says nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

from conftest import HERE, WITH_MPI, Connector, compile_c, need_parallel_hdf5

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
    need_parallel_hdf5()
    subprocess.run([*WITH_MPI, "mpicc", SOURCE, "-o", tmp_path / "unclosed", "-lhdf5"], check=True)
    run_both(isotach, [*WITH_MPI, tmp_path / "unclosed"], tmp_path)
