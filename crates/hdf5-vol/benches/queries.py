"""Queries of a dataset by selectivity: a full scan by h5py and NumPy, on native HDF5 and on the connector, and ``isotach.hdf5.where`` without an index, with a zone map, and with bins.

    python crates/hdf5-vol/benches/queries.py --plugins FOLDER [--folder FOLDER] [--mib 128] [--rounds 3]

``--plugins`` is a folder with nothing but ``libisotach_vol.so``; ``isotach.hdf5`` must be importable. The numbers are f32 in chunks of 1 MiB: *mixed*, so that every chunk has all values, or *smooth*, so that a
chunk has a narrow range; and the same with shuffle and deflate. They are warm in the page cache. A figure is the median of the rounds, each a new process, of finding the places of all elements in a range
(``numpy.flatnonzero`` or ``Selection.indices``). A scan reads 4 chunks at a time, which is faster than the whole at once. The engine does not sync, as native HDF5 does not.

Unfair to the scans: they run on one processor, and queries on all.
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
from functools import partial
from pathlib import Path
from typing import Any

SELECTIVITIES = (1e-6, 1e-4, 1e-2, 0.1, 0.5)
CHUNK = 1 << 18
STEPS = 1 << 20
READ = 4 * CHUNK
KINDS = ("mixed", "smooth", "mixed, deflate", "smooth, deflate")
WAYS = ("native, scan", "connector, scan", "where", "where, zone map", "where, bins")


def make(path: Path, mib: int) -> dict[str, float]:
    """Makes the datasets. Returns how long that took, in milliseconds, and how many MiB each index takes."""
    import h5py
    import numpy as np

    random = np.random.default_rng(1)
    count = mib * CHUNK
    # Measured numbers have few digits: these fall on a million steps.
    mixed = random.integers(0, STEPS, count).astype("f4") / STEPS
    slope = np.arange(count) / count + random.normal(0, 1e-3, count)
    smooth = np.round(slope * STEPS).astype("f4") / STEPS
    took: dict[str, float] = {}
    with h5py.File(path, "w") as file:

        def timed(what: str, act: Callable[[], object]) -> None:
            before, begin = stored(path), time.perf_counter()
            act()
            file.flush()
            took[what] = 1000 * (time.perf_counter() - begin)
            took[f"{what}, MiB"] = stored(path) - before

        for kind in KINDS:
            values = mixed if kind.startswith("mixed") else smooth
            packed = (
                {"shuffle": True, "compression": "gzip", "compression_opts": 1} if "deflate" in kind else {}
            )
            create = partial(file.create_dataset, shape=(count,), dtype="f4", chunks=(CHUNK,), **packed)
            plain = create(kind)
            timed(f"{kind}: written", partial(plain.__setitem__, ..., values))
            if "HDF5_VOL_CONNECTOR" not in os.environ:
                continue
            from isotach.hdf5 import build_index

            for way, bins in (("zone map", False), ("bins", True)):
                indexed = create(f"{kind}, {way}")
                build_index(indexed, bins=bins)
                timed(f"{kind}: written with {way}", partial(indexed.__setitem__, ..., values))
                del file[f"{kind}, {way}"]
                later = create(f"{kind}, {way}")
                later[...] = values
                file.flush()
                timed(f"{kind}: {way} built later", partial(build_index, later, bins=bins))
    return took


def stored(path: Path) -> float:
    """How many MiB the pool beside a file takes."""
    return sum(file.stat().st_blocks for file in path.parent.glob(".isotach-h5/**/*")) / 2048


def measure(path: Path, way: str) -> dict[str, float]:
    """How long each query takes, in milliseconds, and how many elements it finds."""
    import h5py

    act, suffix = (query, way.removeprefix("where")) if way.startswith("where") else (scan, "")
    found: dict[str, float] = {}
    with h5py.File(path, "r") as file:
        for kind in KINDS:
            dataset = file[kind + suffix]
            # The first one reads what is not in the page cache, and the entries of the chunks.
            act(dataset, 0.3, 0.31)
            for selectivity in SELECTIVITIES:
                begin = time.perf_counter()
                count = act(dataset, 0.3, 0.3 + selectivity)
                found[f"{kind} | {selectivity:g}"] = 1000 * (time.perf_counter() - begin)
                found[f"{kind} | {selectivity:g}, count"] = count
    return found


def scan(dataset: Any, low: float, high: float) -> int:
    """Reads everything."""
    import numpy as np

    parts = []
    for start in range(0, len(dataset), READ):
        values = dataset[start : start + READ]
        parts.append(np.flatnonzero((values >= low) & (values <= high)) + start)
    return len(np.concatenate(parts))


def query(dataset: Any, low: float, high: float) -> int:
    """Asks the connector."""
    from isotach.hdf5 import value, where

    return len(where(dataset, value.between(low, high)).indices)


def child(plugins: Path | None, *arguments: str) -> dict[str, float]:
    """Runs this program in a new process."""
    environment = dict(os.environ)
    if plugins is not None:
        environment |= {"HDF5_PLUGIN_PATH": str(plugins), "HDF5_VOL_CONNECTOR": "isotach ?sync=no"}
    done = subprocess.run(
        [sys.executable, __file__, *arguments], env=environment, check=True, stdout=subprocess.PIPE
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def show_making(native: dict[str, float], connector: dict[str, float]) -> None:
    """Prints how long each dataset and index took, and its space."""
    columns = (
        "written",
        "written with zone map",
        "written with bins",
        "zone map built later",
        "bins built later",
    )
    print(f"| ms | native, written | {' | '.join(columns)} | MiB of the zone map | MiB of the bins |")
    print(f"|---|{'---:|' * 8}")
    for kind in KINDS:
        times = [native[f"{kind}: written"], *(connector[f"{kind}: {column}"] for column in columns)]
        sizes = [connector[f"{kind}: {way} built later, MiB"] for way in ("zone map", "bins")]
        row = [*(f"{time_:.0f}" for time_ in times), *(f"{size:.2f}" for size in sizes)]
        print(f"| {kind} | {' | '.join(row)} |")


def main() -> None:
    """Makes both files, and measures each way in turns."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--plugins", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--mib", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--act", nargs=2, metavar=("ACT", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.act:
        act, path = options.act
        done = make(Path(path), options.mib) if act == "make" else measure(Path(path), act)
        print(json.dumps(done))
        return
    if options.plugins is None:
        parser.error("--plugins is missing: the folder with libisotach_vol.so")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        paths = {None: Path(folder) / "native.h5", options.plugins: Path(folder) / "isotach.h5"}
        made = [
            child(plugins, "--mib", str(options.mib), "--act", "make", str(path))
            for plugins, path in paths.items()
        ]
        rounds: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
        for way in WAYS * options.rounds:
            plugins = None if way.startswith("native") else options.plugins
            rounds[way].append(child(plugins, "--act", way, str(paths[plugins])))
    show_making(*made)
    print(f"\n| {options.mib} MiB, ms | found | {' | '.join(WAYS)} |\n|---|---:|---:|{'---:|' * len(WAYS)}")
    for name in (name for name in rounds[WAYS[0]][0] if not name.endswith("count")):
        counts = {done[f"{name}, count"] for way in WAYS for done in rounds[way]}
        if len(counts) != 1:
            raise SystemExit(f"{name}: the ways differ in how many elements they find: {sorted(counts)}")
        medians = [statistics.median(done[name] for done in rounds[way]) for way in WAYS]
        print(f"| {name} | {counts.pop()} | {' | '.join(f'{median:.1f}' for median in medians)} |")


if __name__ == "__main__":
    main()
