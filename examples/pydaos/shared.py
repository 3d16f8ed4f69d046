"""Two processes share one dictionary: each writes, both see all, and one changes what the other wrote.

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
    """Prints what a process sees."""
    seen = ", ".join(f"{key}={value.decode()}" for key, value in sorted(stations.dump().items()))
    # In one piece with the end of its line, since the other tells at the same time.
    sys.stdout.write(f"{who} sees {len(stations)}: {seen}\n")
    sys.stdout.flush()


def work(who: str, pool: str, container: str, step: Barrier) -> None:
    """What each of the two does; they wait for each other before each look."""
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
    """Makes the dictionary anew, runs the two, and says whether both came to their end."""
    pydaos.create(pool, container)
    with pydaos.DCont(pool, container) as opened:
        if NAME in opened:
            opened.destroy(NAME)
        opened.dict(NAME)
    # A child of fork may not use what its parent opened, so each of the two starts anew.
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
