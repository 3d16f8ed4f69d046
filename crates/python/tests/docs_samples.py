"""The files that the pages' lines of Python read.

    python docs_samples.py FOLDER

``forecast.grib`` is a small forecast, ``data/fields`` a store that holds it, and ``era5.grib`` ERA5's sample, if the folder that
ISOTACH_SAMPLES names has it. Needs the extra ``isotach[xarray]``.
"""

from __future__ import annotations

import os
import shutil
import sys
from itertools import product
from pathlib import Path

import isotach

from grib_messages import OPERATIONAL, message, surface

ERA5 = "era5-levels-members.grib"


def write(folder: Path) -> None:
    """Writes them."""
    levels = product((0, 6, 12), (500, 850), (130, 131))
    messages = [surface(step) for step in (0, 6, 12)]
    messages += [
        message(base=OPERATIONAL, dataDate=20240101, dataTime=0, step=step, level=level, paramId=param)
        for step, level, param in levels
    ]
    (folder / "forecast.grib").write_bytes(b"".join(messages))
    with isotach.create(folder / "data" / "fields") as store:
        store.archive(folder / "forecast.grib")
    era5 = sample()
    if era5 is not None:
        shutil.copy(era5, folder / "era5.grib")


def sample() -> Path | None:
    """ERA5's sample of an ensemble, which the page of xarray opens."""
    return next(iter(Path(os.environ.get("ISOTACH_SAMPLES", ".samples")).rglob(ERA5)), None)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
