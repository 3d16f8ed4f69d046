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
_OF_A_CLIMATE = re.compile(r"[a-z]{3}(-\d{1,2})?")
_STEP = re.compile(r"(\d+)|(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?")
_WORDS = ("all", "any", "off")
_FORMATS = ("%Y%m%d", "%Y-%m-%d", "%Y-%j", "%Y%j")


def expand(selection: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """The values of each key in their order."""
    return {name.lower(): _values(name.lower(), list(values)) for name, values in selection.items()}


def _values(name: str, values: list[str]) -> list[str]:
    # The case of an expver matters.
    words = values if name == "expver" else [value.lower() for value in values]
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
    return found


def _value(name: str, text: str) -> str:
    if text in _WORDS:
        return text
    match name:
        case "date":
            return text if _OF_A_CLIMATE.fullmatch(text) else _day(text).strftime("%Y%m%d")
        case "time":
            return _clock(_minutes(text))
        case "step":
            return "-".join(_step_text(_step(end)) for end in text.split("-"))
        case "expver":
            return text.zfill(4)
        case "number":
            return str(_number(name, text))
        case "levelist" if "." in text:
            return text.rstrip("0").rstrip(".")
        case "param":
            return text.removesuffix(".128")
    return text


def _range(name: str, first: str, last: str, by: str | None) -> list[str]:
    match name:
        case "date":
            days = _steps(_day(first).toordinal(), _day(last).toordinal(), _number(name, by or "1"))
            return [date.fromordinal(day).strftime("%Y%m%d") for day in days]
        case "time":
            return [_clock(time) for time in _steps(_minutes(first), _minutes(last), _minutes(by or "6"))]
        case "step":
            return _step_range(first, last, _step((by or "12").removeprefix("-")))
    step = _number(name, by or "1")
    return [str(value) for value in _steps(_number(name, first), _number(name, last), step)]


def _step_range(first: str, last: str, by: int) -> list[str]:
    """Steps, or intervals of steps, each of which is as long as the first."""
    start, _, end = first.partition("-")
    length = _step(end) - _step(start) if end else None
    starts = _steps(_step(start), _step(last.partition("-")[0]), by)
    if length is None:
        return [_step_text(step) for step in starts]
    return [f"{_step_text(step)}-{_step_text(step + length)}" for step in starts]


def _steps(first: int, last: int, by: int) -> Iterator[int]:
    """From the first to the last, downwards if the last is smaller."""
    if by == 0:
        raise user_error("Bad value: a range by 0")
    by = abs(by) if last >= first else -abs(by)
    return iter(range(first, last + (1 if by > 0 else -1), by))


def _number(name: str, text: str) -> int:
    return _read(name, text, int)


def _step(text: str) -> int:
    """A step in minutes: 6, 6h, 90m, 1h30m or 1d."""

    def read(text: str) -> int:
        found = _STEP.fullmatch(text)
        if found is None or not text:
            raise ValueError
        hours, of_days, of_hours, minutes = (int(part or 0) for part in found.groups())
        return (hours + 24 * of_days + of_hours) * 60 + minutes

    return _read("step", text, read)


def _step_text(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return str(hours) if rest == 0 else f"{hours}h{rest}m" if hours else f"{rest}m"


def _minutes(text: str) -> int:
    """A time of day in minutes: 6, 06, 0600, 06:00 or 06:00:00."""

    def read(text: str) -> int:
        parts = text.split(":") if ":" in text else [text] if len(text) <= 2 else [text[:-2], text[-2:]]
        hours, minutes = int(parts[0]), int(parts[1]) if len(parts) > 1 else 0
        if not (0 <= hours < 24 and 0 <= minutes < 60):
            raise ValueError
        return hours * 60 + minutes

    return _read("time", text, read)


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}{minutes % 60:02}"


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
