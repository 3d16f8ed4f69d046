"""Fixtures of the tests of the C libraries: what `scripts/capi install` lays out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def install(name: str, prefix: str, **environment: str) -> None:
    """Installs a library as tests are built."""
    command = [ROOT / "scripts" / "capi", "install", "--debug", name, prefix]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which both libraries are installed."""
    folder = tmp_path_factory.mktemp("installed")
    for name in ("isotach", "fdb5"):
        install(name, str(folder))
    return folder
