"""The forecast of the tutorials: an invented typhoon that approaches Japan, in an ensemble of ten members.

Nothing is downloaded. The values are formulas, and the messages are made from a sample of ecCodes. What must stay true: the same
call gives the same bytes, so the pages of the tutorials are the same wherever they are built.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import eccodes
import isotach
import numpy as np
import numpy.typing as npt

MEMBERS = range(1, 11)
STEPS = range(0, 49, 6)
PARAMS = {"2t": (167, "sfc"), "msl": (151, "sfc"), "z": (129, "pl")}
"""The parameters with their numbers and types of level. ``z`` is on 500 hPa."""

LATITUDES = np.arange(50.0, 14.9, -0.5)
LONGITUDES = np.arange(115.0, 165.1, 0.5)

Values = npt.NDArray[np.float64]


def write(path: str | Path, members: Iterable[int] = MEMBERS, steps: Iterable[int] = STEPS) -> None:
    """Writes a GRIB file with all parameters of some members and steps (hours)."""
    Path(path).write_bytes(b"".join(messages(members, steps)))


def write_folder(folder: str | Path) -> None:
    """Writes a folder with one GRIB file for each step."""
    Path(folder).mkdir()
    for step in STEPS:
        write(Path(folder) / f"enfo_2024090100_{step:03}.grib", steps=[step])


def archive(store: str) -> None:
    """Creates a store at a URI, with the whole forecast."""
    with isotach.create(store) as created:
        created.archive(b"".join(messages(MEMBERS, STEPS)))


def messages(members: Iterable[int], steps: Iterable[int]) -> Iterator[bytes]:
    """The GRIB messages of the forecast."""
    for step, member, param in product(steps, members, PARAMS):
        yield message(param, member, step, values(param, member, step))


def message(param: str, member: int, step: int, field: Values) -> bytes:
    """One GRIB message, packed in 16 bits for each value."""
    number, levtype = PARAMS[param]
    keys = {
        "productDefinitionTemplateNumber": 1,
        "setLocalDefinition": 1,
        "class": "rd",
        "expver": "demo",
        "stream": "enfo",
        "type": "pf",
        "number": member,
        "totalNumber": len(MEMBERS),
        "dataDate": 20240901,
        "dataTime": 0,
        "step": step,
        "paramId": number,
        "Ni": LONGITUDES.size,
        "Nj": LATITUDES.size,
        "latitudeOfFirstGridPointInDegrees": LATITUDES[0],
        "latitudeOfLastGridPointInDegrees": LATITUDES[-1],
        "longitudeOfFirstGridPointInDegrees": LONGITUDES[0],
        "longitudeOfLastGridPointInDegrees": LONGITUDES[-1],
        "iDirectionIncrementInDegrees": 0.5,
        "jDirectionIncrementInDegrees": 0.5,
        "bitsPerValue": 16,
    }
    if levtype == "pl":
        keys["level"] = 500
    handle = eccodes.codes_grib_new_from_samples(f"regular_ll_{levtype}_grib2")
    try:
        for name, value in keys.items():
            eccodes.codes_set(handle, name, value)
        eccodes.codes_set_values(handle, field.ravel())
        return bytes(eccodes.codes_get_message(handle))
    finally:
        eccodes.codes_release(handle)


def values(param: str, member: int, step: int) -> Values:
    """The values of a field, by latitude and longitude: temperature in K, pressure in Pa, geopotential in m2 s-2."""
    latitude, longitude = np.meshgrid(LATITUDES, LONGITUDES, indexing="ij")
    centre_latitude, centre_longitude = centre(member, step)
    stretch = np.cos(np.radians(centre_latitude))
    distance = np.hypot(latitude - centre_latitude, (longitude - centre_longitude) * stretch)
    storm = depth(member, step) / (1 + (distance / 2) ** 2)
    ridge = np.exp(-(((latitude - 32) / 9) ** 2) - ((longitude - 158) / 14) ** 2)
    weather = noise(param, member, step, latitude, longitude)
    if param == "msl":
        return 100 * (1010 + 10 * ridge - storm + 0.8 * weather)
    if param == "2t":
        # The afternoon is at 5 UTC in the east of the region.
        day = np.cos(2 * np.pi * (step - 5 + (longitude - 140) / 15) / 24)
        return 301 - 0.012 * (latitude - 15) ** 2 + 1.5 * day + storm / 40 + 0.7 * weather
    return 9.80665 * (5890 - 0.22 * (latitude - 15) ** 2 + 30 * ridge - 3 * storm + 8 * weather)


def centre(member: int, step: int) -> tuple[float, float]:
    """The latitude and longitude of the storm. Members disagree more with each step."""
    speed, turn = np.random.default_rng(member).normal(0, 1, 2)
    latitude = 21 + 0.27 * step * (1 + 0.12 * speed)
    longitude = 142 - 0.16 * step + (0.0028 + 0.0011 * turn) * step**2
    return float(latitude), float(longitude)


def depth(member: int, step: int) -> float:
    """How far the pressure falls in the centre of the storm, in hPa. It deepens for a day and a half."""
    strength = np.random.default_rng(100 + member).normal(0, 1)
    return float(42 + 14 * np.sin(np.pi * step / 72) + step / 12 * strength)


def noise(param: str, member: int, step: int, latitude: Values, longitude: Values) -> Values:
    """Smooth waves that drift east. Those of the members are alike at first."""
    total = np.zeros_like(latitude)
    for seed, weight in ((0, 1.0), (member, step / 48)):
        random = np.random.default_rng([seed, *param.encode()])
        for across, along, phase in random.uniform(0.1, 0.5, (6, 3)):
            angle = along * latitude + across * (longitude - step / 12) + 20 * phase
            total += weight * np.sin(angle) / 3
    return total
