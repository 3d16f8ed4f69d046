"""Fixtures of the report's tests: the built program, and runs that it made.

Without the program the tests are skipped by name; where ISOTACH_REQUIRE names what is
missing they fail instead, since there the page must be shown to work.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from needs import skip

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def isotach() -> Path:
    """The built program: ISOTACH_BIN, or what cargo has built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    given = os.environ.get("ISOTACH_BIN")
    candidates = [Path(given)] if given else [target / kind / "isotach" for kind in ("release", "debug")]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        skip("program", f"no isotach program at {candidates[0]}: build it, or set ISOTACH_BIN")
    return found


class Bench:
    """Runs studies in memory and keeps their records."""

    def __init__(self, program: Path, records: Path, memory: Path) -> None:
        """Records go to one folder, pools to another."""
        self.program, self.records, self.memory = program, records, memory

    def run(self, name: str, words: str, *more: str, workload: str = "field-io") -> Path:
        """A record of a study."""
        record = self.records / name
        pool = f"posix:{self.memory / 'pool'}?sync=no"
        command = [
            self.program,
            "bench",
            workload,
            "--json",
            "--pool",
            pool,
            "--out",
            record,
            *words.split(),
            *more,
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return record

    def report(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """What `isotach report` does."""
        return subprocess.run([self.program, "report", *words], capture_output=True, text=True)


@pytest.fixture(scope="session")
def bench(isotach: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The program, with folders for it."""
    memory = Path(
        tempfile.mkdtemp(prefix="isotach-report-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
    )
    yield Bench(isotach, tmp_path_factory.mktemp("runs"), memory)
    shutil.rmtree(memory)
