"""Files in Ceph, and in DAOS as our libdaos has it: programs must do there what they do on native HDF5."""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from needs import skip

import ranks
from conftest import NATIVE, ROOT, Connector

CEPH_DEV = ROOT / "scripts" / "ceph-dev"
LIBDAOS = ROOT / "scripts" / "libdaos"


@dataclass(frozen=True)
class Cluster:
    """What goes before a command whose files are in a cluster, and its environment."""

    command: list[str | Path]
    environment: dict[str, str]


@pytest.fixture(scope="module")
def ceph() -> Iterator[dict[str, str]]:
    """The environment of programs that use a Ceph cluster: a given one, or one that is thrown away."""
    if os.environ.get("ISOTACH_RADOS_POOL"):
        yield {"ISOTACH_RADOS_POOL": os.environ["ISOTACH_RADOS_POOL"]}
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


@pytest.fixture(params=["ceph", "daos"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Cluster:
    """A cluster with a pool for the files of one test."""
    if request.param == "ceph":
        environment = request.getfixturevalue("ceph")
        pool = f"rados://{environment['ISOTACH_RADOS_POOL']}/h5-{os.getpid()}-{tmp_path.name}"
        return Cluster([], {**environment, "ISOTACH_H5_POOL": pool})
    if shutil.which("cargo") is None:
        skip("compiler", "there is no cargo, which builds our libdaos")
    run = 'dmg pool create checks >&2 && exec "$@"'
    command = [LIBDAOS, "with", "--dir", tmp_path / "pools", "sh", "-c", run, "sh"]
    return Cluster(command, {"ISOTACH_H5_POOL": "daos://checks"})


def same_as_natively(program: list[str | Path], isotach: Connector, cluster: Cluster, folder: Path) -> None:
    """Runs a program of checks natively and in a cluster, and compares what it prints."""
    texts = []
    for name, connector, before, environment in (
        ("native", NATIVE, [], {}),
        ("isotach", isotach, cluster.command, cluster.environment),
    ):
        files = folder / name
        files.mkdir()
        done = connector.run([*before, *program, files], None, **environment)
        texts.append(done.stdout.replace(str(files), "FOLDER"))
    native, found = texts
    difference = difflib.unified_diff(
        native.splitlines(), found.splitlines(), "native", "isotach", lineterm="", n=1
    )
    assert found == native, "\n".join(difference) + done.stderr[-2000:]
    assert re.search(r"^\d+ checks, 0 failed$", found, re.MULTILINE), found[-2000:] + done.stderr[-2000:]
    assert not (folder / "isotach" / ".isotach-h5").exists(), "the files are in the cluster"


def test_a_program_does_in_a_cluster_what_it_does_on_native_hdf5(
    checks: Path, isotach: Connector, cluster: Cluster, tmp_path: Path
) -> None:
    same_as_natively([checks], isotach, cluster, tmp_path)


@pytest.fixture(scope="module")
def parallel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of `parallel`."""
    return ranks.build_checks(tmp_path_factory.mktemp("parallel"))


def test_ranks_do_in_a_cluster_what_they_do_on_native_hdf5(
    parallel: Path, isotach: Connector, cluster: Cluster, tmp_path: Path
) -> None:
    same_as_natively(ranks.command(2, parallel), isotach, cluster, tmp_path)
