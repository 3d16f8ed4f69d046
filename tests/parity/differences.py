"""Where Isotach differs from FDB 5.25 on purpose: what each does, and why.

A behaviour is the number of fields that an answer holds, or a text that the refusal contains. Both sides are
asserted, so that the documentation stays true when either changes.

`python differences.py` prints the tables of docs/parity.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cases import ENFO, EP, OPER, PL, POINT

Behaviour = int | str


@dataclass(frozen=True)
class Question:
    """One query and what each side answers: a number of fields, or a part of the refusal."""

    operation: str
    request: str
    fdb: Behaviour
    isotach: Behaviour


@dataclass(frozen=True)
class Answering(Question):
    """A difference in answering a request about the common data."""

    name: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Archiving:
    """A difference in archiving one field under `given` keys: the refusals, then what each side finds."""

    name: str
    reason: str
    given: dict[str, str]
    fdb: str | None
    isotach: str | None
    questions: list[Question] = field(default_factory=list)
    schema: str | None = None


NO_DATE = OPER + ",time=0000,type=fc,levtype=pl"

ANSWERING = [
    Answering(
        "retrieve",
        f"{PL},levelist=500,step=6",
        0,
        "param",
        name="mandatory key left out, element",
        reason="a retrieval without a mandatory key cannot match: FDB is silent, Isotach names the key",
    ),
    Answering(
        "retrieve",
        f"{NO_DATE},{POINT}",
        0,
        "date",
        name="mandatory key left out, dataset",
        reason="the same at the first level",
    ),
    Answering(
        "retrieve",
        f"{PL},levelist=500,step=24/to/0/by/6,param=t",
        4,
        "step",
        name="reversed steps",
        reason="FDB counts down whatever the sign of the increment; a reversed range is more often a mistake",
    ),
    Answering(
        "list",
        "class=od,number=4/to/1",
        24,
        "number",
        name="reversed numbers",
        reason="as above",
    ),
    Answering(
        "list",
        "class=od,date=20240104/to/20240101",
        148,
        "date",
        name="reversed dates",
        reason="as above",
    ),
    Answering(
        "list",
        f"{ENFO},type=cf/pf,levtype=pl,levelist=500,step=12,param=t",
        "Only one value possible for 'type'",
        5,
        name="several types",
        reason="FDB allows one class, stream, type, levtype and expver in a request; Isotach takes lists of any key",
    ),
    Answering(
        "list",
        "class=od/rd",
        "Only one value possible for 'class'",
        160,
        name="several classes",
        reason="as above",
    ),
    Answering(
        "list",
        "class=xx",
        "cannot expand 'xx'",
        0,
        name="value unknown to the tables",
        reason="FDB's language tables bound what may be asked; Isotach asks the schema and the data alone",
    ),
    Answering(
        "list",
        f"{PL.replace('type=fc', 'type=forecast')},{POINT}",
        1,
        0,
        name="full word for a value",
        reason="FDB's language tables know long forms of values; in Isotach a word stands for itself",
    ),
    Answering(
        "retrieve",
        f"{EP},step=48-72",
        1,
        0,
        name="step range not stored",
        reason="FDB gives the field of step 48, the start of the range, which is another field",
    ),
    Answering(
        "retrieve",
        f"{EP},step=24-30",
        2,
        0,
        name="step range not stored, start and end",
        reason="FDB gives the fields of step 24 and of step 0-24",
    ),
    Answering(
        "retrieve",
        f"{EP.replace('param=131060', 'param=60')},step=0-24",
        1,
        0,
        name="parameter without its table",
        reason="FDB takes 131060 for 60 where there is no 60; in Isotach a number stands for itself",
    ),
    Answering(
        "list",
        f"{PL},{POINT},iteration=1",
        0,
        "iteration",
        name="key in no rule, listed",
        reason="FDB knows the key from its language and then matches nothing; Isotach names the unknown key",
    ),
    Answering(
        "retrieve",
        f"{PL},{POINT},iteration=1",
        1,
        "iteration",
        name="key in no rule, read",
        reason="FDB ignores the key; Isotach names it",
    ),
    Answering(
        "list",
        f"{PL},{POINT},padding=0",
        0,
        1,
        name="keyword without effect, listed",
        reason="FDB then matches nothing; in Isotach it has no effect on a listing either",
    ),
]

# The field of the archiving differences, and the request that names it in canonical form.
FIELD = {
    "class": "rd",
    "expver": "0001",
    "stream": "oper",
    "date": "20240101",
    "time": "1200",
    "domain": "g",
    "type": "fc",
    "levtype": "sfc",
    "step": "6",
    "param": "167",
}


def asking(**other: str) -> str:
    """The request for the field with some of its values replaced."""
    return ",".join(f"{name}={value}" for name, value in (FIELD | other).items())


def found_by_us(fdb_listed: int, fdb_read: int) -> list[Question]:
    """The field is listed and read by its canonical key on our side, and as said on FDB's."""
    return [Question("list", asking(), fdb_listed, 1), Question("retrieve", asking(), fdb_read, 1)]


