"""Configurations of sites: switches of roots, several roots and spaces, lanes, and keys of FDB's own layout."""

from __future__ import annotations

from scenario import DONE, REFUSED, Differs, Scenario, lists, reads, step, writes

from .keys import EVERYTHING, X, Y, dataset, fields

HEAD = "type: local\nengine: toc\nschema: {schema}\n"


def switched(**switches: str) -> str:
    """A configuration of one root with these switches."""
    lines = "".join(f"    {name}: {value}\n" for name, value in switches.items())
    return f"{HEAD}spaces:\n- handler: Default\n  roots:\n  - path: {{root}}\n{lines}"


IGNORED = "fdb-wipe wipes a root whose configuration says wipe: false"
PARTIAL = "FDB passes over a space whose expression does not match what a partial request names; Isotach looks in all"
UNREAD = "FDB reads nothing in silence"
FREE = switched()
LANES = (
    "type: select\nschema: {schema}\nfdbs:\n"
    "- select: time=1200\n  type: local\n  engine: toc\n  schema: {schema}\n"
    "  spaces:\n  - handler: Default\n    roots:\n    - path: {root}/noon\n"
    "- select: time=0000\n  type: local\n  engine: toc\n  schema: {schema}\n"
    "  spaces:\n  - handler: Default\n    roots:\n    - path: {root}/midnight\n"
)
SPACES = (
    HEAD + "spaces:\n"
    "- regex: rd:xxxx:.*\n  handler: Default\n  roots:\n  - path: {root}/one\n"
    "- regex: .*\n  handler: Default\n  roots:\n  - path: {root}/two\n"
)
ROUND = (
    HEAD
    + "spaces:\n- handler: RoundRobin\n  roots:\n  - path: {root}/a\n  - path: {root}/b\n  - path: {root}/c\n"
)
BY_EXPVER = (
    HEAD
    + "spaces:\n- handler: expver\n  roots:\n  - path: {root}/a\n  - path: {root}/b\n  - path: {root}/c\n"
)
LAYOUT = FREE + "tocSerialisationVersion: 3\nuseSubToc: true\nserverPort: 7654\n"

SCENARIOS = [
    Scenario(
        "a root that is not writable is listed and read and takes no fields",
        [
            writes("x.grib"),
            writes("step12.grib", at="closed", gives=REFUSED),
            lists(X, 4, at="closed"),
            reads(fields(X), 4, at="closed"),
            lists(X, 4),
        ],
        config={"main": FREE, "closed": switched(writable="false", visit="true")},
    ),
    Scenario(
        "a root that is not visited takes fields and shows none",
        [
            writes("x.grib", at="blind"),
            lists(EVERYTHING, 0, at="blind"),
            lists(X, 4),
            reads(fields(X), 4),
        ],
        config={"main": FREE, "blind": switched(writable="true", visit="false")},
    ),
    Scenario(
        "a root that forbids wiping is not wiped",
        [
            writes("x.grib"),
            step("wipe", X, at="kept", gives=Differs(DONE, REFUSED, IGNORED)),
            lists(X, Differs(0, 4, IGNORED)),
            reads(fields(X), Differs(0, 4, IGNORED), at="kept"),
        ],
        config={"main": FREE, "kept": switched(wipe="false")},
    ),
    Scenario(
        "a root that forbids listing is not listed and is read",
        [
            writes("x.grib"),
            lists(EVERYTHING, 0, at="unlisted"),
            reads(fields(X), 4, at="unlisted"),
            lists(X, 4),
        ],
        config={"main": FREE, "unlisted": switched(list="false")},
    ),
    Scenario(
        "a root that forbids archiving is listed and read",
        [
            writes("x.grib"),
            writes("y.grib", at="full", gives=REFUSED),
            lists(EVERYTHING, 4, at="full"),
            reads(fields(X), 4, at="full"),
        ],
        config={"main": FREE, "full": switched(archive="false")},
    ),
    Scenario(
        "a root that forbids retrieving is listed and not read",
        [
            writes("x.grib"),
            lists(EVERYTHING, 4, at="unread"),
            reads(fields(X), Differs(0, REFUSED, UNREAD), at="unread"),
            reads(fields(X), 4),
        ],
        config={"main": FREE, "unread": switched(retrieve="false")},
    ),
    Scenario(
        "a schema is found by a path relative to where the program runs",
        [writes("x.grib"), lists(X, 4), reads(fields(X), 4)],
        config=FREE.replace("{schema}", "./schema"),
    ),
    Scenario(
        "fields of several roots in turn are one store",
        [
            writes("experiments.grib"),
            lists("class=rd", 3),
            writes("x.grib"),
            lists(X, 4),
            reads(fields(X), 4),
        ],
        config=ROUND,
    ),
    Scenario(
        "fields of roots that are chosen by expver are one store",
        [
            writes("experiments.grib"),
            lists("class=rd", 3),
            writes("x.grib"),
            lists(X, 4),
            reads(fields(X), 4),
            step("wipe", X),
            lists("class=rd", 2),
        ],
        config=BY_EXPVER,
    ),
    Scenario(
        "spaces take the datasets that their expressions match",
        [
            writes("x.grib", "y.grib"),
            lists("class=rd", Differs(4, 8, PARTIAL)),
            lists(X, 4),
            reads(fields(X), 4),
            reads(fields(Y), 4),
            step("wipe", X),
            lists("class=rd", 4),
        ],
        config=SPACES,
    ),
    Scenario(
        "lanes take the datasets that they select and are wiped",
        [
            writes("x.grib", "noon.grib"),
            lists("class=rd,expver=xxxx", 8),
            reads(fields(dataset(time="0000/1200")), 8),
            step("wipe", dataset(time="1200")),
            lists("class=rd,expver=xxxx", 4),
        ],
        config=LANES,
    ),
    Scenario(
        "keys of FDB's own layout are accepted",
        [writes("x.grib"), lists(X, 4), reads(fields(X), 4), step("stats", X, gives="4 and 0 replaced")],
        config=LAYOUT,
    ),
    Scenario(
        "the programs say that they read a configuration with switches",
        [step("info", gives=DONE)],
        config=switched(wipe="false"),
    ),
]
