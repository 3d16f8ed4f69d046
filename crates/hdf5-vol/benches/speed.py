"""Native HDF5 and the connector under one h5py program, in turns: medians and ratios, as a table in Markdown.

    python crates/hdf5-vol/benches/speed.py --plugins FOLDER [--folder FOLDER] [--mib 256] [--rounds 6] [--options '?sync=no']

``--plugins`` is a folder with nothing but ``libisotach_vol.so``. Native HDF5 never syncs a file, so the connector does not by default, either. Unfair to the connector: it sums
every byte, and its commit survives a kill at any moment. Unfair to native HDF5: its chunk cache of 1 MiB holds one chunk.

Of the writers each opens the file, creates a dataset and closes the file, time and again. Native HDF5 locks a file that is open for writing, so a writer asks
each millisecond whether it is free.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

DATASETS, ATTRIBUTES = 1000, 10
# Processes that write to one file, the datasets of each, and their size in MiB.
WRITERS, STEPS, MIB = 8, 10, 4


def work(folder: Path, mib: int) -> dict[str, float]:
    """What is done per second: MiB of data, or objects."""
    import h5py
    import numpy as np

    values = np.random.default_rng(1).integers(0, 1 << 60, (mib, 1 << 17))
    one = np.empty(1 << 17, values.dtype)

    def write(name: str, **layout: object) -> None:
        with h5py.File(folder / name, "w") as file:
            dataset = file.create_dataset("x", values.shape, values.dtype, **layout)
            for row in range(mib):
                dataset[row] = values[row]

    def read(name: str) -> None:
        with h5py.File(folder / name, "r") as file:
            for row in range(mib):
                file["x"].read_direct(one, np.s_[row])

    def create() -> None:
        with h5py.File(folder / "objects.h5", "w") as file:
            for number in range(DATASETS):
                dataset = file.create_dataset(f"d{number}", (10,), "f8")
                for attribute in range(ATTRIBUTES):
                    dataset.attrs[f"a{attribute}"] = attribute

    def look() -> None:
        with h5py.File(folder / "objects.h5", "r") as file:
            for number in range(DATASETS):
                dataset = file[f"d{number}"]
                for attribute in range(ATTRIBUTES):
                    assert dataset.attrs[f"a{attribute}"] == attribute

    def share() -> float:
        name = folder / "shared.h5"
        h5py.File(name, "w").close()
        command = [sys.executable, __file__, "--writer", str(name)]
        writers = [
            subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for number in range(WRITERS)
        ]
        # Each tells when it is ready, and begins when its input ends.
        for writer in writers:
            assert writer.stdout is not None and writer.stdout.readline() == b"ready\n"

        def run() -> None:
            for writer in writers:
                assert writer.stdin is not None
                writer.stdin.close()
            assert [writer.wait() for writer in writers] == [0] * WRITERS

        duration = seconds(run)
        with h5py.File(name, "r") as file:
            assert sum(len(group) for group in file.values()) == WRITERS * STEPS
        return duration

    objects = DATASETS * (ATTRIBUTES + 1)
    return {
        "1 MiB chunks written, MiB/s": mib / seconds(lambda: write("chunked.h5", chunks=(1, 1 << 17))),
        "1 MiB chunks read, MiB/s": mib / seconds(lambda: read("chunked.h5")),
        "contiguous, written by 1 MiB, MiB/s": mib / seconds(lambda: write("contiguous.h5")),
        "contiguous, read by 1 MiB, MiB/s": mib / seconds(lambda: read("contiguous.h5")),
        "datasets and attributes created, 1/s": objects / seconds(create),
        "datasets and attributes read, 1/s": objects / seconds(look),
        f"one file, {WRITERS} writers, MiB/s": WRITERS * STEPS * MIB / share(),
    }


def write_beside_others(name: str, number: str) -> None:
    """A writer among several: each of its datasets is there when the file is closed."""
    import h5py
    import numpy as np

    values = np.random.default_rng(int(number)).integers(0, 1 << 60, (MIB, 1 << 17))
    print("ready", flush=True)
    sys.stdin.read()
    for step in range(STEPS):
        with opened(h5py.File, name) as file:
            file.create_dataset(f"{number}/{step}", data=values, chunks=(1, 1 << 17))


def opened(open_file: Callable[[str, str], Any], name: str) -> Any:
    """The file, once no other writer has it."""
    while True:
        try:
            return open_file(name, "r+")
        except BlockingIOError:
            time.sleep(0.001)


def seconds(act: Callable[[], None]) -> float:
    """How long an act takes."""
    begin = time.perf_counter()
    act()
    return time.perf_counter() - begin


def main() -> None:
    """Runs both in turns, each round in new processes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plugins", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--options", default="?sync=no")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--writer", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.writer is not None:
        write_beside_others(*arguments.writer)
        return
    if arguments.work is not None:
        print(json.dumps(work(arguments.work, arguments.mib)))
        return
    if arguments.plugins is None:
        parser.error("--plugins: the folder of libisotach_vol.so")
    ours = {
        "HDF5_PLUGIN_PATH": str(arguments.plugins),
        "HDF5_VOL_CONNECTOR": f"isotach {arguments.options}".strip(),
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HDF5_")}
    rounds: dict[str, list[dict[str, float]]] = {"native": [], "isotach": []}
    turns: list[tuple[str, dict[str, str]]] = [("native", {}), ("isotach", ours)]
    for _ in range(arguments.rounds):
        for name, environment in turns:
            with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
                command = [sys.executable, __file__, "--work", folder, "--mib", str(arguments.mib)]
                done = subprocess.run(
                    command, env=clean | environment, stdout=subprocess.PIPE, text=True, check=False
                )
                if done.returncode != 0:
                    sys.exit(f"speed.py: error: the work failed under {name}; the lines above say why")
                rounds[name].append(json.loads(done.stdout))
        # The second program reuses memory that the first has freed, so the order alternates.
        turns.reverse()
    print("| | native | isotach | of native |\n|---|---:|---:|---:|")
    for what in rounds["native"][0]:
        native, isotach = (
            statistics.median(one[what] for one in rounds[name]) for name in ("native", "isotach")
        )
        print(f"| {what} | {native:.0f} | {isotach:.0f} | {isotach / native:.2f} |")


if __name__ == "__main__":
    main()
