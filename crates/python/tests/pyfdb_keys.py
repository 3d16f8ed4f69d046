"""The schema and the keys of the tests of isotach.pyfdb."""

from __future__ import annotations

SCHEMA = """
param: Param; step: Step; date: Date; levelist: Double; expver: Expver; time: Time;
[ class, expver, stream, date, time, domain? [ type, levtype [ step, levelist?, param ]]]
"""
KEY = {
    "class": "rd",
    "expver": "xxxx",
    "stream": "oper",
    "date": "20240101",
    "time": "0000",
    "domain": "g",
    "type": "fc",
    "levtype": "sfc",
    "step": "0",
    "param": "138",
}


def key(**changes: str) -> dict[str, str]:
    """The key of a field."""
    return {**KEY, **changes}
