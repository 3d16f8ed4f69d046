"""The requests that both stores must answer alike, with the size of the right answer.

Each case is listed and, unless `read` is None, retrieved. The counts are FDB's, observed and asserted, so that
two empty answers never pass for agreement.

`python cases.py` prints the table of docs/parity.md; a test compares the page with it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One request: the fields that `list` finds, the fields that `retrieve` gives, and what it shows."""

    name: str
    request: str
    listed: int
    read: int | None
    note: str = ""


OPER = "class=od,expver=0001,stream=oper,domain=g"
PL = f"{OPER},date=20240101,time=0000,type=fc,levtype=pl"
SFC = f"{OPER},date=20240101,time=0000,type=fc,levtype=sfc"
SHORT = f"{OPER},date=20240101,time=0600,type=fc"
ANALYSIS = f"{OPER},type=an,levtype=sfc,step=0"
ENFO = "class=od,expver=0001,stream=enfo,domain=g,date=20240101,time=0000"
PF = f"{ENFO},type=pf,levtype=pl,levelist=500,step=12"
EP = f"{ENFO},type=ep,levtype=sfc,param=131060"
SPAN = f"{OPER},date=20240101,time=1800,type=fc,levtype=sfc,step=6"
BARE = "class=rd,expver=nodm,date=20240101,time=0000,type=fc,levtype=pl,levelist=500,step=0/6"
POINT = "levelist=500,step=6,param=130"
AT_12 = f"{OPER},date=20240101,type=fc,levtype=pl,{POINT}"
AT_DATE = f"{OPER},time=0000,type=fc,levtype=pl,{POINT}"

LISTS = [
    Case("one field", f"{PL},{POINT}", 1, 1),
    Case(
        "lists in any order",
        f"{PL},levelist=500/1000,step=24/0/6,param=131/130",
        12,
        12,
        "read in request order",
    ),
    Case("repeated values", f"{PL},levelist=500,step=6/6/0,param=130/t", 2, 2, "each field once"),
    Case("alias of a key", f"{PL},level=500,step=6,param=t", 1, 1),
    Case("upper case", f"CLASS=OD,{PL.partition(',')[2].upper()},LEVELIST=500,STEP=6,PARAM=T", 1, 1),
    Case("expver without zeros", f"{PL.replace('expver=0001', 'expver=1')},{POINT}", 1, 1),
]

RANGES = [
    Case("step range", f"{PL},levelist=500,step=0/to/24/by/6,param=t", 4, 4, "step 18 is missing"),
    Case("step range without by", f"{PL},levelist=500,step=0/to/24,param=t", 3, 3, "steps go by 12 hours"),
    Case("step range in units", f"{SFC},step=0/to/1d/by/6h,param=167", 4, 4),
    Case("step range in minutes", f"{SHORT},levtype=sfc,step=0/to/2/by/30m,param=2t", 3, 3),
    Case("level range", f"{PL},levelist=500/to/1000/by/500,step=6,param=130", 2, 2),
    Case("downward range", f"{PL},levelist=1000/to/500/by/-500,step=24/to/0/by/-6,param=t", 8, 8),
    Case("number range", f"{PF},number=1/to/4,param=t", 4, 4),
    Case("list before a range", f"{PL},levelist=500,step=0/12/to/24/by/12,param=t", 3, 3),
    Case(
        "range that stops short",
        f"{PL},levelist=500,step=0/to/23/by/6,param=t",
        3,
        3,
        "the end need not be met",
    ),
    Case("number range by two", f"{PF},number=1/to/4/by/2,param=t", 2, 2),
    Case("date range", f"{AT_DATE},date=20240101/to/20240104", 3, 3, "the third day is missing"),
    Case("date range, day of year", f"{AT_DATE},date=2024-001/to/2024-004", 3, 3),
    Case("date range by three", f"{AT_DATE},date=2024-01-01/to/2024-01-04/by/3", 2, 2, "ISO dates"),
    Case("range of step ranges", f"{EP},step=0-24/to/24-48/by/24", 2, 2),
    Case("level range without by", f"{PL},levelist=499/to/501,step=6,param=130", 1, 1, "levels go by 1"),
    Case("time range without by", f"{AT_12},time=00/to/18", 2, 2, "times go by 6 hours"),
    Case("time range", f"{AT_12},time=00/to/12/by/6", 2, 2, "0600 has no such field"),
]

DATES = [
    Case("date 0", f"{ANALYSIS},date=0,time=0000,param=167", 1, 1, "today"),
    Case("date -1", f"{ANALYSIS},date=-1,time=0000,param=2t", 1, 1, "yesterday"),
    Case(
        "date to -1",
        f"{ANALYSIS},date=20240101/to/-1,time=0000,param=2t",
        2,
        2,
        "a range from a date to yesterday",
    ),
    Case("relative list", f"{ANALYSIS},date=-2/-1,time=00:00/12,param=167.128", 4, 4),
    Case("relative range", f"{ANALYSIS},date=-2/to/0,time=0000,param=167", 3, 3),
]

TIMES = [
    Case("time 0", f"{AT_12},time=0", 1, 1),
    Case("time 00:00", f"{AT_12},time=00:00", 1, 1),
    Case("time 12", f"{AT_12},time=12", 1, 1),
    Case("time 1200", f"{AT_12},time=1200", 1, 1),
    Case("time 12:00", f"{AT_12},time=12:00", 1, 1),
    Case("time 12:00:00", f"{AT_12},time=12:00:00", 1, 1),
]

