"""Makes the GRIB files of the parity tests from the samples that come with ecCodes.

Every message holds one constant value, its serial number, so that no two messages are equal and each is about
200 bytes long. What must stay true: the same day gives the same bytes, and the plan below is the only place
that says which fields exist.

Run by hand: `python make_data.py DIRECTORY [YYYY-MM-DD]` (the day is the one that relative dates refer to).
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import eccodes

Keys = dict[str, str | int]


@dataclass
class GribFile:
    """One file to archive: its messages, and the keys that the messages do not carry themselves."""

    name: str
    messages: list[Keys]
    overlay: dict[str, str] = field(default_factory=dict)
    path: Path = Path()


def product(base: Keys, **axes: list[str | int]) -> Iterator[Keys]:
    """The cross product of the axes, each point laid over `base`, the last axis running fastest."""
    for point in itertools.product(*axes.values()):
        yield base | dict(zip(axes, point))


PL1: Keys = {"sample": "regular_ll_pl_grib1", "class": "od", "expver": "0001", "stream": "oper"}
SFC1: Keys = PL1 | {"sample": "regular_ll_sfc_grib1"}
LOCAL2: Keys = {"setLocalDefinition": 1, "class": "od", "expver": "0001", "stream": "oper"}
PL2: Keys = {"sample": "regular_ll_pl_grib2"} | LOCAL2
SFC2: Keys = {"sample": "regular_ll_sfc_grib2"} | LOCAL2
BARE2: Keys = {"sample": "regular_ll_pl_grib2", "dataTime": 0}
PF2: Keys = PL2 | {
    "productDefinitionTemplateNumber": 1,
    "stream": "enfo",
    "dataDate": 20240101,
    "dataTime": 0,
}

DAYS = [20240101, 20240102, 20240104]
STEPS = [0, 6, 12, 24]
LEVELS = [1000, 500]


def plan(today: date) -> list[GribFile]:
    """The files in the order in which they are archived, with a flush after each."""
    return [*deterministic(), *ensemble(), *bare(), *relative(today), replacement()]


def deterministic() -> list[GribFile]:
    """Stream oper: GRIB 1 at 0000, GRIB 2 at 1200, sub-hourly steps at 0600, a key of newer tables at 1800."""
    fc1 = product(
        PL1 | {"type": "fc", "dataTime": 0}, dataDate=DAYS, step=STEPS, level=LEVELS, paramId=[130, 131]
    )
    fc2 = product(
        PL2 | {"type": "fc", "dataTime": 1200}, dataDate=DAYS, step=STEPS, level=LEVELS, paramId=[130, 131]
    )
    sfc = product(SFC1 | {"type": "fc", "dataDate": 20240101, "dataTime": 0}, step=STEPS, paramId=[167, 151])
    accumulated = product(
        SFC1 | {"type": "fc", "dataDate": 20240101, "dataTime": 0, "stepType": "accum", "paramId": 228},
        stepRange=["0-6", "0-12", "0-24"],
    )
    short = product(
        SFC2 | {"type": "fc", "dataDate": 20240101, "dataTime": 600, "paramId": 167, "stepUnits": "m"},
        step=[30, 60, 90],
    )
    fine = product(
        PL2
        | {
            "type": "fc",
            "dataDate": 20240101,
            "dataTime": 600,
            "paramId": 130,
            "typeOfLevel": "isobaricInPa",
        },
        level=[85050, 50],
    )
    modern = SFC2 | {"tablesVersion": 35, "type": "fc", "dataDate": 20240101, "dataTime": 1800}
    over_time = {"productDefinitionTemplateNumber": 8, "paramId": 228, "stepRange": "0-6"}
    return [
        GribFile("oper_pl_1.grib", list(fc1)),
        GribFile("oper_pl_2.grib", list(fc2)),
        GribFile("oper_sfc.grib", [*sfc, *accumulated]),
        GribFile("oper_short_steps.grib", list(short)),
        GribFile("oper_fine_levels.grib", list(fine)),
        GribFile("oper_timespan.grib", [modern | {"paramId": 167, "step": 6}, modern | over_time]),
    ]


def ensemble() -> list[GribFile]:
    """Stream enfo: perturbed members, a control, and probabilities whose step is a range."""
    members = product(
        PF2 | {"type": "pf"}, number=[1, 2, 3, 4], step=[0, 12, 24], level=LEVELS, paramId=[130]
    )
    control = product(
        PL1 | {"stream": "enfo", "type": "cf", "dataDate": 20240101, "dataTime": 0, "paramId": 130},
        step=[0, 12, 24],
        level=LEVELS,
    )
    probability = SFC1 | {"stream": "enfo", "type": "ep", "dataDate": 20240101, "dataTime": 0}
    ranges = product(probability | {"stepType": "accum"}, stepRange=["0-24", "24-48"], paramId=[131060])
    instants = product(probability, step=[24, 48], paramId=[131060])
    return [
        GribFile("enfo_pf.grib", list(members)),
        GribFile("enfo_cf.grib", list(control)),
        GribFile("enfo_ep.grib", [*ranges, *instants]),
    ]


def bare() -> list[GribFile]:
    """Messages without a local section: class, expver, stream and type are given, the domain is absent."""
    at = BARE2 | {"dataDate": 20240101, "level": 500}
    given = {"class": "rd", "expver": "nodm", "type": "fc"}
    return [
        GribFile("bare_oper.grib", list(product(at, step=[0, 6], paramId=[130])), given | {"stream": "oper"}),
        GribFile("bare_enfo.grib", list(product(at, step=[0, 6], paramId=[130])), given | {"stream": "enfo"}),
        GribFile(
            "bare_enfo_domain.grib",
            list(product(at, step=[0, 6], paramId=[131])),
            given | {"stream": "enfo", "domain": "g"},
        ),
    ]


def relative(today: date) -> list[GribFile]:
    """Analyses of today and the two days before, so that dates 0, -1 and -2 have fields."""
    days = [int((today - timedelta(days=back)).strftime("%Y%m%d")) for back in (0, 1, 2)]
    analyses = product(SFC1 | {"type": "an", "paramId": 167}, dataDate=days, dataTime=[0, 1200])
    return [GribFile("oper_relative.grib", list(analyses))]


def replacement() -> GribFile:
    """One field of `oper_pl_1.grib` once more, with another value: the newest wins."""
    key = PL1 | {"type": "fc", "dataDate": 20240102, "dataTime": 0, "step": 6, "level": 500, "paramId": 130}
    return GribFile("oper_replaced.grib", [key])


def message(keys: Keys, value: float) -> bytes:
    """One GRIB message: the named sample with `keys` set in their order and `value` everywhere."""
    handle = eccodes.codes_grib_new_from_samples(keys["sample"])
    try:
        for name, setting in keys.items():
            if name != "sample":
                eccodes.codes_set(handle, name, setting)
        eccodes.codes_set_values(handle, [value] * eccodes.codes_get_size(handle, "values"))
        return eccodes.codes_get_message(handle)
    finally:
        eccodes.codes_release(handle)


def make(directory: Path, today: date) -> list[GribFile]:
    """Writes every file of the plan below `directory` and returns the plan with the paths filled in."""
    directory.mkdir(parents=True, exist_ok=True)
    serial = itertools.count(1)
    files = plan(today)
    for file in files:
        file.path = directory / file.name
        file.path.write_bytes(b"".join(message(keys, float(next(serial))) for keys in file.messages))
    return files


def main(arguments: list[str]) -> None:
    today = date.fromisoformat(arguments[1]) if len(arguments) > 1 else date.today()
    for file in make(Path(arguments[0]), today):
        print(f"{file.path}: {len(file.messages)} messages, {file.path.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
