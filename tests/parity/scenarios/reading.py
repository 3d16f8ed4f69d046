"""Reading: requests in files, what they find, and what they do not."""

from __future__ import annotations

from scenario import REFUSED, Scenario, lists, reads, step, writes

from .keys import X, Y, Z, dataset, fields

SCENARIOS = [
    Scenario(
        "what was written is read back byte for byte",
        [writes("x.grib", "second.grib", "surface.grib", "members.grib"), reads(fields(X), 4)],
    ),
    Scenario(
        "a step with a leading zero is read",
        [writes("x.grib", "step12.grib"), reads(fields(X, step="012", level="1000"), 1)],
    ),
    Scenario(
        "fields that are not there are left out of what is read",
        [
            writes("x.grib", "noon.grib"),
            writes("step12.grib"),
            reads(fields(dataset(time="0000/1200"), step="6/12/18", level="1000"), 3),
        ],
    ),
    Scenario(
        "a request for nothing that is there reads nothing and ends well",
        [writes("x.grib"), reads(fields(Z), 0)],
    ),
    Scenario(
        "several requests of a file are read one after the other",
        [
            writes("x.grib", "y.grib", "step12.grib"),
            reads(f"{fields(X, step='12', level='1000')}; {fields(X, step='0')}; {fields(Y, step='6')}", 5),
        ],
    ),
    Scenario(
        "keys and values of a request may be in upper case",
        [
            writes("x.grib"),
            reads(
                "CLASS=RD, TYPE = FC, STREAM=OPER, EXPVER = xxxx, LEVTYPE=PL, LEVELIST = 500/1000,"
                " PARAM=130, DATE=20240101, TIME = 00, STEP=00, DOMAIN=G",
                2,
            ),
        ],
    ),
    Scenario(
        "parameters are read by name, by number and by table",
        [
            writes("params.grib"),
            reads(fields(X, step="6", level="500", param="t/z"), 2),
            reads(fields(X, step="6", level="500", param="130/129/138/155"), 4),
            reads(fields(X, step="6", level="500", param="130.128/129.128"), 2),
            reads(fields(X, step="6", level="500", param="vo/d"), 2),
        ],
    ),
    Scenario(
        "a request that is not expanded reads the same fields",
        [writes("x.grib"), reads(fields(X), 4, raw=True), reads(fields(X, step="6"), 2, raw=True)],
    ),
    Scenario(
        "the fields of a file of messages are read by the keys that these have",
        [
            writes("x.grib"),
            writes("all-again.grib"),
            writes("step12.grib"),
            step("extract", "x.grib", gives=4),
        ],
    ),
    Scenario(
        "a file of messages none of which is there reads nothing",
        [writes("x.grib"), step("extract", "y.grib", gives=0)],
    ),
    Scenario(
        "a request without an optional key does not find the fields that have it",
        [writes("x.grib"), lists("class=rd,expver=xxxx", 4), reads(fields(X.removesuffix(",domain=g")), 0)],
    ),
    Scenario(
        "an optional key with a default is found without being named",
        [
            writes("members.grib"),
            reads(
                "class=rd,expver=xxxx,stream=enfo,date=20240101,time=0000,type=pf,levtype=pl,step=6,levelist=500,"
                "number=1/2/3,param=130",
                3,
            ),
        ],
    ),
    Scenario(
        "accumulated fields are read by the end of their interval",
        [writes("accumulated.grib"), lists("class=rd,expver=xxxx,step=12", 1)],
    ),
    Scenario(
        "a request that is no request is refused",
        [writes("x.grib"), reads("class=rd,expver", REFUSED), reads("=", REFUSED)],
    ),
]
