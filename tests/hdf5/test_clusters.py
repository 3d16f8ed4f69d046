"""The program of `checks` on files in Ceph, and in DAOS as our libdaos has it: it must do the same as on native HDF5."""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from needs import skip

from conftest import NATIVE, ROOT, Connector
from test_checks import AREAS

CEPH_DEV = ROOT / "scripts" / "ceph-dev"
LIBDAOS = ROOT / "scripts" / "libdaos"


@pytest.fixture(scope="module")
def native(checks: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the program prints on native HDF5."""
    folder = tmp_path_factory.mktemp("native")
    return NATIVE.run([checks, folder, *AREAS]).stdout.replace(str(folder), "FOLDER")


@pytest.fixture(scope="module")
def ceph() -> Iterator[dict[str, str]]:
    """The environment of programs that use a Ceph cluster: a given one, or one that is thrown away."""
    if os.environ.get("ISOTACH_RADOS_POOL"):
        yield {}
        return
    installed = subprocess.run([CEPH_DEV, "installed"], capture_output=True, text=True, check=False)
    if installed.returncode:
        skip("ceph", " ".join(installed.stderr.split()))
    with tempfile.TemporaryDirectory(prefix="isotach-h5-ceph-") as parent:
        folder = Path(parent, "c")
        try:
            started = subprocess.run(
                [CEPH_DEV, "start", "--dir", folder], check=True, stdout=subprocess.PIPE, text=True
            )
            words = shlex.split(started.stdout)
            yield dict(word.split("=", 1) for word in words[1::2])
        finally:
            subprocess.run([CEPH_DEV, "stop", "--dir", folder], check=True)


def same(native: str, done: subprocess.CompletedProcess[str], folder: Path) -> None:
    """Compares what the program printed with what it prints on native HDF5."""
    found = done.stdout.replace(str(folder), "FOLDER")
    difference = difflib.unified_diff(
        native.splitlines(), found.splitlines(), "native", "isotach", lineterm="", n=1
    )
    assert found == native, "\n".join(difference) + done.stderr[-2000:]
    assert re.search(r"^(\d+) checks, 0 failed$", found, re.MULTILINE), found[-2000:]


def test_a_program_does_on_ceph_what_it_does_on_native_hdf5(
    ceph: dict[str, str], native: str, checks: Path, isotach: Connector, tmp_path: Path
) -> None:
    pool = ceph.get("ISOTACH_RADOS_POOL") or os.environ["ISOTACH_RADOS_POOL"]
    store = f"rados://{pool}/h5-checks-{os.getpid()}"
    same(native, isotach.run([checks, tmp_path, *AREAS], None, **ceph, ISOTACH_H5_POOL=store), tmp_path)


def test_a_program_does_on_daos_what_it_does_on_native_hdf5(
    native: str, checks: Path, isotach: Connector, tmp_path: Path
) -> None:
    if shutil.which("cargo") is None:
        skip("compiler", "there is no cargo, which builds our libdaos")
    pools, files = tmp_path / "pools", tmp_path / "files"
    files.mkdir()
    run = 'dmg pool create checks >&2 && exec "$@"'
    command = [LIBDAOS, "with", "--dir", pools, "sh", "-c", run, "sh", checks, files, *AREAS]
    same(native, isotach.run(command, None, ISOTACH_H5_POOL="daos://checks"), files)
    assert any(pools.iterdir()), "the files are in DAOS"
