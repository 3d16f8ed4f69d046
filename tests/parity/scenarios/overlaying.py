"""Overlays: a dataset that is shown under another key."""

from __future__ import annotations

from scenario import DONE, REFUSED, Differs, Scenario, lists, reads, step, writes

from .keys import X, Y, Z, dataset, fields

LINKED = "FDB moves the link to the dataset below, not its fields; Isotach refuses and says to copy"
COUNTED = "FDB counts a field for each dataset that shows it; Isotach counts it where it is stored"
UNCHANGED = "fdb-copy copies the messages as they lie below the overlay, under their own keys; Isotach copies what is read"

SCENARIOS = [
    Scenario(
        "a dataset is shown under another experiment",
        [
            writes("x.grib"),
            step("overlay", X, Z),
            lists(Z, 4, length=True),
            reads(fields(Z), 4),
            step("axes", Z, keys="expver step", gives="expver=zzzz step=0/6"),
            lists(X, 4),
            reads(fields(X), 4),
        ],
    ),
    Scenario(
        "an overlay shows what is archived later below it",
        [
            writes("x.grib"),
            step("overlay", X, Z, keys="expver"),
            writes("step12.grib"),
            writes("again.grib"),
            lists(Z, 5),
            reads(fields(Z, step="0/6/12"), 5),
        ],
    ),
    Scenario(
        "a field that is archived into an overlay hides the one below",
        [
            writes("x.grib"),
            step("overlay", X, Z),
            writes("z-one.grib"),
            lists(Z, 4),
            reads(fields(Z), 4),
            writes("again.grib"),
            reads(fields(Z), 4),
            reads(fields(X), 4),
        ],
    ),
    Scenario(
        "an overlay onto a dataset that is there is refused until it is forced",
        [
            writes("x.grib"),
            writes("z-one.grib"),
            step("overlay", X, Z, gives=REFUSED),
            lists(Z, 1),
            step("overlay", X, Z, force=True),
            lists(Z, 4),
            reads(
                fields(Z),
                Differs(
                    4, 4, "FDB's overlay hides what the dataset had; in Isotach its own fields come first"
                ),
            ),
        ],
    ),
    Scenario(
        "an overlay that is removed shows nothing of the dataset below",
        [
            writes("x.grib"),
            step("overlay", X, Z),
            writes("z-one.grib"),
            step("overlay", X, Z, remove=True),
            lists(Z, 1),
            reads(fields(Z), 1),
            lists(X, 4),
        ],
    ),
    Scenario(
        "an overlay that was removed can be made again",
        [
            writes("x.grib"),
            step("overlay", X, Z),
            step("overlay", X, Z, remove=True),
            lists(Z, 0),
            step("overlay", X, Z, force=True),
            lists(Z, Differs(0, 4, "FDB says that it applies the overlay again and shows nothing of it")),
        ],
    ),
    Scenario(
        "an overlay of keys that may not vary is refused",
        [
            writes("x.grib"),
            step("overlay", X, dataset("zzzz", date="20240102"), gives=REFUSED),
            step("overlay", X, Z, keys="class", gives=REFUSED),
            step("overlay", X, dataset("zzzz").removesuffix(",domain=g"), gives=REFUSED),
            lists("class=rd", 4),
        ],
    ),
    Scenario(
        "an overlay of a dataset that is not there is refused",
        [step("overlay", X, Z, gives=REFUSED), lists("class=rd", 0)],
    ),
    Scenario(
        "an overlay that is not there cannot be removed",
        [
            writes("x.grib", "z.grib"),
            step("overlay", X, Z, remove=True, gives=REFUSED),
            step("overlay", X, Y, remove=True, gives=REFUSED),
            lists(Z, 4),
        ],
    ),
    Scenario(
        "an overlay of an overlay shows what is below both",
        [
            writes("x.grib"),
            step("overlay", X, Y),
            step("overlay", Y, Z),
            lists(Z, 4),
            reads(fields(Z), 4),
        ],
    ),
    Scenario(
        "a wipe of an overlay leaves the dataset below",
        [
            writes("x.grib"),
            step("overlay", X, Z),
            step("wipe", Z, gives=Differs(REFUSED, DONE, "FDB cannot remove an overlay with its dataset")),
            lists(Z, Differs(4, 0, "as above")),
            lists(X, 4),
            reads(fields(X), 4),
        ],
    ),
    Scenario(
        "a wipe of the dataset below an overlay is told of",
        [
            writes("x.grib"),
            step("overlay", X, Z),
            writes("z-one.grib"),
            step("wipe", X),
            lists(X, 0),
            lists(
                Z,
                Differs(
                    1,
                    REFUSED,
                    "FDB passes over what is gone; Isotach lists the rest and then fails, naming it",
                ),
            ),
        ],
    ),
    Scenario(
        "an overlay is copied where it would be moved",
        [
            writes("x.grib"),
            step("overlay", X, Z),
            step("move", Z, gives=Differs(DONE, REFUSED, LINKED)),
            lists(Z, Differs(4, 0, LINKED), at="other"),
            lists(Z, Differs(0, 4, LINKED)),
            lists(X, 4),
        ],
    ),
    Scenario(
        "the counts of an overlay are those of its own fields",
        [
            writes("x.grib"),
            step("overlay", X, Z),
            step("stats", Z, gives=Differs("4 and 0 replaced", "0 and 0 replaced", COUNTED)),
            writes("z-one.grib"),
            step("stats", Z, gives=Differs("4 and 1 replaced", "1 and 0 replaced", COUNTED)),
            step("stats", X, gives="4 and 0 replaced"),
        ],
    ),
    Scenario(
        "an overlay that is copied becomes a dataset of its own",
        [
            writes("x.grib"),
            step("overlay", X, Z),
            step("copy", Z),
            lists(Z, Differs(0, 4, UNCHANGED), at="other"),
            reads(fields(Z), Differs(0, 4, UNCHANGED), at="other"),
        ],
    ),
]
