"""Fixtures of the tests of the HDF5 connector: HDF5 libraries, the connector, and programs in C that are linked with them."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from needs import skip

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


def library() -> Path:
    """The HDF5 library in h5py's wheel."""
    spec = find_spec("h5py")
    if spec is None or spec.origin is None:
        skip("python", "h5py is not installed: `scripts/setup test` installs it")
    folder = Path(spec.origin).parents[1] / "h5py.libs"
    return next(path for path in folder.glob("libhdf5-*.so*"))


def compile_c(sources: list[Path], program: Path, *more: str) -> None:
    """Builds a program that is linked with the library in h5py's wheel."""
    compiler = shutil.which("cc")
    if compiler is None:
        skip("compiler", "there is no C compiler")
    headers = subprocess.run(
        [ROOT / "scripts" / "hdf5-headers"], check=True, capture_output=True, text=True
    ).stdout.strip()
    hdf5 = library()
    # The wheel's library finds its own libraries beside it.
    links = [str(hdf5), f"-Wl,-rpath,{hdf5.parent}", "-Wl,--allow-shlib-undefined"]
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-I", headers]
    subprocess.run([compiler, *flags, *map(str, sources), "-o", str(program), *more, *links], check=True)


@dataclass(frozen=True)
class Connector:
    """What a program's environment says of the connector that it uses."""

    environment: dict[str, str]

    def run(
        self, command: list[str | Path], folder: Path | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program to its end, in a folder."""
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("HDF5_", "ISOTACH_H5"))
        }
        return subprocess.run(
            command,
            cwd=folder,
            env=clean | self.environment | environment,
            capture_output=True,
            text=True,
            check=False,
        )


NATIVE = Connector({})


def built() -> Path:
    """The connector that cargo has built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    connector = target / "debug" / "libisotach_vol.so"
    assert connector.is_file(), f"there is no {connector}: cargo build -p isotach-hdf5-vol"
    return connector.resolve()


@pytest.fixture(scope="session")
def isotach(tmp_path_factory: pytest.TempPathFactory) -> Connector:
    """The connector, alone in a folder: HDF5 opens every library of a plugin folder. Files are in the pool that `ISOTACH_H5_POOL` names."""
    folder = tmp_path_factory.mktemp("plugins")
    (folder / built().name).symlink_to(built())
    pool = {name: os.environ[name] for name in ["ISOTACH_H5_POOL"] if name in os.environ}
    return Connector({"HDF5_PLUGIN_PATH": str(folder), "HDF5_VOL_CONNECTOR": "isotach"} | pool)


@pytest.fixture(scope="session")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of `checks`."""
    program = tmp_path_factory.mktemp("checks") / "checks"
    compile_c(sorted((HERE / "checks").glob("*.c")), program)
    return program
