"""Native HDF5 and the connector under one h5py program, in turns: medians, as a table in Markdown.

    python crates/hdf5-vol/benches/speed.py --plugins FOLDER [--folder FOLDER] [--mib 256] [--rounds 6] [--options '?sync=no']

``--plugins`` is a folder with nothing but ``libisotach_vol.so``. Native HDF5 never syncs a file, so the connector does not by default, either. Unfair to the connector: it sums
every byte, and its commit survives a kill at any moment. Unfair to native HDF5: its chunk cache of 1 MiB holds one chunk.

In a round, a process with native HDF5 and one with the connector do each act right after one another, and take turns at being first. "Of native" is
the median of the rounds' ratios, which a machine whose speed changes from second to second disturbs less than the ratio of two medians.

Of the writers each opens the file, creates a dataset and closes the file, time and again. Native HDF5 locks a file that is open for writing, so a writer asks
each millisecond whether it is free.
"""

from __future__ import annotations

import argparse
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
# How long a writer waits for the file.
SECONDS_MAX = 60
ACTS = (
    "1 MiB chunks written, MiB/s",
    "1 MiB chunks read, MiB/s",
    "contiguous, written by 1 MiB, MiB/s",
    "contiguous, read by 1 MiB, MiB/s",
    "datasets and attributes created, 1/s",
    "datasets and attributes read, 1/s",
    f"one file, {WRITERS} writers, MiB/s",
)


def acts(folder: Path, mib: int) -> list[Callable[[], float]]:
    """What is done for each of :data:`ACTS`. Each returns what it does per second: MiB of data, or objects."""
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
    return [
        lambda: mib / seconds(lambda: write("chunked.h5", chunks=(1, 1 << 17))),
        lambda: mib / seconds(lambda: read("chunked.h5")),
        lambda: mib / seconds(lambda: write("contiguous.h5")),
        lambda: mib / seconds(lambda: read("contiguous.h5")),
        lambda: objects / seconds(create),
        lambda: objects / seconds(look),
        lambda: WRITERS * STEPS * MIB / share(),
    ]


def work(folder: Path, mib: int) -> None:
    """Does the acts whose numbers it is told, and prints the rate of each."""
    todo = acts(folder, mib)
    for line in sys.stdin:
        print(todo[int(line)](), flush=True)


class Worker:
    """A process that does the acts."""

    def __init__(self, name: str, environment: dict[str, str], folder: str, mib: int) -> None:
        """Starts it."""
        command = [sys.executable, __file__, "--work", folder, "--mib", str(mib)]
        self.name = name
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def rate(self, act: int) -> float:
        """Has an act done."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{act}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"speed.py: error: an act failed under {self.name}; the lines above say why")
        return float(answer)

    def end(self) -> None:
        """Ends it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def one_round(
    folder: Path | None, mib: int, environments: dict[str, dict[str, str]]
) -> dict[str, list[float]]:
    """The rates of all acts, for each name of an environment."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        workers = []
        for name, environment in environments.items():
            own = Path(place) / name
            own.mkdir()
            workers.append(Worker(name, environment, str(own), mib))
        rates: dict[str, list[float]] = {worker.name: [] for worker in workers}
        for number in range(len(ACTS)):
            for worker in workers:
                rates[worker.name].append(worker.rate(number))
            workers.reverse()
        for worker in workers:
            worker.end()
        return rates


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
    end = time.monotonic() + SECONDS_MAX
    while True:
        try:
            return open_file(name, "r+")
        except OSError as error:
            # The lock of native HDF5 has a gap: a file that another writer is closing may be taken for a damaged one.
            is_in_use = isinstance(error, BlockingIOError) or "truncated file" in str(error)
            if not is_in_use or time.monotonic() > end:
                raise
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
        work(arguments.work, arguments.mib)
        return
    if arguments.plugins is None:
        parser.error("--plugins: the folder of libisotach_vol.so")
    ours = {
        "HDF5_PLUGIN_PATH": str(arguments.plugins),
        "HDF5_VOL_CONNECTOR": f"isotach {arguments.options}".strip(),
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HDF5_")}
    environments = {"native": clean, "isotach": clean | ours}
    rounds = []
    for _ in range(arguments.rounds):
        rounds.append(one_round(arguments.folder, arguments.mib, environments))
        # Who is first in an act of one round is second in the next.
        environments = dict(reversed(environments.items()))
    print("| | native | isotach | of native |\n|---|---:|---:|---:|")
    for number, what in enumerate(ACTS):
        native, isotach = ([one[name][number] for one in rounds] for name in ("native", "isotach"))
        ratio = statistics.median(ours / theirs for ours, theirs in zip(isotach, native, strict=True))
        print(
            f"| {what} | {statistics.median(native):.0f} | {statistics.median(isotach):.0f} | {ratio:.2f} |"
        )


if __name__ == "__main__":
    main()
