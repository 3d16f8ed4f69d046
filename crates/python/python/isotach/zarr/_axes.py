"""The dimensions of a view: the keys of its fields that have several values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotach._exceptions import InvalidInputError
from isotach._isotach import Request
from isotach._reports import Key
from isotach._store import Store

_EPOCH = date(1970, 1, 1)
_LONG_NAMES = {"step": "forecast step in hours", "time": "time of day as HHMM"}
_DATES = {"date": "base date", "refdate": "reference date", "hdate": "hindcast date"}


def requested_values(store: Store, request: Request, name: str, base: Key) -> list[str]:
    """The values that a request names for a key, in its order and in canonical form, whether or not a field has them.

    ``base`` is the key of any field that has this key.
    """
    given = request[name]
    found, missing = _expanded(store, base, name, given)
    if not missing:
        return found
    values: list[str] = []
    for part in _parts(given):
        found, missing = _expanded(store, base, name, part)
        both = found + missing
        if found and missing:
            # Only a range has several values, and is in order.
            both.sort(key=_rank, reverse=_is_falling(found) or _is_falling(missing))
        values += both
    return list(dict.fromkeys(values))


def _expanded(store: Store, base: Key, name: str, values: Sequence[str]) -> tuple[list[str], list[str]]:
    """The canonical values of a part of a request that exist, and those that do not."""
    inspection = store.inspect(Request({**base, name: "/".join(values)}))
    found = [field.key[name] for field in inspection]
    missing = inspection.missing
    if missing is None:
        return found, []
    if missing.count > len(missing.keys):
        raise InvalidInputError(
            f"{name} has {missing.count} values that no field has: expected at most {len(missing.keys)}"
        )
    return found, [key[name] for key in missing.keys]


def _parts(values: Sequence[str]) -> list[list[str]]:
    """The single values and the ranges of a list."""
    parts: list[list[str]] = []
    for value in values:
        joins = value.lower() in ("to", "by") or (parts and parts[-1][-1].lower() in ("to", "by"))
        if joins and parts:
            parts[-1].append(value)
        else:
            parts.append([value])
    return parts


def sorted_values(values: Iterable[str]) -> list[str]:
    """Values in their natural order."""
    return sorted(values, key=_rank)


def _rank(value: str) -> tuple[bool, float, str]:
    number = _number(value)
    return number is None, number or 0.0, value


def _is_falling(values: Sequence[str]) -> bool:
    return len(values) > 1 and _rank(values[0]) > _rank(values[-1])


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def coordinate(name: str, values: Sequence[str]) -> tuple[NDArray[Any] | None, dict[str, str]]:
    """The values of a key as numbers, with their attributes. None for values that are text."""
    if name.lower() in _DATES and all(len(value) == 8 for value in values):
        days = [(_day(value) - _EPOCH).days for value in values]
        units = {"units": "days since 1970-01-01", "calendar": "proleptic_gregorian"}
        return np.array(days, "<i8"), {"long_name": _DATES[name.lower()], **units}
    numbers = [_number(value) for value in values]
    if any(number is None for number in numbers):
        return None, {}
    array = np.array(numbers, "<f8")
    is_whole = bool((array == np.round(array)).all())
    long_name = _LONG_NAMES.get(name)
    attributes = {"long_name": long_name} if long_name else {}
    return array.astype("<i8") if is_whole else array, attributes


def _day(value: str) -> date:
    return date(int(value[:4]), int(value[4:6]), int(value[6:]))
