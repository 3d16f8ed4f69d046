"""Fixtures of the tests of the Debian packages: the packages, of the build that all tests have, and a bare Debian.

`scripts/setup test` brings debhelper and makes the bare Debian. Without these the tests are skipped, and where ISOTACH_REQUIRE names deb they fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from needs import skip

from bare import Bare

ROOT = Path(__file__).parents[2]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def missing(what: str) -> None:
    """Skips the test, or fails where it must run."""
    skip("deb", f"{what}: `scripts/setup test` brings it")


@pytest.fixture(scope="session")
def packages() -> dict[str, Path]:
    """The package files by the packages' names."""
    if shutil.which("dh") is None:
        missing("there is no debhelper")
    here = os.environ | {"ISOTACH_PROFILE": "dev"}
    done = subprocess.run(["make", "deb"], cwd=ROOT, env=here, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return {file.name.split("_")[0]: file for file in (BUILT / "deb").glob("*.deb")}


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bare]:
    """A bare Debian with the libraries that the packages name, and a C compiler. Each test leaves it as bare as it was."""
    archive = BUILT / "bare-debian.tar"
    if not archive.exists():
        missing(f"there is no bare Debian in {archive}")
    folder = tmp_path_factory.mktemp("debian")
    yield Bare(folder, archive)
    shutil.rmtree(folder)
