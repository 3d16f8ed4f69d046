"""Writes the store that `test_stored.py` reads: `python3 make.py ISOTACH POOL`, with the program of an earlier version.

The archive beside this file holds such a pool, named after the version that wrote it, without the files `reserve`, which every
reader ignores. The test has a pool for each version whose stores must stay readable.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

FORECAST = "class=od,expver=0001,stream=oper,time=1200,domain=g"
WIPED = f"{FORECAST},date=20240101,type=fc,levtype=sfc"


def key(date: int, levtype: str, step: int, param: int) -> str:
    """The whole key of a field."""
    level = ",levelist=500" if levtype == "pl" else ""
    return f"{FORECAST},date={date},type=fc,levtype={levtype},step={step}{level},param={param}"


def content(key: str, edition: int) -> bytes:
    """The bytes of a field when it is archived for the edition-th time."""
    return f"{key} edition {edition}\n".encode() * (20 + 40 * edition)


LEVELS = [key(20240101, "pl", step, param) for step in (0, 6, 12) for param in (130, 131)]
SURFACE = [key(20240101, "sfc", step, 167) for step in (0, 6, 12)]
OTHER = [key(20240102, "pl", step, 130) for step in (0, 6)]

EDITIONS_OF_SNAPSHOT = {**dict.fromkeys(LEVELS + SURFACE + OTHER, 1), **dict.fromkeys(LEVELS[:4], 2)}
"""The fields of the snapshot `first`."""

EDITIONS = {
    **{key: edition for key, edition in EDITIONS_OF_SNAPSHOT.items() if key not in SURFACE},
    **dict.fromkeys(LEVELS[:2], 3),
}
"""The fields of the store."""


def main(program: str, pool: str) -> None:
    """Archives, replaces, purges, makes a snapshot, wipes a collocation and locks a dataset."""

    def run(*words: str) -> None:
        environment = {"ISOTACH_STORE": f"posix:{pool}?checkpoint=1500"}
        subprocess.run([program, *words], check=True, env=environment)

    def write(edition: int, keys: list[str]) -> None:
        for key in keys:
            with tempfile.NamedTemporaryFile() as file:
                file.write(content(key, edition))
                file.flush()
                run("write", "--key", key, file.name)

    run("init")
    write(1, LEVELS + SURFACE + OTHER)
    write(2, LEVELS[:4])
    run("purge", f"{FORECAST},date=20240101", "--doit")
    run("snapshot", "create", "first")
    write(3, LEVELS[:2])
    run("wipe", WIPED, "--doit")
    run("lock", f"{FORECAST},date=20240102", "--wipe")


if __name__ == "__main__":
    main(*sys.argv[1:])
