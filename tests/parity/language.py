"""The MARS language beyond plain values: requests with what each side answers, and every keyword that FDB knows.

A behaviour is the number of fields that an answer holds, or a text that the refusal contains. The fields are archived
under the standard schema, on both sides.

`python language.py` prints the tables of docs/parity.md; a test compares the page with them.
"""

from __future__ import annotations

from dataclasses import dataclass

Behaviour = int | str

MEMBER = {
    "class": "od",
    "expver": "0001",
    "stream": "enfo",
    "date": "20240101",
    "time": "0000",
    "domain": "g",
    "type": "pf",
    "levtype": "pl",
    "step": "6",
    "levelist": "500",
    "number": "1",
    "param": "130",
}
CLIMATE = MEMBER | {"class": "ei", "stream": "dacl", "type": "em", "date": "20240402", "time": "0600"}
CLIMATE = {name: value for name, value in CLIMATE.items() if name != "number"}
MONTH = {
    "class": "d1",
    "dataset": "climate-dt",
    "activity": "scenariomip",
    "experiment": "ssp3-7.0",
    "generation": "1",
    "model": "ifs-nemo",
    "realization": "1",
    "expver": "0001",
    "stream": "clmn",
    "year": "2024",
    "month": "11",
    "resolution": "standard",
    "type": "fc",
    "levtype": "sfc",
    "param": "167",
}
FIELDS = [MEMBER | {"param": param, "number": number} for param in ("130", "138", "155") for number in "12"]
FIELDS += [CLIMATE, MONTH]


@dataclass(frozen=True)
class Asked:
    """A request: what reading and listing it gives, in FDB and in Isotach."""

    name: str
    request: str
    fdb_reads: Behaviour
    reads: Behaviour
    fdb_lists: Behaviour
    lists: Behaviour
    note: str = ""


def like(fields: dict[str, str], **other: str) -> str:
    """The request for a field with some of its values replaced."""
    return ",".join(f"{name}={value}" for name, value in (fields | other).items())


INVALID = "Invalid date"
ASKED = [
    Asked("u and v, stored as vo and d", like(MEMBER, param="u/v"), 2, 2, 0, 0, "read as vo and d"),
    Asked("u alone", like(MEMBER, param="u"), 2, 2, 0, 0, "both are needed for it"),
    Asked("v and a parameter that is there", like(MEMBER, param="t/v"), 3, 3, 1, 1),
    Asked("vo and u", like(MEMBER, param="vo/u"), 2, 2, 1, 1, "each field once"),
    Asked("month by its name", like(MONTH, month="nov"), 1, 1, 1, 1),
    Asked("month by its whole name", like(MONTH, month="November"), 1, 1, 1, 1),
    Asked("month by its number", like(MONTH), 1, 1, 1, 1),
    Asked("climatology by a day of any year", like(CLIMATE, date="20230402"), 1, 1, 1, 1),
    Asked(
        "climatology by month and day",
        like(CLIMATE, date="apr-02"),
        INVALID,
        1,
        1,
        1,
        "FDB lists it and cannot read it",
    ),
    Asked("every member", like(MEMBER, number="all"), 0, 2, 0, 2, "FDB takes `all` for a value like another"),
    Asked("every parameter", like(MEMBER, param="all"), 0, 3, 0, 3, "as above"),
    Asked("every step", like(MEMBER, step="all"), "format for time", 1, 0, 1, "as above"),
    Asked("every level", like(MEMBER, levelist="all"), "to double", 1, 0, 1, "as above"),
    Asked("post-processing", like(MEMBER, area="75/-10/30/40"), 1, 1, 0, 1, "FDB lists by every keyword"),
    Asked("execution", like(MEMBER, target="out", expect="1"), 1, 1, 0, 1, "as above"),
]

NO_EFFECT = {
    "post-processing": (
        "accuracy area bitmap compatibility filter format frame gaussian grid interpolation intgrid packing process resol "
        "rotation truncation units"
    ),
    "execution": (
        "database decache disp duplicates expect field fieldset filename formula optimise option output padding priority "
        "pseudodate repres requirements source sourcebase style tape target use wait"
    ),
}
NAMES_A_FIELD = (
    "activity anoffset bcmodel channel chem class coeffindex country dataset date dbase diagnostic direction domain "
    "experiment expver fcmonth fcperiod frequency generation georef hdate icmodel ident instrument iteration latitude "
    "leadtime levelist levtype longitude method model month number obsgroup obstype offsetdate offsettime opttime origin "
    "param product quantile range realization reference refdate reportype resolution section stattype step stream system "
    "time timespan type wavelength year"
)
OTHER_NAMES = {
    "leve": "levelist",
    "level": "levelist",
    "levellist": "levelist",
    "levtyp": "levtype",
    "parameter": "param",
    "parameters": "param",
}
REFUSED = {
    "configuration": "no rule keeps it",
    "day": "MARS chooses days by it, FDB 5.25 does not: nobody should think that it narrows a request",
    "forcing": "no rule keeps it",
    "grib": "no rule keeps it",
    "lat": "a point of MARS's point database",
    "lon": "as above",
    "obscutoff": "no rule keeps it",
    "paramtype": "MARS derives it from the parameter",
    "tile": "no rule keeps it",
    "tileattribute": "no rule keeps it",
    "tilescheme": "no rule keeps it",
}
# Keys of the standard schema that FDB's language does not know.
BEYOND_FDB = {"refdate"}


def no_effect() -> list[str]:
    return [name for names in NO_EFFECT.values() for name in names.split()]


def keywords() -> set[str]:
    """Every keyword that the page accounts for."""
    return {*no_effect(), *NAMES_A_FIELD.split(), *OTHER_NAMES, *REFUSED} - BEYOND_FDB


def behaviour(said: Behaviour) -> str:
    return f"refuses: `{said}`" if isinstance(said, str) else str(said)


def asked_table() -> str:
    """The requests as the Markdown table of the documentation."""
    lines = [
        "| request | FDB reads | Isotach reads | FDB lists | Isotach lists | note |",
        "|---|---|---|---|---|---|",
    ]
    for asked in ASKED:
        said = [asked.fdb_reads, asked.reads, asked.fdb_lists, asked.lists]
        cells = " | ".join(behaviour(one) for one in said)
        lines.append(f"| {asked.name}: `{asked.request}` | {cells} | {asked.note} |")
    return "\n".join(lines)


def keyword_table() -> str:
    """The keywords as the Markdown table of the documentation."""
    lines = ["| keywords | here |", "|---|---|"]
    lines.append(
        f"| {quoted(NAMES_A_FIELD.split())} | name a field, under the rules of the schema that keep them |"
    )
    for other, usual in OTHER_NAMES.items():
        lines.append(f"| `{other}` | another name of `{usual}` |")
    for kind, names in NO_EFFECT.items():
        lines.append(f"| {quoted(names.split())} | {kind}: no effect; `--strict-request` refuses |")
    lines += [f"| `{name}` | refused: {reason} |" for name, reason in REFUSED.items()]
    return "\n".join(lines)


def quoted(names: list[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    print(asked_table(), keyword_table(), sep="\n\n")
