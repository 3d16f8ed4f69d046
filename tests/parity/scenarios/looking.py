"""Looking after a store: axes, counts, states, locks, structure, and which configuration is read."""

from __future__ import annotations

from scenario import DONE, REFUSED, Differs, Scenario, lists, reads, step, writes

from .keys import X, Y, dataset, fields

NONE_FOUND = "FDB fails when nothing matches; in Isotach nothing found is no failure"

SCENARIOS = [
    Scenario(
        "the axes of a dataset are the values of its fields",
        [
            writes("x.grib", "surface.grib"),
            step("axes", X, keys="step param", gives="step=0/6 param=130/167"),
            step(
                "axes",
                f"{X},levtype=pl",
                keys="step levelist param",
                gives="step=0/6 levelist=1000/500 param=130",
            ),
        ],
    ),
    Scenario(
        "the axes of several datasets are put together",
        [
            writes("x.grib", "noon.grib", "y.grib"),
            step("axes", "class=rd,expver=xxxx", keys="expver time", gives="expver=xxxx time=0000/1200"),
        ],
    ),
    Scenario(
        "the axes of what is not there are empty",
        [writes("x.grib"), step("axes", "class=rd,expver=nope", keys="step", gives="step=")],
    ),
    Scenario(
        "fields, replaced fields and their bytes are counted",
        [
            writes("x.grib", "y.grib"),
            step("stats", X, gives="4 and 0 replaced"),
            writes("again.grib"),
            step("stats", X, gives="4 and 1 replaced"),
            step("stats", "class=rd", gives="8 and 1 replaced"),
        ],
    ),
    Scenario(
        "what is not there is counted as nothing",
        [
            writes("x.grib"),
            step("stats", "class=rd,expver=nope", gives=Differs(REFUSED, "0 and 0 replaced", NONE_FOUND)),
            step("stats", "class=rd,expver=nope", ignore=True, gives="0 and 0 replaced"),
        ],
    ),
    Scenario(
        "a lock that names no action is refused",
        [writes("x.grib"), step("lock", X, gives=REFUSED), step("status", X, gives=1)],
    ),
    Scenario(
        "a dataset that is locked for listing is not listed",
        [
            writes("x.grib", "y.grib"),
            step("lock", X, actions="list"),
            lists("class=rd", 4),
            lists(X, 0),
            reads(fields(X), 4),
            step("unlock", X, actions="list"),
            lists("class=rd", 8),
        ],
    ),
    Scenario(
        "a dataset that is locked for archiving takes no fields",
        [
            writes("x.grib", "y.grib"),
            step("lock", X, actions="archive"),
            step("status", X, gives=1),
            writes("step12.grib", gives=REFUSED),
            lists(X, 4),
            step("unlock", X, actions="archive"),
            writes("step12.grib"),
            lists(X, 5),
        ],
    ),
    Scenario(
        "a dataset that is locked for retrieving is listed and not read",
        [
            writes("x.grib"),
            step("lock", X, actions="retrieve"),
            lists(X, 4),
            reads(
                fields(X), Differs(0, REFUSED, "FDB reads nothing in silence; Isotach says that it is locked")
            ),
            step("unlock", X, actions="retrieve"),
            reads(fields(X), 4),
        ],
    ),
    Scenario(
        "locks of several actions are told and taken away one by one",
        [
            writes("x.grib", "y.grib"),
            step("lock", Y, actions="wipe list"),
            step("lock", X, actions="archive"),
            step("status", "class=rd", gives=2),
            lists("class=rd", 4),
            step("unlock", Y, actions="list"),
            step("status", Y, gives=1),
            lists("class=rd", 8),
        ],
    ),
    Scenario(
        "the state of what is not there is told as nothing",
        [writes("x.grib"), step("status", dataset("nope"), gives=Differs(REFUSED, 0, NONE_FOUND))],
    ),
    Scenario(
        "the structure of a dataset shows its collocations",
        [writes("x.grib", "analysis.grib", "surface.grib"), step("dump", X, gives=1)],
    ),
    Scenario(
        "the rules of the schema are shown",
        [step("schema_rules", gives=3)],
    ),
    Scenario(
        "the programs say which configuration they read",
        [step("info", gives=DONE)],
    ),
    Scenario(
        "each configuration leads to a store of its own",
        [
            writes("x.grib"),
            lists(X, 4),
            lists(X, 0, at="other"),
            step("copy", X),
            lists(X, 4, at="other"),
            reads(fields(X), 4, at="other"),
        ],
    ),
]
