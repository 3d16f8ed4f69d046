"""Fixtures for the tests of the posix engine's format.

Containers are made by the engine's example `make_container`; ISOTACH_MAKE_CONTAINER names a built one, else
cargo builds it.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from format_made import Made

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def program() -> Path:
    """The built example."""
    if given := os.environ.get("ISOTACH_MAKE_CONTAINER"):
        return Path(given)
    command = [
        "cargo",
        "build",
        "--locked",
        "-q",
        "-p",
        "isotach-engine-posix",
        "--example",
        "make_container",
    ]
    built = subprocess.run(
        [*command, "--message-format=json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    messages = (json.loads(line) for line in built.stdout.splitlines())
    return Path(next(m["executable"] for m in messages if m.get("executable")))


@pytest.fixture
def made(program: Path, tmp_path: Path) -> Made:
    """A pool that is not there yet."""
    return Made(program, tmp_path / "pool")
