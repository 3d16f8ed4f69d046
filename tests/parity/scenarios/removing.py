"""Removing: wipes and purges, what they ask for, what they leave, and locks against them."""

from __future__ import annotations

from scenario import DONE, REFUSED, Differs, Scenario, lists, reads, step, writes

from .keys import EVERYTHING, X, Y, dataset, fields

LEAST = "class,expver,stream,date,time"
NOTHING = (
    "FDB fails when nothing matches, unless --ignore-no-data; in Isotach nothing to remove is no failure"
)

SCENARIOS = [
    Scenario(
        "a wipe removes nothing until it is told to",
        [writes("x.grib"), step("wipe", X, doit=False), lists(X, 4), reads(fields(X), 4)],
    ),
    Scenario(
        "a wipe removes the dataset and no other",
        [
            writes("x.grib", "y.grib"),
            step("wipe", X),
            lists(X, 0),
            reads(fields(X), 0),
            lists(Y, 4),
            step("where", "class=rd", gives=1),
        ],
    ),
    Scenario(
        "a dataset that was wiped can be written again",
        [
            writes("x.grib"),
            step("wipe", X),
            writes("all-again.grib"),
            lists(X, 4, full=True),
            reads(fields(X), 4),
        ],
    ),
    Scenario(
        "a wipe of a collocation leaves the others of the dataset",
        [
            writes("x.grib", "analysis.grib", "surface.grib"),
            step("wipe", f"{X},type=fc,levtype=pl"),
            lists(X, 5),
            reads(fields(X), 0),
            reads(fields(X, type="an"), 4),
        ],
    ),
    Scenario(
        "a wipe that names keys of single fields is refused and removes nothing",
        [writes("x.grib"), step("wipe", f"{X},type=fc,levtype=pl,step=0", gives=REFUSED), lists(X, 4)],
    ),
    Scenario(
        "a wipe of several days removes all of them",
        [
            writes("days.grib", "y.grib"),
            step("wipe", "class=rd,expver=xxxx,stream=oper,date=20240101/to/20240102,time=0000"),
            lists("class=rd", 5),
        ],
    ),
    Scenario(
        "a wipe that names less than the minimum is refused",
        [
            writes("x.grib"),
            step("wipe", "class=rd,expver=xxxx", least=LEAST, gives=REFUSED),
            step("wipe", "class=rd,expver=xxxx", least="class", gives=DONE),
            lists(EVERYTHING, 0),
        ],
    ),
    Scenario(
        "a wipe of what is not there removes nothing",
        [
            writes("x.grib"),
            step("wipe", dataset("nope"), gives=Differs(REFUSED, DONE, NOTHING)),
            step("wipe", dataset("nope"), ignore=True),
            lists(X, 4),
        ],
    ),
    Scenario(
        "a wipe removes replaced fields as well",
        [writes("x.grib"), writes("all-again.grib"), step("wipe", X), lists(EVERYTHING, 0, full=True)],
    ),
    Scenario(
        "a dataset that is locked against wiping stays",
        [
            writes("x.grib"),
            step("lock", X, actions="wipe"),
            step("wipe", X, gives=REFUSED),
            lists(X, 4),
            step("unlock", X, actions="wipe"),
            step("wipe", X),
            lists(X, 0),
        ],
    ),
    Scenario(
        "a wipe under a root that is named with a slash at its end",
        [writes("x.grib"), lists(X, 4), reads(fields(X), 4), step("wipe", X), lists(X, 0)],
        config=(
            "type: local\nengine: toc\nschema: {schema}\nspaces:\n"
            "- handler: Default\n  roots:\n  - path: {root}/\n"
        ),
    ),
    Scenario(
        "a purge removes what was replaced and leaves the rest",
        [
            writes("x.grib"),
            writes("all-again.grib"),
            step("stats", X, gives="4 and 4 replaced"),
            step("purge", X, doit=False),
            step("stats", X, gives="4 and 4 replaced"),
            step("purge", X),
            step("stats", X, gives="4 and 0 replaced"),
            lists(X, 4, full=True),
            reads(fields(X), 4),
        ],
    ),
    Scenario(
        "a purge removes single replaced fields of a file",
        [
            writes("x.grib"),
            writes("again.grib"),
            step("purge", X),
            lists(
                X,
                Differs(
                    5, 4, "FDB purges a file only when all of it was replaced; Isotach purges each field"
                ),
                full=True,
            ),
            reads(fields(X), 4),
        ],
    ),
    Scenario(
        "a purge without anything to remove ends well",
        [writes("x.grib"), step("purge", X), lists(X, 4)],
    ),
    Scenario(
        "a purge of what is not there removes nothing",
        [
            writes("x.grib"),
            step("purge", dataset("nope"), gives=Differs(REFUSED, DONE, NOTHING)),
            lists(X, 4),
        ],
    ),
    Scenario(
        "what is hidden is found no more and can be archived again",
        [
            writes("x.grib"),
            step("hide", X, doit=False),
            lists(X, 4),
            step("hide", X),
            lists(X, 0),
            reads(fields(X), 0),
            writes("again.grib"),
            lists(X, 1),
            reads(fields(X), 1),
        ],
    ),
]
