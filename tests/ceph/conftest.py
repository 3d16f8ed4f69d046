"""Fixtures of the tests of throw-away Ceph clusters.

Without Ceph's packages the tests are skipped by name; where ISOTACH_REQUIRE names ceph they fail instead.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from needs import skip

from clusters import Cluster, ceph_dev
from engine import RadosStore, program


def pytest_configure(config: pytest.Config) -> None:
    """Names the marker by which `make test` leaves out what `make test-ceph` runs."""
    config.addinivalue_line("markers", "faults: three OSDs, which need the machine for themselves")


@pytest.fixture(scope="session")
def installed() -> None:
    """Asks for Ceph's packages."""
    done = ceph_dev("installed")
    if done.returncode == 0:
        return
    skip("ceph", " ".join(done.stderr.split()))


@pytest.fixture(scope="session")
def binary() -> Path:
    """The built program."""
    found = program()
    if found is not None and found.is_file():
        return found
    told = f"no isotach program at {found or 'target/release or target/debug'}: build it, or set ISOTACH_BIN"
    skip("ceph", told)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that is not there yet, and whose cluster, if any, is stopped in the end."""
    yield tmp_path / "cluster"
    ceph_dev("stop", "--dir", tmp_path / "cluster")


def running(*options: str) -> Iterator[Cluster]:
    """A cluster in a folder with a short name."""
    with tempfile.TemporaryDirectory(prefix="isotach-ceph-test-") as parent:
        try:
            yield Cluster(Path(parent, "c"), *options)
        finally:
            ceph_dev("stop", "--dir", Path(parent, "c"))


@pytest.fixture(scope="session")
def shared(installed: None) -> Iterator[Cluster]:
    """One OSD, for all tests that leave it as they found it."""
    yield from running()


@pytest.fixture
def cluster(shared: Cluster) -> Cluster:
    """The shared cluster, made whole if a test before has left it broken."""
    assert shared.start().returncode == 0
    return shared


@pytest.fixture(scope="session")
def shared_three(installed: None) -> Iterator[Cluster]:
    """Three OSDs."""
    yield from running("--osds", "3")


@pytest.fixture
def three(shared_three: Cluster) -> Cluster:
    """Three OSDs, all of them up."""
    assert shared_three.start().returncode == 0
    return shared_three


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """The test's own name, for pools of its own."""
    return re.sub(r"[^a-z0-9-]+", "-", request.node.name.removeprefix("test_")).strip("-")


@pytest.fixture
def store(binary: Path, three: Cluster, name: str) -> RadosStore:
    """A pool of the test's own on three OSDs, which is not made yet."""
    return RadosStore(binary, three, name)


@pytest.fixture
def measured(capsys: pytest.CaptureFixture[str], name: str) -> Callable[[str], None]:
    """Prints what was measured, whether the test passes or not."""

    def say(text: str) -> None:
        with capsys.disabled():
            print(f"\n  {name}: {text}", end="")

    return say
