"""Messages of several packings, with and without missing values, and what eccodes decodes of them."""

from __future__ import annotations

from typing import Any

import eccodes
import numpy as np

from grib_messages import BASE, message

MISSING = 9999.0
SHAPE = (91, 180)
GRID: dict[str, Any] = {
    "Ni": 180,
    "Nj": 91,
    "latitudeOfFirstGridPointInDegrees": 90,
    "latitudeOfLastGridPointInDegrees": -90,
    "longitudeOfFirstGridPointInDegrees": 0,
    "longitudeOfLastGridPointInDegrees": 358,
    "iDirectionIncrementInDegrees": 2,
    "jDirectionIncrementInDegrees": 2,
    "dataDate": 20240101,
    "dataTime": 0,
    "number": 1,
    "totalNumber": 2,
    "level": 500,
    "paramId": 130,
}
KINDS = [
    {"packingType": "grid_simple"},
    {"packingType": "grid_ccsds"},
    {"packingType": "grid_simple", "bitmapPresent": 1},
    {"packingType": "grid_ccsds", "bitmapPresent": 1},
    {"packingType": "grid_second_order"},
]
REQUEST = "class=od,expver=0001,stream=enfo,date=20240101,time=0,domain=g,type=pf,levtype=pl,number=1,levelist=500,param=t"


def of_step(step: int, kind: dict[str, Any]) -> bytes:
    """A message with values that look like a field; with a bitmap some are missing."""
    places = np.arange(SHAPE[0] * SHAPE[1], dtype=float)
    values = 250 + 30 * np.sin(places / 97) + np.modf(places * 0.618)[0] + step
    if "bitmapPresent" in kind:
        values[::7] = MISSING
        values[5000:9000] = MISSING
    keys = {**GRID, "step": step, "missingValue": MISSING, **kind}
    made = message(values=values, base=BASE, **keys)
    if kind["packingType"] != "grid_second_order":
        return made
    # It is refused without a word while the values are those of the sample.
    handle = eccodes.codes_new_from_message(made)
    eccodes.codes_set(handle, "packingType", "grid_second_order")
    made = bytes(eccodes.codes_get_message(handle))
    eccodes.codes_release(handle)
    return made


def decoded(one: bytes) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The values by eccodes, NaN where they are missing."""
    handle = eccodes.codes_new_from_message(one)
    eccodes.codes_set(handle, "missingValue", 1e30)
    values = eccodes.codes_get_values(handle)
    eccodes.codes_release(handle)
    return np.where(values == 1e30, np.nan, values)


def messages() -> list[bytes]:
    """Two messages of each kind, of steps 0 to 9."""
    return [of_step(step, KINDS[step % len(KINDS)]) for step in range(2 * len(KINDS))]
