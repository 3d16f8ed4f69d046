"""GRIB messages for the tests, made from ecCodes' samples."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import eccodes
import isotach
import numpy as np

BASE: dict[str, Any] = {
    "productDefinitionTemplateNumber": 1,
    "setLocalDefinition": 1,
    "class": "od",
    "expver": "0001",
    "stream": "enfo",
    "type": "pf",
}


def message(
    sample: str = "regular_ll_pl_grib2", values: Any = None, base: dict[str, Any] = BASE, **keys: Any
) -> bytes:
    """A message of a sample with these keys, set in this order, and values."""
    handle = eccodes.codes_grib_new_from_samples(sample)
    try:
        for name, value in {**base, **keys}.items():
            eccodes.codes_set(handle, name.rstrip("_"), value)
        if values is not None:
            eccodes.codes_set(handle, "bitsPerValue", 16)
            eccodes.codes_set_values(handle, np.ravel(values))
        return bytes(eccodes.codes_get_message(handle))
    finally:
        eccodes.codes_release(handle)


OPERATIONAL = {"setLocalDefinition": 1, "class": "od", "expver": "0001", "stream": "oper", "type": "fc"}


def surface(step: int) -> bytes:
    """A message of the temperature at 2 m, whose values are the step."""
    values = np.full(496, float(step))
    return message(
        "regular_ll_sfc_grib2", values, OPERATIONAL, dataDate=20240101, dataTime=0, step=step, paramId=167
    )


def on_level(step: int, level: int = 500) -> bytes:
    """A message of the temperature on a pressure level."""
    return message(base=OPERATIONAL, step=step, level=level, dataDate=20240101, dataTime=0, paramId=130)


def small(values: Any = None, **keys: Any) -> bytes:
    """A message on a grid of 3 rows and 4 columns, whose values are different for different keys."""
    grid = {
        "Ni": 4,
        "Nj": 3,
        "latitudeOfFirstGridPointInDegrees": 60,
        "latitudeOfLastGridPointInDegrees": 40,
        "longitudeOfFirstGridPointInDegrees": 0,
        "longitudeOfLastGridPointInDegrees": 30,
        "jDirectionIncrementInDegrees": 10,
        "iDirectionIncrementInDegrees": 10,
        "dataDate": 20240101,
        "dataTime": 0,
        "number": 1,
        "totalNumber": 2,
        "step": 0,
        "level": 500,
        "paramId": 130,
    }
    keys = {**grid, **keys}
    if values is None:
        values = constant(**keys) + np.arange(12.0)
    return message(values=values, **keys)


def constant(**keys: Any) -> float:
    """What the values of :func:`small` begin with."""
    return float(
        keys["number"] * 1000 + keys["step"] * 20 + keys["level"] + keys["paramId"] + keys["dataTime"]
    )


def ensemble(
    store: isotach.Store,
    *,
    numbers: Iterable[int] = (1, 2),
    times: Iterable[int] = (0, 1200),
    steps: Iterable[int] = (0, 6),
    levels: Iterable[int] = (500, 850),
    params: Iterable[int] = (130, 131),
    without: Iterable[tuple[int, int, int, int, int]] = (),
) -> None:
    """Archives a hypercube of small fields, without some of them, and flushes."""
    for number, time, step, level, param in product(numbers, times, steps, levels, params):
        if (number, time, step, level, param) not in without:
            store.archive(small(number=number, dataTime=time, step=step, level=level, paramId=param))
    store.flush()
