"""Requests as they are written for MARS: keywords of no effect here, months, and days of a climatology."""

from __future__ import annotations

from scenario import Scenario, lists, reads, writes

from .keys import X, fields

CLIMATE = (
    "class: First3; date: Date; time: Time; step: Step; param: Param; expver: Expver; levelist: Double;\n"
    "[ class, expver, stream=oper, date: Year, time, domain? [ date: Month, type, levtype [ date: Date, step, levelist?, param ]]]\n"
)

SCENARIOS = [
    Scenario(
        "keywords that change what is delivered do not change what is found",
        [
            writes("x.grib"),
            reads(f"{fields(X)},use=infrequent", 4),
            reads(f"{fields(X)},expect=any", 4),
        ],
    ),
    Scenario(
        "winds are found as vorticity and divergence where these are stored",
        [writes("params.grib"), reads(fields(X, step="6", level="500", param="u/v"), 2)],
    ),
    Scenario(
        "months and years are listed by number and by name",
        [
            writes("days.grib"),
            lists("class=rd,expver=xxxx,month=1", 3),
            lists("class=rd,expver=xxxx,month=jan", 3),
            lists("class=rd,expver=xxxx,year=2024", 3),
            lists("class=rd,expver=xxxx,month=feb", 0),
        ],
        schema=CLIMATE,
    ),
]