CANONICAL = "FDB checks after storing, and stores what it refuses; Isotach stores what the value means"
VERBATIM = "FDB stores the text as it is, where no request finds it; Isotach stores what it means"

ARCHIVING = [
    Archiving("time=12", CANONICAL, {"time": "12"}, "not in canonical form", None, found_by_us(1, 1)),
    Archiving("expver=1", CANONICAL, {"expver": "1"}, "not in canonical form", None, found_by_us(0, 0)),
    Archiving("class=RD", CANONICAL, {"class": "RD"}, "not in canonical form", None, found_by_us(1, 0)),
    Archiving("date=2024-01-01", VERBATIM, {"date": "2024-01-01"}, None, None, found_by_us(0, 0)),
    Archiving("param=2t", VERBATIM, {"param": "2t"}, None, None, found_by_us(0, 0)),
    Archiving("param=167.128", VERBATIM, {"param": "167.128"}, None, None, found_by_us(0, 1)),
    Archiving(
        "date=0",
        CANONICAL,
        {"date": "0"},
        "not in canonical form",
        None,
        [Question("retrieve", asking(date="0"), 0, 1)],
    ),
    Archiving(
        "surface wind 131",
        "FDB's tables rewrite the id by its context, so the field is not found; an id stands for itself",
        {"param": "131", "type": "an", "class": "od"},
        None,
        None,
        [
            Question("list", asking(param="131", type="an", **{"class": "od"}), 0, 1),
            Question("retrieve", asking(param="131", type="an", **{"class": "od"}), 0, 1),
        ],
    ),
    Archiving(
        "member of a forecast",
        "FDB archives a number with type fc and then refuses every retrieval that names it",
        {"stream": "enfo", "number": "1"},
        None,
        None,
        [Question("retrieve", asking(stream="enfo", number="1"), "not acceptable with context", 1)],
    ),
    Archiving(
        "long element key",
        "FDB's index has keys of 32 or 64 bytes; there is no limit in Isotach",
        {"stream": "enfo", "type": "pf", "quantile": "999:1000", "number": "1234567890123456789"},
        "Assertion failed",
        None,
        [
            Question(
                "list",
                asking(stream="enfo", type="pf", quantile="999:1000", number="1234567890123456789"),
                0,
                1,
            )
        ],
    ),
    Archiving(
        "class=!od, od given",
        "FDB's parser drops the negation of a single value; in Isotach it means not",
        {"class": "od"},
        None,
        "class",
        [Question("list", "date=20240101", 1, 0)],
        schema="[class=!od, expver, stream, date:Date, time:Time, domain? [type, levtype [step:Step, param:Param]]]",
    ),
    Archiving(
        "class=!od, rd given",
        "as above",
        {"class": "rd"},
        "Could not find a rule",
        None,
        [Question("list", "date=20240101", 0, 1)],
        schema="[class=!od, expver, stream, date:Date, time:Time, domain? [type, levtype [step:Step, param:Param]]]",
    ),
]


def behaviour(said: Behaviour | None) -> str:
    if said is None:
        return "archived"
    return f"{said} field{'' if said == 1 else 's'}" if isinstance(said, int) else f"refuses: `{said}`"


def table() -> str:
    """The differences as the Markdown tables of the documentation."""
    lines = ["| request | FDB | Isotach | reason |", "|---|---|---|---|"]
    for case in ANSWERING:
        asked = f"{case.name}: {case.operation} `{case.request}`"
        lines.append(f"| {asked} | {behaviour(case.fdb)} | {behaviour(case.isotach)} | {case.reason} |")
    lines += ["", "| archived | FDB | Isotach | reason |", "|---|---|---|---|"]
    for case in ARCHIVING:
        fdb, ours = behaviour(case.fdb), behaviour(case.isotach)
        for asked in case.questions:
            fdb += f"; then {asked.operation}: {behaviour(asked.fdb)}"
            ours += f"; then {asked.operation}: {behaviour(asked.isotach)}"
        lines.append(f"| {case.name} | {fdb} | {ours} | {case.reason} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
