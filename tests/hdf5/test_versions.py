"""Versions: a flush or a close makes all changes visible at once, whatever becomes of the writer."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from conftest import Connector

# How often a writer is killed. The nightly profile has 300.
KILLS = int(os.environ.get("ISOTACH_H5_KILLS", "20"))

WRITER = """
import sys, h5py, numpy as np
with h5py.File("file.h5", "a") as file:
    number = int(file.attrs.get("number", 0))
    while True:
        number += 1
        for name in ("a", "b", "group/c"):
            if name not in file:
                file.create_dataset(name, (40, 50), "i8", chunks=(16, 16), compression="gzip" if name == "b" else None)
            file[name][...] = number
        file.require_group(f"step{number}").attrs["number"] = number
        file.attrs["number"] = number
        file.flush()
        print(number, flush=True)
"""

CHECK = """
import h5py
with h5py.File("file.h5", "r") as file:
    number = int(file.attrs["number"])
    for name in ("a", "b", "group/c"):
        values = file[name][...]
        assert (values == number).all(), (name, number, values.min(), values.max())
    assert file[f"step{number}"].attrs["number"] == number and f"step{number + 1}" not in file
print(number)
"""

READER = """
import h5py, sys
seen = 0
while sys.stdin.readable():
    with h5py.File("file.h5", "r") as file:
        number = int(file.attrs.get("number", 0))
        assert number >= seen, (number, seen)
        seen = number
        for name in ("a", "b", "group/c") if number else ():
            values = file[name][...]
            assert (values == number).all(), (name, number, values.min(), values.max())
    print(seen, flush=True)
"""


def start(connector: Connector, script: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=folder,
        env=os.environ | connector.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
    )


def last_line(process: subprocess.Popen[str]) -> int:
    """Kills a process, and returns the number that it printed last."""
    process.send_signal(signal.SIGKILL)
    out, err = process.communicate()
    assert process.returncode == -signal.SIGKILL, err
    lines = [line for line in out.splitlines(keepends=True) if line.endswith("\n")]
    return int(lines[-1]) if lines else 0


def test_the_last_flushed_version_is_whole_after_any_kill(isotach: Connector, tmp_path: Path) -> None:
    seed = int(os.environ.get("ISOTACH_SEED", time.time_ns()))
    print(f"ISOTACH_SEED={seed}")
    moments = random.Random(seed)
    written = 0
    for _ in range(KILLS):
        writer = start(isotach, WRITER, tmp_path)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(moments.uniform(0, 0.1))
        # The first line was taken above, and the kill may come before the second.
        written = max(written + 1, last_line(writer))
        done = isotach.run([sys.executable, "-c", CHECK], folder=tmp_path)
        assert done.returncode == 0, done.stderr
        found = int(done.stdout)
        assert found >= written, (found, written)
        written = found


def test_readers_beside_a_writer_see_whole_versions_only(isotach: Connector, tmp_path: Path) -> None:
    writer = start(isotach, WRITER, tmp_path)
    assert writer.stdout is not None
    writer.stdout.readline()
    readers = [start(isotach, READER, tmp_path) for _ in range(2)]
    for reader in readers:
        assert reader.stdout is not None
        lines = [reader.stdout.readline() for _ in range(20)]
        assert all(lines), reader.communicate()[1]
        assert int(lines[-1]) > 0
    for process in (*readers, writer):
        last_line(process)
