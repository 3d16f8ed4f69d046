"""Finding: what is listed, how it is shown, and what a request must say."""

from __future__ import annotations

from scenario import REFUSED, Scenario, lists, step, writes

from .keys import EVERYTHING, X, Z, dataset, fields

SCENARIOS = [
    Scenario(
        "a store without fields lists nothing and ends well",
        [lists(EVERYTHING, 0), lists("class=rd,expver=xxxx", 0)],
    ),
    Scenario(
        "an experiment that is not there lists nothing and ends well",
        [writes("x.grib"), lists("class=rd,expver=nope", 0)],
    ),
    Scenario(
        "all fields are listed without a request",
        [writes("x.grib", "y.grib", "members.grib"), lists(EVERYTHING, 11)],
    ),
    Scenario(
        "the length of each field is listed on demand",
        [writes("x.grib", "second.grib", "surface.grib"), lists(X, 5, length=True)],
    ),
    Scenario(
        "replaced fields are listed on demand",
        [writes("x.grib"), writes("again.grib"), writes("again.grib"), lists(X, 6, full=True, length=True)],
    ),
    Scenario(
        "a request that lacks a key of the minimum is refused",
        [
            writes("x.grib"),
            lists("class=rd", REFUSED, least="class,expver"),
            lists("class=rd,expver=xxxx", 4, least="class,expver"),
            lists("class=rd,expver=xxxx", REFUSED, least="class,expver,date"),
        ],
    ),
    Scenario(
        "an empty minimum asks for nothing",
        [writes("x.grib"), lists("class=rd", 4, least="")],
    ),
    Scenario(
        "datasets alone are listed at the first level",
        [writes("x.grib", "noon.grib", "analysis.grib"), lists("class=rd,expver=xxxx", 2, levels=1)],
    ),
    Scenario(
        "collocations are listed at the second level",
        [writes("x.grib", "noon.grib", "analysis.grib"), lists("class=rd,expver=xxxx", 3, levels=2)],
    ),
    Scenario(
        "a request of the third level narrows what is listed",
        [writes("x.grib"), lists(f"{X},step=0", 2), lists(f"{X},step=0,levelist=500,param=t", 1)],
    ),
    Scenario(
        "days are listed by a list and by a range",
        [
            writes("days.grib"),
            lists("class=rd,expver=xxxx,date=20240101/20240103", 2),
            lists("class=rd,expver=xxxx,date=20240101/to/20240103", 3),
            lists("class=rd,expver=xxxx,date=20240102/to/20240110", 2),
        ],
    ),
    Scenario(
        "times of day are listed in every spelling",
        [
            writes("runs.grib"),
            lists("class=rd,expver=xxxx,time=12", 2),
            lists("class=rd,expver=xxxx,time=1200", 2),
            lists("class=rd,expver=xxxx,time=12:00", 2),
            lists("class=rd,expver=xxxx,time=0/12", 4),
        ],
    ),
    Scenario(
        "an experiment is listed with leading zeros or without",
        [
            writes("x.grib", modify="expver=0042"),
            lists("class=rd,expver=42", 4),
            lists("class=rd,expver=0042", 4),
        ],
    ),
    Scenario(
        "steps with leading zeros are the steps without",
        [writes("x.grib"), lists(f"{X},step=006", 2), lists(f"{X},step=00", 2)],
    ),
    Scenario(
        "a key that no rule knows is refused",
        [writes("x.grib"), lists(f"{X},nosuchkey=1", REFUSED)],
    ),
    Scenario(
        "where the fields of an exact request are is told",
        [
            writes("x.grib"),
            step("inspect", fields(X, step="0"), gives=2),
            step("inspect", fields(X, step="0/6/12"), gives=4),
            step("inspect", fields(Z), gives=0),
        ],
    ),
    Scenario(
        "where the datasets are is told",
        [writes("x.grib", "y.grib"), step("where", "class=rd", gives=2)],
    ),
    Scenario(
        "members of an ensemble are listed by number",
        [
            writes("members.grib"),
            lists("class=rd,expver=xxxx,stream=enfo,number=1/to/2", 2),
            lists("class=rd,expver=xxxx,stream=enfo", 3),
        ],
    ),
    Scenario(
        "a listing of several runs of one day is one listing",
        [
            writes("x.grib", "noon.grib"),
            lists(dataset(time="0000/1200"), 8),
            lists("class=rd,expver=xxxx,date=20240101", 8),
        ],
    ),
]