VALUES = [
    Case("param by name", f"{PL},levelist=500,step=6,param=t", 1, 1),
    Case("param by table", f"{PL},levelist=500,step=6,param=130.128", 1, 1),
    Case(
        "param by local table",
        f"{ENFO},type=ep,levtype=sfc,step=0-24/24-48,param=60.131",
        2,
        2,
        "60.131 is 131060",
    ),
    Case("params mixed", f"{SFC},step=6/12,param=2t/151/tp", 6, 6),
    Case("step in hours", f"{SFC},step=6h,param=167", 1, 1),
    Case("step in minutes", f"{SFC},step=360m,param=167", 1, 1),
    Case("step in days", f"{SFC},step=1d,param=167", 1, 1),
    Case("step with a leading zero", f"{SFC},step=06,param=167", 1, 1),
    Case("step below the hour", f"{SHORT},levtype=sfc,step=30m/90m,param=2t", 2, 2, "90m is stored as 1h30m"),
    Case("step as 1h30m", f"{SHORT},levtype=sfc,step=1h30m,param=2t", 1, 1),
    Case("step end matches ranges", f"{EP},step=24", 1, 2, "read finds 24 and 0-24, list 24 alone"),
    Case("step range as a value", f"{EP},step=0-24", 1, 1),
    Case("accumulated", f"{SFC},step=6/12/24,param=tp", 3, 3, "the key of 0-24 accumulated is step 24"),
    Case("level as a decimal", f"{PL},levelist=500.0,step=6,param=130", 1, 1),
    Case("fractional level", f"{SHORT},levtype=pl,step=0,levelist=0.50/850,param=t", 2, 2),
]

OPTIONAL = [
    Case("absent key, none stored", f"{BARE},stream=oper,param=t", 2, 2, "stored without domain"),
    Case("named key, none stored", f"{BARE},stream=oper,domain=g,param=t", 0, 0),
    Case(
        "absent key, stored with a value",
        f"{PL.replace(',domain=g', '')},{POINT}",
        1,
        0,
        "list takes any domain",
    ),
    Case("absent key, default stored", f"{PF.replace(',domain=g', '')},number=2,param=t", 1, 1, "domain?g"),
    Case(
        "absent key, default and none",
        f"{BARE},stream=enfo,param=t/u",
        4,
        4,
        "domain?g: the default is read first",
    ),
    Case(
        "default named", f"{BARE},stream=enfo,domain=g,param=t/u", 2, 2, "a field without domain is not found"
    ),
    Case(
        "timespan named", f"{SPAN},param=167/228,timespan=none/fs", 2, 2, "a key that newer GRIB tables add"
    ),
    Case("timespan absent, stored", f"{SPAN},param=167/228", 2, 0, "`none` is a value like another"),
    Case("level absent", f"{PL},step=6,param=130", 2, 0),
    Case("number absent, stored", f"{PF},param=t", 4, 0),
    Case("number absent, none stored", f"{ENFO},type=cf,levtype=pl,levelist=500,step=12,param=t", 1, 1),
]

MISSING = [
    Case("some missing", f"{PL},levelist=500,step=6/7/8,param=130", 1, 1),
    Case("all missing", f"{AT_DATE},date=20240103", 0, 0),
    Case("members beyond the last", f"{PF},number=3/to/9,param=t", 2, 2),
    Case(
        "replaced field", f"{AT_DATE.replace('step=6', 'step=6/12')},date=20240102", 2, 2, "the newest wins"
    ),
]

PARTIAL = [
    Case("every class", "date=20240101/to/20240131", 154, None),
    Case("one experiment", "class=od,expver=0001", 154, None),
    Case("one day", "class=od,expver=0001,stream=oper,date=20240101", 50, None),
    Case(
        "across datasets",
        "class=od,stream=oper,param=130,levelist=500,step=6,date=20240101/to/20240104",
        6,
        None,
    ),
    Case("element keys alone", "step=24", 38, None),
    Case("param alone", "param=t", 84, None),
    Case("members of all levels", "class=od,stream=enfo,number=1/2", 12, None),
    Case("surface fields", "levtype=sfc", 26, None),
    Case("optional key with a value", "class=rd,domain=g", 2, None),
]

# Requests that both refuse: the request, and the key that the refusal is about.
REFUSED: list[tuple[str, str]] = [
    ("class=od,foo=bar", "foo"),
    ("class=od,step=foo", "step"),
    ("class=od,step=0/to/6/by/0", "step"),
    ("class=od,date=20241301", "date"),
    ("class=od,date=foo", "date"),
    ("class=od,date=2024001", "date"),
    ("class=od,time=2500", "time"),
    ("class=od,time=0060", "time"),
    ("class=od,param=foo", "param"),
    ("class=od,number=foo", "number"),
    ("class=od,number=1/to/4/by/0", "number"),
    ("class=od,levelist=foo", "levelist"),
]

GROUPS: dict[str, list[Case]] = {
    "Lists and spelling": LISTS,
    "Ranges": RANGES,
    "Relative dates": DATES,
    "Times": TIMES,
    "Params, steps and levels": VALUES,
    "Optional keys": OPTIONAL,
    "Missing and replaced fields": MISSING,
    "Partial requests, listed only": PARTIAL,
}

CASES: list[Case] = [case for group in GROUPS.values() for case in group]


def table() -> str:
    """The cases as the Markdown table of the documentation."""
    lines = ["| case | request | listed | read | note |", "|---|---|---|---|---|"]
    for title, group in GROUPS.items():
        lines.append(f"| **{title}** | | | | |")
        for case in group:
            read = "-" if case.read is None else case.read
            lines.append(f"| {case.name} | `{case.request}` | {case.listed} | {read} | {case.note} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
