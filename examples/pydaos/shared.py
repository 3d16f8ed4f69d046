"""Two processes share one dictionary: each writes, both see all keys, and one changes keys of the other.

python shared.py POOL CONTAINER
"""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing.synchronize import Barrier

import pydaos

NAME = "stations"
KEYS = {"north": ("oslo", "bergen"), "south": ("rome", "bari", "cagliari")}


def tell(who: str, stations: pydaos.DDict) -> None:
    """Prints the keys that a process sees."""
    seen = ", ".join(f"{key}={value.decode()}" for key, value in sorted(stations.dump().items()))
    # One write with the end of the line, because the other process prints at the same time.
    sys.stdout.write(f"{who} sees {len(stations)}: {seen}\n")
    sys.stdout.flush()


def work(who: str, pool: str, container: str, step: Barrier) -> None:
    """The work of each process; they wait for each other before each read."""
    with pydaos.DCont(pool, container) as opened:
        stations = opened.get(NAME)
        stations.bput({key: f"from {who}" for key in KEYS[who]})
        step.wait()
        tell(who, stations)
        step.wait()
        if who == "north":
            stations["rome"] = "changed by north"
            del stations["bari"]
        step.wait()
        tell(who, stations)


def main(pool: str, container: str) -> int:
    """Creates the dictionary again, runs both processes, and returns whether both succeeded."""
    pydaos.create(pool, container)
    with pydaos.DCont(pool, container) as opened:
        if NAME in opened:
            opened.destroy(NAME)
        opened.dict(NAME)
    # A child of fork must not use handles of its parent, so each process opens its own.
    context = multiprocessing.get_context("spawn")
    step = context.Barrier(len(KEYS), timeout=60)
    both = [context.Process(target=work, args=(who, pool, container, step)) for who in KEYS]
    for process in both:
        process.start()
    for process in both:
        process.join()
    return max(abs(process.exitcode or 0) for process in both)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
