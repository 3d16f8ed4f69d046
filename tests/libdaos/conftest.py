"""Fixtures of the tests of programs that run on our libdaos: the library under DAOS's name, and a pool.

ISOTACH_BIN names a built program; else cargo builds it, and always the library.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from place import ROOT, Place


def built(is_wanted: str) -> Path:
    """A file with this name that cargo builds: what tests drive is built together."""
    command = ["cargo", "tested", "--quiet", "--message-format=json"]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    messages = (json.loads(line) for line in done.stdout.splitlines())
    files = (Path(name) for message in messages for name in message.get("filenames", ()))
    return next(file for file in files if file.name == is_wanted)


@pytest.fixture(scope="session")
def library() -> Path:
    """The built library."""
    return built("libdaos.so")


@pytest.fixture(scope="session")
def isotach() -> Path:
    """The built program."""
    given = os.environ.get("ISOTACH_BIN")
    return Path(given) if given else built("isotach")


@pytest.fixture
def place(tmp_path: Path, library: Path, isotach: Path) -> Place:
    """A pool for one test."""
    return Place(tmp_path, library, isotach)
