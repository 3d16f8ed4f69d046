"""Fixtures of the tests of throw-away Ceph clusters.

Without Ceph's packages the tests are skipped by name; where ISOTACH_REQUIRE_CEPH is 1 they fail instead.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from clusters import Cluster, ceph_dev


def pytest_configure(config: pytest.Config) -> None:
    """Names the marker by which `make test` leaves out what `make test-ceph` runs."""
    config.addinivalue_line("markers", "faults: three OSDs, which need the machine for themselves")


@pytest.fixture(scope="session")
def installed() -> None:
    """Asks for Ceph's packages."""
    done = ceph_dev("installed")
    if done.returncode == 0:
        return
    if os.environ.get("ISOTACH_REQUIRE_CEPH") == "1":
        pytest.fail(done.stderr, pytrace=False)
    pytest.skip(" ".join(done.stderr.split()))


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
