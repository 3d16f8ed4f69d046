"""The single values of a selection: ranges, relative dates, and other spellings are resolved.

Names of parameters stay as they are given.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from isotach.pyfdb._internal._errors import user_error

Value = TypeVar("Value")
_RELATIVE = re.compile(r"0|-\d{1,4}")
_FORMATS = ("%Y%m%d", "%Y-%m-%d", "%Y-%j", "%Y%j")


def expand(selection: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """The values of each key, each once, in their order."""
    return {name.lower(): _values(name.lower(), list(values)) for name, values in selection.items()}


def _values(name: str, values: list[str]) -> list[str]:
    words = [value.lower() for value in values]
    found: list[str] = []
    at = 0
    while at < len(words):
        if words[at + 1 : at + 2] == ["to"] and at + 2 < len(words):
            by = words[at + 4] if words[at + 3 : at + 4] == ["by"] and at + 4 < len(words) else None
            found += _range(name, words[at], words[at + 2], by)
            at += 3 if by is None else 5
        else:
            found.append(_value(name, words[at]))
            at += 1
    return list(dict.fromkeys(found))


def _value(name: str, text: str) -> str:
    if name == "date":
        return _day(text).strftime("%Y%m%d")
    if name == "time":
        return f"{_minutes(text) // 60:02}{_minutes(text) % 60:02}"
    if name == "expver":
        return text.zfill(4) if text.isdigit() else text
    if name == "param" and text.endswith(".128"):
        return text.removesuffix(".128")
    return text


def _range(name: str, first: str, last: str, by: str | None) -> list[str]:
    if name == "date":
        days = _steps(_day(first).toordinal(), _day(last).toordinal(), _number(name, by or "1"))
        return [date.fromordinal(day).strftime("%Y%m%d") for day in days]
    if name == "time":
        hours = _steps(_minutes(first), _minutes(last), _minutes(by or "6"))
        return [f"{minutes // 60:02}{minutes % 60:02}" for minutes in hours]
    step = _number(name, by or ("12" if name == "step" else "1"))
    return [str(value) for value in _steps(_number(name, first), _number(name, last), step)]


def _steps(first: int, last: int, by: int) -> Iterator[int]:
    """From the first to the last, downwards if the last is smaller."""
    if by == 0:
        raise user_error("Bad value: a range by 0")
    by = abs(by) if last >= first else -abs(by)
    return iter(range(first, last + (1 if by > 0 else -1), by))


def _number(name: str, text: str) -> int:
    return _read(name, text, lambda text: int(text.removesuffix("h") if name == "step" else text))


def _minutes(text: str) -> int:
    """A time of day in minutes: 6, 06, 0600, 06:00 or 06:00:00."""

    def read(text: str) -> int:
        parts = text.split(":")
        if len(parts) > 1:
            return int(parts[0]) * 60 + int(parts[1])
        return int(text) * 60 if len(text) <= 2 else int(text[:-2]) * 60 + int(text[-2:])

    return _read("time", text, read)


def _day(text: str) -> date:
    if _RELATIVE.fullmatch(text):
        return _today() + timedelta(days=int(text))

    def read(text: str) -> date:
        for form in _FORMATS:
            try:
                return datetime.strptime(text, form).date()
            except ValueError:
                continue
        raise ValueError

    return _read("date", text, read)


def _today() -> date:
    """The day in UTC, or that of ISOTACH_TODAY, as everywhere in isotach."""
    day = os.environ.get("ISOTACH_TODAY")
    return date.fromisoformat(day) if day else datetime.now(UTC).date()


def _read(name: str, text: str, read: Callable[[str], Value]) -> Value:
    try:
        return read(text)
    except ValueError:
        raise user_error(f"Bad value: {name}={text!r}") from None
