"""Fields of 4 KiB and of 1 MiB: archived and retrieved from Python, beside the Rust library and plain reads."""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import isotach

from measuring import Report, medians

LEVELS = (1000, 925, 850, 700, 500, 400, 300, 250, 200, 100)
PARAMS = (60, 75, 76, 129, 130, 131, 132, 133, 138, 155)
BASE = {
    "class": "od",
    "expver": "xxxx",
    "stream": "enfo",
    "date": "20240101",
    "time": "0000",
    "domain": "g",
    "type": "pf",
    "levtype": "pl",
}
STEPS = 100
OF_LIBRARY = 1
"""The member that the library archives first. It checks what it retrieves."""
SMALL, LARGE = 4096, 1 << 20
THREADS = 8


def steps(number: int, count: int) -> Iterator[list[dict[str, str]]]:
    """The keys of the fields of a member, a list of 100 for each step, as the program's client has them."""
    for step in range(count):
        one = {**BASE, "number": str(number), "step": str(step)}
        yield [{**one, "levelist": str(level), "param": str(param)} for level in LEVELS for param in PARAMS]


def small(report: Report, folder: Path, program: str, rounds: int) -> None:
    """Microseconds for each field of 4 KiB, of the Rust library in the program's client and of Python."""
    at = iter(range(1000))

    def library(op: str) -> float:
        number = next(at) if op == "archive" else OF_LIBRARY
        words = [op, str(SMALL), str(number), "1", "0", str(STEPS), "--store", uri]
        told = subprocess.run(
            [program, "bench", "client", *words], input="\n", capture_output=True, text=True, check=True
        )
        answer = json.loads(told.stdout.splitlines()[-1])
        return (answer["t1"] - answer["t0"]) / answer["fields"] * 1e6

    def archive() -> float:
        number = next(at)
        begin = time.perf_counter()
        with isotach.create(uri) as store:
            for keys in steps(number, STEPS):
                for key in keys:
                    store.archive(data, key)
                store.flush()
        return (time.perf_counter() - begin) / (STEPS * 100) * 1e6

    def retrieve() -> float:
        buffer = bytearray(SMALL)
        begin = time.perf_counter()
        with isotach.open(uri) as store:
            for keys in steps(OF_LIBRARY, STEPS):
                for key in keys:
                    assert store.retrieve_into(key, buffer) == SMALL
        return (time.perf_counter() - begin) / (STEPS * 100) * 1e6

    uri, data = f"posix:{folder}/small?sync=no", os.urandom(SMALL)
    for what, op, python in (("archive", "archive", archive), ("retrieve", "retr1", retrieve)):
        ours, rust = medians(rounds, python, lambda op=op: library(op))
        report.add(f"{what} of 4 KiB: Rust library", rust, "us")
        report.add(f"{what} of 4 KiB: Python", ours, "us")
        report.goal(f"{what} of 4 KiB: Python above Rust", ours - rust, "us", at_most=5)


def large(report: Report, folder: Path, rounds: int) -> None:
    """MiB/s of fields of 1 MiB by each call, beside plain reads of one file; and threads.

    Processors copy to some places several times as fast as to others (``isotach bench alignment``), so there are two buffers: one where
    ``malloc`` puts it, and one at the start of a page. The limit is the faster plain read.
    """
    data = os.urandom(LARGE)
    path = folder / "plain"
    with isotach.create(f"posix:{folder}/large?sync=no") as store, path.open("wb") as file:
        for keys in steps(0, 2):
            for key in keys:
                store.archive(data, key)
                file.write(data)
        store.flush()
        keys = [key for step in steps(0, 2) for key in step]
        request = {**BASE, "number": 0, "step": "0/1", "levelist": [*LEVELS], "param": [*PARAMS]}
        locations = [listed.location for listed in store.list(request)]
        buffers = {"": bytearray(LARGE), ", aligned": mmap.mmap(-1, LARGE)}

        def plain(buffer: bytearray | mmap.mmap) -> None:
            with path.open("rb", buffering=0) as file:
                for _ in keys:
                    assert file.readinto(buffer) == LARGE

        def into(buffer: bytearray | mmap.mmap) -> None:
            for key in keys:
                assert store.retrieve_into(key, buffer) == LARGE

        def share() -> None:
            for key in keys:
                lent = store.share(key)
                assert lent is not None and len(lent) == LARGE

        def read() -> None:
            for location in locations:
                assert len(store.read(location)) == LARGE

        def iterate() -> None:
            assert sum(map(len, store.retrieve(request))) == LARGE * len(keys)

        plains = {f"plain read{how}": partial(plain, buffer) for how, buffer in buffers.items()}
        intos = {f"retrieve_into{how}": partial(into, buffer) for how, buffer in buffers.items()}
        calls = plains | intos | {"share": share, "read": read, "retrieve": iterate}
        mib = len(keys)
        seconds = medians(rounds, *map(timed, calls.values()))
        for name, one in zip(calls, seconds, strict=True):
            report.add(f"1 MiB: {name}", mib / one, "MiB/s")
        limit, ours = min(seconds[: len(plains)]), min(seconds[len(plains) :])
        report.goal("1 MiB: fastest call to plain read", limit / ours, "", at_least=1)
        (busy,) = medians(rounds, lambda: processors_of(lambda: in_threads(store, keys)))
        report.goal(f"1 MiB: processors that {THREADS} threads use", busy, "", at_least=1.8)


def timed(act: Callable[[], object]) -> Callable[[], float]:
    """A function that returns the seconds of another one."""

    def run() -> float:
        begin = time.perf_counter()
        act()
        return time.perf_counter() - begin

    return run


def processors_of(act: Callable[[], object]) -> float:
    """The seconds of processors by the seconds of a clock, for a function that is repeated for half a second."""
    begin, used = time.perf_counter(), time.process_time()
    while time.perf_counter() - begin < 0.5:
        act()
    return (time.process_time() - used) / (time.perf_counter() - begin)


def in_threads(store: isotach.Store, keys: list[dict[str, str]]) -> None:
    """Retrieves all fields in each of the threads."""

    def run() -> None:
        buffer = bytearray(LARGE)
        for key in keys:
            store.retrieve_into(key, buffer)

    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
