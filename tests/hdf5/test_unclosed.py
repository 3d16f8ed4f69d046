"""Programs that end with files open: HDF5 closes these, and says nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from needs import skip

from conftest import HERE, ROOT, Connector, compile_c

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
    if any(shutil.which(tool) is None for tool in ("mpicc.openmpi", "cmake", "make")):
        skip("mpi", "there is nothing to build HDF5 1.14 with: `scripts/setup test` installs it")
    with_mpi: list[str | Path] = [ROOT / "scripts" / "hdf5-parallel", "with"]
    subprocess.run([*with_mpi, "mpicc", SOURCE, "-o", tmp_path / "unclosed", "-lhdf5"], check=True)
    run_both(isotach, [*with_mpi, tmp_path / "unclosed"], tmp_path)
