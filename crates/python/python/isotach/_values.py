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
        return value.strftime("%H%M")
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
    """A scalar of numpy. One with nanoseconds has no Python type, and becomes one with microseconds."""
    if value.dtype.kind in "mM":
        value = value.astype(f"{value.dtype.kind}8[us]")
    return _text(name, value.item())


def _of_number(name: str, value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{name}={value!r}: expected a finite number")
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _of_datetime(name: str, value: datetime) -> str:
    if name.lower().rstrip("_") == "time":
        return value.strftime("%H%M")
    if value.time() != time():
        raise ValueError(
            f"{name}={value!r}: expected a date without a time; give the time as time={value:%H%M}"
        )
    return value.strftime("%Y%m%d")


def _of_duration(name: str, value: timedelta) -> str:
    for unit, letter in ((_HOUR, ""), (timedelta(minutes=1), "m"), (timedelta(seconds=1), "s")):
        if value % unit == timedelta():
            return f"{value // unit}{letter}"
    raise ValueError(f"{name}={value!r}: expected whole seconds")
