"""How long it takes to open a dataset, and to load it: Isotach, cfgrib with its index built, and earthkit-data.

    python crates/python/benches/xarray_open.py [--fields 10000] [--rounds 7]

All three open the same messages: ten parameters on ten levels, the other half of the fields over steps and members. cfgrib and
earthkit-data read one file, which is in the page cache. Each opens once before, so that cfgrib's index is built, ecCodes' tables are
read, and Isotach remembers the headers of its ten variables. Unfair to earthkit-data: it keeps no index between calls, and scans the
file each time. In a fresh process nothing is remembered but cfgrib's index, which is a file; importing the packages does not count.

Prints the median of the rounds and all of them, in seconds.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import eccodes
import isotach
import numpy as np
import xarray as xr

PARAMS = (129, 130, 131, 132, 133, 135, 138, 155, 157, 203)
LEVELS = (50, 100, 200, 250, 300, 500, 700, 850, 925, 1000)


def write(path: Path, fields: int) -> None:
    """A file of this many messages on a grid of 61 by 120 points."""
    per_step = len(PARAMS) * len(LEVELS) * 10
    handle = eccodes.codes_grib_new_from_samples("regular_ll_pl_grib2")
    base = {
        "productDefinitionTemplateNumber": 1,
        "setLocalDefinition": 1,
        "class": "od",
        "expver": "0001",
        "stream": "enfo",
        "type": "pf",
        "dataDate": 20240101,
        "dataTime": 0,
        "totalNumber": 10,
        "Ni": 120,
        "Nj": 61,
        "latitudeOfFirstGridPointInDegrees": 90,
        "latitudeOfLastGridPointInDegrees": -90,
        "longitudeOfFirstGridPointInDegrees": 0,
        "longitudeOfLastGridPointInDegrees": 357,
        "iDirectionIncrementInDegrees": 3,
        "jDirectionIncrementInDegrees": 3,
        "bitsPerValue": 16,
    }
    for name, value in base.items():
        eccodes.codes_set(handle, name, value)
    eccodes.codes_set_values(handle, np.random.default_rng(1).normal(280, 20, 61 * 120))
    with path.open("wb") as file:
        for step in range(fields // per_step):
            for number in range(1, 11):
                for level in LEVELS:
                    for param in PARAMS:
                        keys = {"step": step * 6, "number": number, "level": level, "paramId": param}
                        for name, value in keys.items():
                            eccodes.codes_set(handle, name, value)
                        file.write(eccodes.codes_get_message(handle))
    eccodes.codes_release(handle)


def measure(what: str, rounds: int, act: Callable[[], object]) -> float:
    """The median of the rounds, after one that does not count."""
    act()
    seconds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - begin)
    median = statistics.median(seconds)
    print(f"{what:<28} {median:8.3f}   {' '.join(f'{one:.3f}' for one in sorted(seconds))}", flush=True)
    return median


FRESH = """
import sys, time, warnings
warnings.simplefilter("ignore")
import xarray as xr
xr.backends.list_engines()
begin = time.perf_counter()
xr.open_dataset(sys.argv[1], engine=sys.argv[2])
print(time.perf_counter() - begin)
"""


def measure_fresh(what: str, rounds: int, path: Path, engine: str) -> float:
    """The median seconds of opening in a fresh process."""
    seconds = [
        float(subprocess.check_output([sys.executable, "-c", FRESH, str(path), engine]))
        for _ in range(rounds)
    ]
    median = statistics.median(seconds)
    print(f"{what:<28} {median:8.3f}   {' '.join(f'{one:.3f}' for one in sorted(seconds))}", flush=True)
    return median


def main() -> None:
    """Writes, archives, opens and loads."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fields", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    import earthkit.data

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "fields.grib")
        write(file, arguments.fields)
        with isotach.create(Path(folder, "store")) as store:
            fields = len(store.archive(file))
        print(f"{fields} fields, {file.stat().st_size >> 20} MiB, Python {sys.version.split()[0]}")

        def ours(**options: object) -> xr.Dataset:
            return xr.open_dataset(Path(folder, "store"), engine="isotach", **options)

        def by_cfgrib() -> xr.Dataset:
            return xr.open_dataset(file, engine="cfgrib")

        def by_earthkit() -> xr.Dataset:
            return earthkit.data.from_source("file", str(file)).to_fieldlist().to_xarray()

        rounds = arguments.rounds
        open_ours = measure("isotach open", rounds, ours)
        measure("isotach open, chunks={}", rounds, lambda: ours(chunks={}))
        open_cfgrib = measure("cfgrib open, with index", rounds, by_cfgrib)
        open_earthkit = measure("earthkit-data open", 1, by_earthkit)
        fresh_ours = measure_fresh("isotach open, fresh process", rounds, Path(folder, "store"), "isotach")
        fresh_cfgrib = measure_fresh("cfgrib open, fresh process", rounds, file, "cfgrib")
        measure("isotach open and load t", min(rounds, 3), lambda: ours(dtype="float32").t.load())
        measure("cfgrib open and load t", min(rounds, 3), lambda: by_cfgrib().t.load())
        print(f"fresh processes: cfgrib / isotach {fresh_cfgrib / fresh_ours:.1f}")
        print(
            f"cfgrib / isotach {open_cfgrib / open_ours:.1f}, earthkit-data / isotach {open_earthkit / open_ours:.1f}"
        )


if __name__ == "__main__":
    main()
