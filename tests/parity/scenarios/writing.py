"""Writing: what is taken in, under which key, and what is refused."""

from __future__ import annotations

from scenario import DONE, REFUSED, Differs, Scenario, lists, reads, step, writes

from .keys import EVERYTHING, X, Y, dataset, fields

WORDS = "FDB's language tables know long forms of values; in Isotach a word stands for itself"
IDLE = "FDB passes the keyword over; a filter that filters nothing is more often a mistake"
NUMBERS = "FDB sets every key as text, which keys of numbers refuse; Isotach then sets the number"

SCENARIOS = [
    Scenario(
        "files that are written one after the other are listed together",
        [writes("x.grib"), writes("step12.grib"), lists(X, 5), reads(fields(X, step="0/to/12/by/6"), 5)],
    ),
    Scenario(
        "several files are written by one command",
        [writes("x.grib", "y.grib", "second.grib"), lists(EVERYTHING, 8)],
    ),
    Scenario(
        "a file of several experiments makes a dataset of each",
        [writes("experiments.grib"), step("where", "class=rd", gives=3), lists("class=rd", 3)],
    ),
    Scenario(
        "a file that is written twice is listed once and the newer bytes are read",
        [
            writes("x.grib"),
            writes("all-again.grib"),
            lists(X, 4),
            lists(X, 8, full=True),
            reads(fields(X), 4),
            step("stats", X, gives="4 and 4 replaced"),
        ],
    ),
    Scenario(
        "one field of several is replaced and the others stay",
        [writes("x.grib"), writes("again.grib"), lists(X, 4), reads(fields(X), 4)],
    ),
    Scenario(
        "a field of another edition replaces the one of the same key",
        [writes("x.grib"), writes("second.grib"), lists(X, 4), reads(fields(X), 4)],
    ),
    Scenario(
        "a modifier gives every message another experiment",
        [
            writes("x.grib", modify="expver=yyyy"),
            lists("class=rd,expver=xxxx", 0),
            lists("class=rd,expver=yyyy", 4),
            reads(fields(Y), 4),
        ],
    ),
    Scenario(
        "several modifiers change the key of each message",
        [
            writes("x.grib", modify="expver=yyyy,type=an"),
            lists("class=rd,expver=yyyy,type=an", 4),
            reads(fields(Y, type="an"), 4),
        ],
    ),
    Scenario(
        "modifiers make three runs of one file",
        [
            writes("x.grib", modify="expver=yyyy"),
            writes("noon.grib", modify="expver=yyyy"),
            writes("x.grib", "noon.grib", modify="expver=yyyy,type=an"),
            lists("class=rd,expver=yyyy", 16),
            reads(fields(dataset("yyyy", time="0000/1200")), 8),
        ],
    ),
    Scenario(
        "a modifier changes how a message is packed",
        [
            writes("second.grib", modify="expver=yyyy,packingType=grid_ieee"),
            lists("class=rd,expver=yyyy", 4, length=True),
            reads(fields(Y), 4),
        ],
    ),
    Scenario(
        "a modifier that changes a date moves the field to another dataset",
        [
            writes("surface.grib", modify="dataDate=20240105", gives=Differs(REFUSED, DONE, NUMBERS)),
            lists("class=rd,expver=xxxx,date=20240101", 0),
            lists("class=rd,expver=xxxx,date=20240105", Differs(0, 1, "as above")),
        ],
    ),
    Scenario(
        "a modifier that the message does not know is refused",
        [writes("x.grib", modify="nosuchkey=1", gives=REFUSED), lists(EVERYTHING, 0)],
    ),
    Scenario(
        "a modifier without a value is refused",
        [writes("x.grib", modify="expver", gives=REFUSED), lists(EVERYTHING, 0)],
    ),
    Scenario(
        "a modifier labels messages that carry no labels of MARS",
        [
            writes(
                "bare.grib",
                modify="setLocalDefinition=1,class=rd,expver=xxxx,stream=oper,type=fc",
                gives=Differs(REFUSED, DONE, NUMBERS),
            ),
            lists("class=rd,expver=xxxx", Differs(0, 1, "as above")),
        ],
    ),
    Scenario(
        "a filter takes the messages that it names and no others",
        [writes("x.grib", include="step=0"), lists(X, 2), reads(fields(X, step="0"), 2)],
    ),
    Scenario(
        "a filter of several keys takes what has all of them",
        [writes("x.grib", include="step=0/6,levelist=500"), lists(X, 2)],
    ),
    Scenario(
        "a filter leaves out the messages that it names",
        [writes("x.grib", exclude="step=0"), lists(X, 2), reads(fields(X, step="6"), 2)],
    ),
    Scenario(
        "a filter with the long form of a value",
        [writes("x.grib", exclude="type=forecast"), lists(X, Differs(0, 4, WORDS))],
    ),
    Scenario(
        "a filter that names only a keyword of post-processing",
        [
            writes("x.grib", exclude="area=1", gives=Differs(DONE, REFUSED, IDLE)),
            lists(X, Differs(4, 0, IDLE)),
        ],
    ),
    Scenario(
        "a message without class and experiment is refused and leaves nothing",
        [writes("bare.grib", gives=REFUSED), lists(EVERYTHING, 0)],
    ),
    Scenario(
        "a message that no rule of the schema takes is refused and leaves nothing",
        [writes("unknown-stream.grib", gives=REFUSED), lists(EVERYTHING, 0)],
    ),
    Scenario(
        "a message with a key that its rule does not know is refused and leaves nothing",
        [writes("timespan.grib", gives=REFUSED), lists(EVERYTHING, 0)],
        schema="[ class, expver, stream=oper, date, time, domain? [ type, levtype [ step, param: Param ]]]\n",
    ),
    Scenario(
        "a file that is no message is refused",
        [writes("text.txt", gives=REFUSED), lists(EVERYTHING, 0)],
    ),
    Scenario(
        "an empty file is refused",
        [writes("empty.grib", gives=REFUSED), lists(EVERYTHING, 0)],
    ),
    Scenario(
        "a file that is not there is refused",
        [writes("nowhere.grib", gives=REFUSED), lists(EVERYTHING, 0)],
    ),
    Scenario(
        "a message that is cut short ends the command",
        [writes("cut.grib", gives=REFUSED), lists(EVERYTHING, 3)],
    ),
    Scenario(
        "bytes between two messages are passed over",
        [writes("padded.grib"), lists(X, 4), reads(fields(X), 4)],
    ),
]
