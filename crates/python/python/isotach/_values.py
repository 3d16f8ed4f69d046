"""Values of keys and requests that need more than text: dates, times, ranges, and the types of other libraries.

The native module converts text and whole numbers itself and calls these functions for all other values.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Set
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HOUR = timedelta(hours=1)


def moment(microseconds: int) -> datetime:
    """A time in microseconds since 1970 as an aware datetime in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)


def text_of(name: str, value: Any) -> str:
    """The text of one value, as MARS writes it."""
    text = _text(name, value)
    if text is None:
        raise TypeError(
            f"{name}={value!r} of type {type(value).__name__}: expected text, a number, a date or a time"
        )
    return text


def texts_of(name: str, value: Any) -> list[str]:
    """The texts of one value, or of each value of a sequence."""
    text = _text(name, value)
    if text is not None:
        return [text]
    if isinstance(value, Iterable) and not isinstance(value, (Mapping, Set, bytes, bytearray, memoryview)):
        texts = [text_of(name, item) for item in value]
        if texts:
            return texts
        raise ValueError(f"{name}={value!r}: expected at least one value")
    kind = type(value).__name__
    raise TypeError(
        f"{name}={value!r} of type {kind}: expected text, a number, a date, a time, or a sequence of them"
    )


def _text(name: str, value: Any) -> str | None:
    """The text of a value. None for what is no single value."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bool, type(None))):
        raise TypeError(f"{name}={value!r}: expected text, a number, a date or a time")
    if isinstance(value, datetime):
        return _of_datetime(name, value)
    if isinstance(value, date):
        return value.strftime("%Y%m%d")
    if isinstance(value, time):
        return _of_time(name, value)
    if isinstance(value, timedelta):
        return _of_duration(name, value)
    if getattr(value, "ndim", 0) > 0:
        return None
    if hasattr(value, "item") and hasattr(value, "dtype"):
        return _of_numpy(name, value)
    if hasattr(value, "__index__"):
        return str(operator.index(value))
    if hasattr(value, "__float__"):
        return _of_number(name, float(value))
    return None


def _of_numpy(name: str, value: Any) -> str | None:
    """A scalar of numpy. Times have microseconds in Python, and floats the digits of their own precision."""
    kind = value.dtype.kind
    if kind in "mM":
        if value != value:
            raise _no_time(name, value)
        rounded = value.astype(f"{kind}8[us]")
        if value != rounded:
            raise ValueError(f"{name}={value!r}: expected whole microseconds")
        return _text(name, rounded.item())
    if kind == "f":
        number = float(value)
        return _of_number(name, number if number.is_integer() else float(str(value)))
    return _text(name, value.item())


def _of_number(name: str, value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{name}={value!r}: expected a finite number")
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _of_datetime(name: str, value: datetime) -> str:
    if value != value:
        raise _no_time(name, value)
    if value.utcoffset():
        raise _not_utc(name, value)
    # Only a timestamp of pandas has nanoseconds.
    if getattr(value, "nanosecond", 0):
        raise ValueError(f"{name}={value!r}: expected whole microseconds")
    if name.lower().rstrip("_") == "time":
        return _of_time(name, value.time())
    if value.time() != time():
        raise ValueError(
            f"{name}={value!r}: expected a date without a time; give the time as time={value:%H%M}"
        )
    return value.strftime("%Y%m%d")


def _of_time(name: str, value: time) -> str:
    if value.tzinfo is not None and value.utcoffset() != timedelta():
        raise _not_utc(name, value)
    if value.second or value.microsecond:
        raise ValueError(f"{name}={value!r}: expected whole minutes")
    return value.strftime("%H%M")


def _no_time(name: str, value: Any) -> ValueError:
    """For NaT, of numpy or of pandas."""
    return ValueError(f"{name}={value!r}: expected a time")


def _not_utc(name: str, value: datetime | time) -> ValueError:
    return ValueError(f"{name}={value!r}: expected UTC, as astimezone(datetime.UTC) gives")


def _of_duration(name: str, value: timedelta) -> str:
    for unit, letter in ((_HOUR, ""), (timedelta(minutes=1), "m"), (timedelta(seconds=1), "s")):
        if value % unit == timedelta():
            return f"{value // unit}{letter}"
    raise ValueError(f"{name}={value!r}: expected whole seconds")
