"""The goals of the Python package for speed, in one run: medians of rounds, as a table in Markdown.

    python crates/python/benches/goals.py [--mib 256] [--rounds 5] [--program isotach] [--folder /tmp] [--only small large hypercube]

It needs the package, the requirements of its tests, and the program. ``--mib`` is the size of the hypercubes: 10240 for 10 GiB, for which
the folder needs three times as much, and four times as much with z3fdb.

Unfair to Isotach: its view decodes each field, and Zarr on disk copies bytes. Unfair to Zarr on disk: a field is packed in 16 bits, so that
cold files are a half or a quarter as large. Unfair to z3fdb: its guide recommends one thread, and Zarr's settings are those of everybody here.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import warnings
from pathlib import Path

import isotach

import hypercube
import small_fields
from measuring import Report


def main() -> None:
    """Measures what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--program", default=os.environ.get("ISOTACH_BIN", "isotach"))
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"Isotach {isotach.__version__}, Python {platform.python_version()}, {os.cpu_count()} processors\n")
    report = Report()
    rounds = arguments.rounds
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        if "small" in arguments.only:
            small_fields.small(report, folder, arguments.program, rounds)
        if "large" in arguments.only:
            small_fields.large(report, folder, rounds)
        if "hypercube" in arguments.only:
            for packing, dtype in CUBES:
                hypercube.measure(report, folder, arguments.mib, dtype, packing, rounds)


PARTS = ("small", "large", "hypercube")
CUBES = (("grid_simple", "float64"), ("grid_simple", "float32"), ("grid_ccsds", "float32"))


if __name__ == "__main__":
    main()
