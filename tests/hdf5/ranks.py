"""Programs that run on MPI: they are built with parallel HDF5, and run with several ranks."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from needs import skip

from conftest import HERE, ROOT, Connector

WITH_MPI: list[str | Path] = [ROOT / "scripts" / "hdf5-parallel", "with"]
LIMIT = 300
"""After so many seconds a program hangs."""


def need_parallel_hdf5() -> None:
    """Skips the running test where there is nothing to build parallel HDF5 with."""
    mpi = os.environ.get("ISOTACH_MPI", "openmpi")
    tools = (f"mpicc.{mpi}", f"mpirun.{mpi}", "cmake", "make")
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        skip(
            "mpi",
            f"parallel HDF5 cannot be built without {' and '.join(missing)}: `scripts/setup test` installs it",
        )


def build(program: Path, sources: list[Path], *libraries: str) -> Path:
    """Builds a program that is linked with parallel HDF5 and with these libraries."""
    need_parallel_hdf5()
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1"]
    command = [*WITH_MPI, "mpicc", *flags, *sources, "-o", program, *libraries, "-lhdf5"]
    subprocess.run(command, check=True)
    return program


def build_checks(folder: Path) -> Path:
    """The program of `parallel`."""
    sources = [*sorted((HERE / "parallel").glob("*.c")), HERE / "checks" / "values.c"]
    return build(folder / "parallel", sources)


def command(ranks: int, program: Path, *arguments: Path | str) -> list[str | Path]:
    """The command that runs a program with so many ranks. One that hangs is ended, and has failed."""
    limit: list[str | Path] = ["timeout", "-k", "5", str(LIMIT)]
    return [*WITH_MPI, *limit, "mpirun", "-n", str(ranks), program, *arguments]


def run(
    connector: Connector, ranks: int, program: Path, *arguments: Path | str
) -> subprocess.CompletedProcess[str]:
    """Runs a program with so many ranks."""
    return connector.run(command(ranks, program, *arguments))


def areas(text: str) -> dict[str, list[str]]:
    """The lines that the program of `parallel` has printed in each area."""
    parts = text.rsplit("\n", 2)[0].split("== ")[1:]
    return {part.split("\n", 1)[0]: part.splitlines()[1:] for part in parts}
