"""The files that the scenarios archive: small GRIB messages, each with a value of its own, and some that are none.

The messages of a file are told by what they change of `FORECAST`. What must stay true: the same call gives the same
bytes, and no two messages are equal, so that comparing bytes tells them apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

from make_data import BARE2, PF2, PL1, PL2, SFC1, SFC2, Keys, message, product

FORECAST: Keys = PL1 | {
    "class": "rd",
    "expver": "xxxx",
    "type": "fc",
    "dataDate": 20240101,
    "dataTime": 0,
    "paramId": 130,
}
SURFACE: Keys = SFC1 | {
    "class": "rd",
    "expver": "xxxx",
    "type": "fc",
    "dataDate": 20240101,
    "dataTime": 0,
    "step": 6,
    "paramId": 167,
}
SECOND: Keys = PL2 | {
    "class": "rd",
    "expver": "xxxx",
    "type": "fc",
    "dataDate": 20240101,
    "dataTime": 0,
    "paramId": 130,
}
MEMBER: Keys = PF2 | {"class": "rd", "expver": "xxxx", "type": "pf", "step": 6, "level": 500, "paramId": 130}
MODERN: Keys = SFC2 | {
    "tablesVersion": 35,
    "class": "rd",
    "expver": "xxxx",
    "type": "fc",
    "dataDate": 20240101,
    "dataTime": 0,
    "paramId": 167,
}


def four(**other: str | int) -> list[Keys]:
    """Two steps on two levels."""
    return list(product(FORECAST | other, step=[0, 6], level=[1000, 500]))


MESSAGES: dict[str, list[Keys]] = {
    "x.grib": four(),
    "y.grib": four(expver="yyyy"),
    "z.grib": four(expver="zzzz"),
    "again.grib": [FORECAST | {"step": 0, "level": 1000}],
    "all-again.grib": four(),
    "z-one.grib": [FORECAST | {"expver": "zzzz", "step": 0, "level": 1000}],
    "step12.grib": [FORECAST | {"step": 12, "level": 1000}],
    "noon.grib": four(dataTime=1200),
    "second.grib": list(product(SECOND, step=[0, 6], level=[1000, 500])),
    "surface.grib": [SURFACE],
    "analysis.grib": four(type="an"),
    "analyses.grib": list(
        product(FORECAST | {"type": "an", "step": 0, "level": 500}, dataTime=[0, 600, 1200])
    ),
    "days.grib": list(product(FORECAST | {"step": 0, "level": 500}, dataDate=[20240101, 20240102, 20240103])),
    "runs.grib": list(
        product(FORECAST | {"step": 0, "level": 500}, dataDate=[20240101, 20240102], dataTime=[0, 1200])
    ),
    "experiments.grib": list(product(FORECAST | {"step": 0, "level": 500}, expver=["xxxx", "xxxy", "xxxz"])),
    "members.grib": list(product(MEMBER, number=[1, 2, 3])),
    "accumulated.grib": list(
        product(SURFACE | {"stepType": "accum", "paramId": 228}, stepRange=["0-6", "0-12", "6-12"])
    ),
    "params.grib": list(product(FORECAST | {"step": 6, "level": 500}, paramId=[130, 129, 138, 155])),
    "timespan.grib": [MODERN | {"step": 6}],
    "bare.grib": [BARE2 | {"dataDate": 20240101, "level": 500, "paramId": 130, "step": 0}],
    "unknown-stream.grib": [FORECAST | {"stream": "mnth", "step": 0, "level": 500}],
    "classes.grib": list(product(FORECAST | {"step": 0, "level": 500}, **{"class": ["rd", "od"]})),
}


def cut(x: bytes) -> bytes:
    """The last message ends too early."""
    return x[:-30]


def padded(x: bytes) -> bytes:
    """Bytes that are no GRIB stand between two messages."""
    return x[:108] + b"no message" + x[108:]


MADE_OF_X: dict[str, Callable[[bytes], bytes]] = {
    "cut.grib": cut,
    "padded.grib": padded,
    "text.txt": lambda _: b"hello, no message\n",
    "empty.grib": lambda _: b"",
}


def make(directory: Path) -> Path:
    """Writes every file below `directory`."""
    serial = itertools.count(1)
    for name, keys in MESSAGES.items():
        (directory / name).write_bytes(b"".join(message(each, float(next(serial))) for each in keys))
    x = (directory / "x.grib").read_bytes()
    for name, bytes_of in MADE_OF_X.items():
        (directory / name).write_bytes(bytes_of(x))
    return directory
