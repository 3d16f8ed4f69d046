"""How long one grid point of many fields takes: Isotach, pygribjump over FDB, and decoding the fields as a whole.

    python crates/python/benches/points.py isotach [--fields 1000] [--packing grid_ccsds] [--rounds 7] [--folder FOLDER]
    python crates/python/benches/points.py pygribjump ...

Each run archives the same messages of about 1 MiB, under the keys that they carry, in a new folder, and then reads one point of each
field: the first time, when indexes may be missing, and then in rounds, with the files in the page cache. pygribjump needs its own
environment: pip install pygribjump gribjumplib pyfdb eccodes. Unfair to nobody that we know of: both get one request for all fields.

Prints the median of the rounds and all of them, in seconds, and the sum of the values, which is the same in both.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import eccodes
import numpy as np

COLUMNS, ROWS = 1024, 512
POINT = 123_456
SCHEMA = "[ class, expver, stream, date, time, domain? [ type, levtype [ step, levelist?, param ]]]\n"
DAY: dict[str, Any] = {
    "class": "od",
    "expver": "0001",
    "stream": "oper",
    "date": "20240101",
    "time": "0000",
    "domain": "g",
    "type": "fc",
    "levtype": "pl",
    "levelist": "500",
    "param": "130",
}


def messages(fields: int, packing: str) -> Iterator[bytes]:
    """Messages of steps from 0 on, whose values look like a field."""
    handle = eccodes.codes_grib_new_from_samples("regular_ll_pl_grib2")
    keys = {
        "setLocalDefinition": 1,
        "class": "od",
        "expver": "0001",
        "stream": "oper",
        "type": "fc",
        "dataDate": 20240101,
        "dataTime": 0,
        "level": 500,
        "paramId": 130,
        "Ni": COLUMNS,
        "Nj": ROWS,
        "latitudeOfFirstGridPoint": 89_000_000,
        "latitudeOfLastGridPoint": -89_000_000,
        "longitudeOfFirstGridPoint": 0,
        "longitudeOfLastGridPoint": 359_000_000,
        "bitsPerValue": 16,
        "packingType": packing,
    }
    for name, value in keys.items():
        eccodes.codes_set(handle, name, value)
    places = np.arange(COLUMNS * ROWS)
    noise = np.random.default_rng(1).normal(0, 0.3, COLUMNS * ROWS)
    eccodes.codes_set_values(handle, 280 + 20 * np.sin(places / 9000) + noise)
    for step in range(fields):
        eccodes.codes_set(handle, "step", step)
        yield bytes(eccodes.codes_get_message(handle))
    eccodes.codes_release(handle)


def decoded(message: bytes) -> float:
    """The point of a message that is decoded as a whole."""
    handle = eccodes.codes_new_from_message(message)
    value = float(eccodes.codes_get_values(handle)[POINT])
    eccodes.codes_release(handle)
    return value


def grid_of(message: bytes) -> str:
    """The hash of its grid."""
    handle = eccodes.codes_new_from_message(message)
    grid = eccodes.codes_get(handle, "md5GridSection")
    eccodes.codes_release(handle)
    return str(grid)


Reader = Callable[[], float]


def isotach_readers(folder: Path, fields: int, packing: str) -> tuple[Reader, Reader]:
    """Functions that read the point of all fields, and the fields as a whole."""
    import isotach

    with isotach.create(folder / "fields", SCHEMA) as store:
        for message in messages(fields, packing):
            store.archive(message)
    store = isotach.open(folder / "fields")
    request = isotach.Request(DAY, step=range(fields))

    def points() -> float:
        found = store.values(request, points=[POINT])
        if found.whole or len(found) != fields:
            raise RuntimeError(f"{len(found)} fields, {found.whole} of them decoded as a whole")
        return float(found.values.sum())

    return points, lambda: sum(decoded(bytes(field)) for field in store.retrieve(request))


def gribjump_readers(folder: Path, fields: int, packing: str) -> tuple[Reader, Reader]:
    """The same over FDB."""
    (folder / "root").mkdir()
    (folder / "schema").write_text(SCHEMA)
    (folder / "config.yaml").write_text(
        f"type: local\nengine: toc\nschema: {folder}/schema\n"
        f"spaces: [{{handler: Default, roots: [{{path: {folder}/root}}]}}]\n"
    )
    os.environ["FDB_CONFIG_FILE"] = os.environ["FDB5_CONFIG_FILE"] = str(folder / "config.yaml")
    import pyfdb
    import pygribjump

    fdb, grid = pyfdb.FDB(folder / "config.yaml"), ""
    for message in messages(fields, packing):
        grid = grid or grid_of(message)
        fdb.archive(message)
    fdb.flush()
    jump = pygribjump.GribJump()
    request = {**DAY, "step": [str(step) for step in range(fields)]}

    def points() -> float:
        results = jump.extract_single(request, [(POINT, POINT + 1)], grid)
        return float(sum(result.values_flat[0] for result in results))

    def whole() -> float:
        total = 0.0
        for step in request["step"]:
            with fdb.retrieve({**DAY, "step": step}) as handle:
                total += decoded(handle.read())
        return total

    return points, whole


def timed(read: Reader) -> tuple[float, float]:
    """The seconds that it takes, and its result."""
    begin = time.perf_counter()
    total = read()
    return time.perf_counter() - begin, total


def main() -> None:
    """Measures one of the two."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("reader", choices=["isotach", "pygribjump"])
    arguments.add_argument("--fields", type=int, default=1000)
    arguments.add_argument("--packing", default="grid_simple")
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--folder", type=Path)
    given = arguments.parse_args()
    readers = isotach_readers if given.reader == "isotach" else gribjump_readers
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        points, whole = readers(Path(folder), given.fields, given.packing)
        first, total = timed(points)
        print(f"{given.reader}, {given.fields} fields, {given.packing}: sum {total:.6f}")
        print(f"first    {first:8.3f}")
        for name, read in (("points", points), ("whole", whole)):
            times = []
            for _ in range(given.rounds if name == "points" else 1):
                seconds, again = timed(read)
                times.append(seconds)
                if abs(again - total) > 1e-6:
                    raise RuntimeError(f"{name}: {again} instead of {total}")
            rounds = " ".join(f"{seconds:.3f}" for seconds in times)
            print(f"{name:8} {statistics.median(times):8.3f}   {rounds}")


if __name__ == "__main__":
    main()
