"""Labels: from the coordinates of a field to the keys of its message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray

from isotach._exceptions import InvalidInputError
from isotach._xarray.axes import LEVELS, steps
from isotach._xarray.message import Message

Pairs = Sequence[tuple[str, Any]]

_HOUR = np.timedelta64(1, "h")
_MINUTE = np.timedelta64(1, "m")
_SECOND = np.timedelta64(1, "s")
_BY_STANDARD_NAME = {
    "realization": "number",
    "forecast_reference_time": "forecast_reference_time",
    "forecast_period": "step",
    "time": "valid_time",
}
_OF_LEVELS = frozenset(one["standard_name"] for one in LEVELS.values() if "standard_name" in one)
_OF_GRID = ("latitude", "longitude")


Labels = dict[str, Any]
"""The scalar coordinates of a field by what they mean: a key, ``level``, ``forecast_reference_time`` or ``valid_time``."""

_OF_MESSAGES = ("number", "forecast_reference_time", "step", "level")
_KEYS: Mapping[str, tuple[str, ...]] = {
    # In GRIB 1 a mean has a number, too. Its type tells it apart.
    "number": ("number", "perturbationNumber", "type"),
    "forecast_reference_time": ("date", "dataDate", "time", "dataTime"),
    "valid_time": ("date", "dataDate", "time", "dataTime", "step", "stepRange", "endStep"),
    "step": ("step", "stepRange", "endStep"),
    "level": ("levelist", "level", "topLevel", "bottomLevel"),
}
"""The keys that give a label, the one of MARS first."""
LABEL_KEYS = frozenset(key for keys in _KEYS.values() for key in keys)
"""All of them."""


def labels_of(field: xarray.DataArray, message: Message) -> Labels:
    """What the coordinates of a field say."""
    kind = message.text("typeOfLevel")
    return {
        _role(str(name), one, kind): one.values[()] for name, one in field.coords.items() if one.ndim == 0
    }


def check_complete(
    labels: Labels, message: Message, expected: Iterable[str] | None, given: Iterable[str]
) -> None:
    """Refuses a field that would silently have a label of its template. Expected are those that the template has.

    Raises
    ------
    InvalidInputError
        Neither the field nor a keyword of the caller says what the label is.
    """
    known = {*labels, *given}
    if {"date", "time"} <= labels.keys() or "valid_time" in labels:
        known.add("forecast_reference_time")
    if "forecast_reference_time" in known:
        known |= {"date", "time"}
        if "step" in known:
            known.add("valid_time")
    names = message.names("mars")
    for label in _OF_MESSAGES if expected is None else sorted(expected):
        keys = _KEYS.get(label, (label,))
        if label in known or known & set(keys) or keys[0] not in names:
            continue
        remedy = f"give {keys[0]}="
        if label == "number":
            remedy += ", or type='em' for a mean"
        raise InvalidInputError(
            f"the dataset has no {label}, and its template has {keys[0]}={message.text(keys[0])}: {remedy}"
        )


def pairs_of(roles: Labels, message: Message, ranges: Mapping[int, str]) -> Iterator[tuple[str, Any]]:
    """The keys that labels give a message, in the order in which they must be set."""
    roles = dict(roles)
    base = roles.pop("forecast_reference_time", None)
    valid = roles.pop("valid_time", None)
    step = roles.pop("step", None)
    if base is None and {"date", "time"} <= roles.keys():
        base = roles.pop("date") + roles.pop("time")
    if base is None and valid is not None:
        base = valid - (step if step is not None else _step_of(message))
    if base is not None:
        yield from _moment(base)
    for name, value in roles.items():
        if name == "level":
            yield from _level(value, message)
        elif name not in _OF_GRID:
            yield name, _plain(value)
    if step is not None:
        yield from _step(step, message, ranges)


def check_kept(labels: Labels, pairs: Pairs, message: Message) -> None:
    """Refuses labels that the message has rounded, and those of the caller that a coordinate contradicts.

    Raises
    ------
    InvalidInputError
        A key that was set has another value now.
    """
    for key, value in pairs:
        found = message.get(key)
        if not key.startswith("step") and not _is_same(found, value):
            raise InvalidInputError(f"{key}={value}: the message would have {found}")
    step = labels.get("step")
    if step is not None and step != _step_of(message):
        raise InvalidInputError(f"step={step}: the message would have {message.text('stepRange')}")


def _is_same(found: Any, value: Any) -> bool:
    try:
        return float(found) == float(value)
    except (TypeError, ValueError):
        return str(found).lower() == str(value).lower()


def _plain(value: Any) -> Any:
    """A value as ecCodes takes it: a whole number as int."""
    plain = value.item() if hasattr(value, "item") else value
    return int(plain) if isinstance(plain, float) and plain.is_integer() else plain


def _role(name: str, coordinate: xarray.DataArray, type_of_level: str | None) -> str:
    """What a coordinate means: by its standard name, so that it may have any name of its own.

    cfgrib names levels by their type, which is that of the message.
    """
    if name == "level_and_type":
        raise InvalidInputError("the coordinate level_and_type cannot be written: expected level")
    attributes = coordinate.attrs
    standard_name = attributes.get("standard_name", "")
    is_named = name in ("level", type_of_level, *LEVELS) or standard_name in _OF_LEVELS
    if is_named or "level_type" in attributes or "GRIB_typeOfLevel" in attributes:
        return "level"
    return _BY_STANDARD_NAME.get(standard_name, name)


def _moment(value: Any) -> Iterator[tuple[str, Any]]:
    minutes = value.astype("datetime64[m]")
    if minutes != value:
        raise InvalidInputError(f"forecast_reference_time={value}: expected whole minutes")
    text = str(minutes)
    yield "dataDate", int(text[:10].replace("-", ""))
    yield "dataTime", int(text[11:].replace(":", ""))


def _level(value: Any, message: Message) -> Iterator[tuple[str, Any]]:
    """A level in the units of MARS. A fraction of a hectopascal is written in pascals."""
    if float(value).is_integer():
        if message.text("typeOfLevel") == "isobaricInPa":
            yield "typeOfLevel", "isobaricInhPa"
        yield "level", int(value)
    elif message.text("typeOfLevel") in ("isobaricInhPa", "isobaricInPa"):
        pascals = round(float(value) * 100)
        if not np.isclose(pascals, float(value) * 100, rtol=1e-6, atol=0):
            raise InvalidInputError(f"level={value}: expected whole pascals")
        yield "typeOfLevel", "isobaricInPa"
        yield "level", pascals
    else:
        yield "level", float(value)


def _step(step: Any, message: Message, ranges: Mapping[int, str]) -> Iterator[tuple[str, Any]]:
    """The step, or the range that ends with it.

    An accumulation since the beginning goes on to begin there. Any other range is as long as that of the template.
    """
    nanoseconds = int(step.astype("timedelta64[ns]").astype(np.int64))
    if nanoseconds in ranges:
        yield "stepRange", ranges[nanoseconds]
        return
    if step == _step_of(message):
        return
    text, _, _ = (message.text("stepRange") or "").partition("-")
    if message.text("stepType") == "instant":
        yield from _units(step, "step")
        return
    begin = _parsed(text)
    if not (message.text("stepType") == "accum" and begin == 0 * _SECOND):
        begin += step - _step_of(message)
    unit, name = next((unit, name) for unit, name in _UNITS if begin % unit == 0 * _SECOND == step % unit)
    yield "stepRange", f"{begin // unit}{name}-{step // unit}{name}"


_UNITS = ((_HOUR, ""), (_MINUTE, "m"), (_SECOND, "s"))


def _units(step: Any, key: str) -> Iterator[tuple[str, Any]]:
    for unit, name in _UNITS:
        if step % unit == 0 * _SECOND:
            yield "stepUnits", name or "h"
            yield key, int(step // unit)
            return
    raise InvalidInputError(f"step={step}: expected whole seconds")


def _step_of(message: Message) -> Any:
    """The end of the message's step."""
    return _parsed((message.text("stepRange") or "0").rpartition("-")[2])


def _parsed(text: str) -> Any:
    return steps(text or "0")[1]
