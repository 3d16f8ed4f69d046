"""Copying, moving and patching: fields in another store, or under other keys."""

from __future__ import annotations

from scenario import Scenario, lists, reads, step, writes

from .keys import X, Y, fields

SCENARIOS = [
    Scenario(
        "fields are copied by the requests of a file",
        [
            writes("x.grib", "step12.grib"),
            step("copy", f"{fields(X, step='12', level='1000')}; {fields(X, step='6')}", listed=False),
            lists(X, 3, at="other"),
            reads(fields(X, step="0/6/12"), 3, at="other"),
            lists(X, 5),
        ],
    ),
    Scenario(
        "what a listing would show is copied",
        [
            writes("x.grib", "y.grib"),
            step("copy", "class=rd,expver=yyyy"),
            lists("class=rd", 4, at="other"),
            reads(fields(Y), 4, at="other"),
        ],
    ),
    Scenario(
        "of replaced fields the newest is copied",
        [
            writes("x.grib"),
            writes("all-again.grib"),
            step("copy", X),
            lists(X, 4, full=True, at="other"),
            reads(fields(X), 4, at="other"),
        ],
    ),
    Scenario(
        "fields are copied under another experiment",
        [
            writes("x.grib"),
            step("copy", X, modify="expver=yyyy"),
            lists("class=rd,expver=xxxx", 0, at="other"),
            lists("class=rd,expver=yyyy", 4, at="other"),
            reads(fields(Y), 4, at="other"),
        ],
    ),
    Scenario(
        "a copy of what is already there replaces it by the same",
        [
            writes("x.grib"),
            step("copy", X),
            step("copy", X),
            lists(X, 4, at="other"),
            reads(fields(X), 4, at="other"),
        ],
    ),
    Scenario(
        "a dataset is moved and is no longer where it was",
        [
            writes("x.grib", "y.grib"),
            step("move", X),
            lists("class=rd", 4),
            lists(X, 4, at="other"),
            reads(fields(X), 4, at="other"),
        ],
    ),
    Scenario(
        "a dataset that was moved can be written again where it was",
        [writes("x.grib"), step("move", X), writes("again.grib"), lists(X, 1), lists(X, 4, at="other")],
    ),
    Scenario(
        "fields are archived again under another experiment",
        [
            writes("x.grib"),
            step("patch", X, modify="expver=yyyy"),
            lists(X, 4),
            lists(Y, 4),
            reads(fields(Y), 4),
            reads(fields(X), 4),
        ],
    ),
    Scenario(
        "fields are archived again under another class and experiment",
        [
            writes("x.grib"),
            step("patch", X, modify="class=od,expver=0001"),
            lists("class=od,expver=0001", 4),
            reads(fields(X.replace("rd", "od").replace("xxxx", "0001")), 4),
        ],
    ),
]
