"""The values that a request names, as far as they can be told without the schema.

A value that is not understood here, such as a relative date, is left out: the store has read it, and only its absence would go
unnoticed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from isotach._exceptions import InvalidInputError
from isotach._isotach import Request
from isotach._xarray.axes import Raw, steps
from isotach._xarray.cube import Requested

_NUMBER = re.compile(r"\d+(\.\d+)?")


def requested_of(request: Request, found: Mapping[str, Iterable[str]]) -> Requested:
    """For each axis, the values that the request names. Found are the values that fields have."""
    named = {name.lower(): values for name, values in request.to_dict().items()}
    numbers = _texts(named, "number", _number)
    steps = _texts(named, "step", _step)
    levels = _texts(named, "levelist", _number)
    dates, times = _texts(named, "date", _date), _texts(named, "time", _time)
    both: list[Raw] = [
        (date, time)
        for date in dates or sorted(found.get("date", []))
        for time in times or sorted(found.get("time", []))
        if dates or times
    ]
    return {
        "number": [(text,) for text in numbers],
        "step": [(text,) for text in steps],
        "level": [(text,) for text in levels],
        "date": [(text,) for text in dates],
        "time": [(text,) for text in times],
        "forecast_reference_time": both,
    }


def _texts(named: dict[str, list[str]], name: str, read: Callable[[str], str | None]) -> list[str]:
    texts = (read(text) for text in _expanded(named.get(name, []), name == "date"))
    return [text for text in texts if text is not None]


def _expanded(values: Sequence[str], are_dates: bool) -> list[str]:
    """The values, with ranges such as ``0/to/24/by/6`` expanded. Nothing if the range cannot be told."""
    lowered = [value.lower() for value in values]
    if "to" not in lowered:
        return list(values)
    at = lowered.index("to")
    if at != 1 or len(values) not in (3, 5):
        return []
    by = values[4] if len(values) == 5 else "1"
    first, last = values[0], values[2]
    if not (_NUMBER.fullmatch(by) and by.isdigit() and int(by) > 0):
        return []
    if are_dates:
        return _days(first, last, int(by))
    if not (first.isdigit() and last.isdigit()):
        return []
    sign = 1 if int(first) <= int(last) else -1
    return [str(value) for value in range(int(first), int(last) + sign, sign * int(by))]


def _days(first: str, last: str, by: int) -> list[str]:
    begin, end = _date(first), _date(last)
    if begin is None or end is None:
        return []
    days = np.arange(_day(begin), _day(end) + 1, by)
    return [str(one).replace("-", "") for one in days]


def _day(text: str) -> np.datetime64:
    return np.datetime64(f"{text[:4]}-{text[4:6]}-{text[6:]}", "D")


def _number(text: str) -> str | None:
    return text if _NUMBER.fullmatch(text) else None


def _step(text: str) -> str | None:
    try:
        steps(text)
    except (InvalidInputError, ValueError):
        return None
    return text


def _date(text: str) -> str | None:
    digits = text.replace("-", "")
    return digits if len(digits) == 8 and digits.isdigit() else None


def _time(text: str) -> str | None:
    digits = text.replace(":", "")
    if not digits.isdigit() or len(digits) > 6:
        return None
    return f"{int(digits):02}00" if len(digits) <= 2 else digits.zfill(4)


def missing_params(request: Request, found: Iterable[tuple[str, str | None]]) -> list[str]:
    """The parameters that the request names and no variable is of. Found are their ids and short names."""
    named = request.to_dict().get("param", [])
    known = {text.lower() for one in found for text in one if text}
    if "to" in named or "all" in named:
        return []
    return [text for text in named if not {text.lower(), _id(text)} & known]


def _id(text: str) -> str:
    """The id of a parameter that is given with the number of its table, as in 130.128."""
    number, _, table = text.partition(".")
    if not (number.isdigit() and table.isdigit()):
        return text
    return number if int(table) in (0, 128) else f"{int(table)}{int(number):03}"
