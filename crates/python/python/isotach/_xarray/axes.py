"""Axes: how the text of a key becomes a coordinate."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isotach._exceptions import InvalidInputError

Duration = Any
"""A timedelta64 in nanoseconds."""
Moment = Any
"""A datetime64 in nanoseconds."""
Raw = tuple[str | None, ...]
"""The text of the keys of an axis. None for a key that the field does not have."""

_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_DATE_KEYS = ("date", "hdate", "refdate", "andate", "offsetdate")


@dataclass(frozen=True)
class Axis:
    """A dimension of fields: the keys that it is made of, and what makes a coordinate of their text."""

    name: str
    keys: tuple[str, ...]
    value: Callable[[Raw], Any]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    descends_on: tuple[str, ...] = ()
    """The types of level on which coordinates descend."""


def steps(text: str) -> tuple[Duration, Duration]:
    """Both ends of a step or of a range of steps: ``6``, ``1h30m``, ``0-24``."""
    begin, _, end = text.rpartition("-")
    return _duration(begin or end), _duration(end)


def _duration(text: str) -> Duration:
    if text.isdigit():
        return np.timedelta64(int(text), "h").astype("timedelta64[ns]")
    found = _DURATION.fullmatch(text)
    if found is None or not text:
        raise InvalidInputError(f"step={text}: expected hours, or a duration such as 1h30m")
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return np.timedelta64(total, "s").astype("timedelta64[ns]")


def day(text: str) -> Moment:
    """A date of eight digits."""
    if len(text) != 8 or not text.isdigit():
        raise InvalidInputError(
            f'date={text}: expected a day; give time_dims=["date"] and drop_dims, or extra_dims, for other dates'
        )
    return np.datetime64(f"{text[:4]}-{text[4:6]}-{text[6:]}", "ns")


def time_of_day(text: str) -> Duration:
    """A time of four or six digits, as the time since midnight."""
    digits = text.replace(":", "")
    if len(digits) not in (4, 6) or not digits.isdigit():
        raise InvalidInputError(f"time={text}: expected a time such as 0600")
    seconds = int(digits[:2]) * 3600 + int(digits[2:4]) * 60 + int(digits[4:] or 0)
    return np.timedelta64(seconds, "s").astype("timedelta64[ns]")


def base_time(raw: Raw) -> Moment:
    """The time at which a forecast begins."""
    date, time = raw
    if date is None:
        raise InvalidInputError("a field without a date: expected time_dims without forecast_reference_time")
    return day(date) + time_of_day(time or "0000")


def end_step(raw: Raw) -> Duration:
    """The end of the step. A field without a step, such as an analysis, is one of step 0."""
    return steps(raw[0] or "0")[1]


def _valid_time(raw: Raw) -> Moment:
    return base_time(raw[:2]) + end_step(raw[2:])


def _date(raw: Raw) -> Any:
    return day(raw[0]) if raw[0] and len(raw[0]) == 8 else raw[0]


def _integer(raw: Raw) -> int:
    # The control forecast has no number, and is member 0 of its ensemble.
    return int(raw[0] or 0)


def number_of(text: str) -> int | float:
    """A whole number as int, another as float."""
    value = float(text)
    return int(value) if value.is_integer() else value


def _level(raw: Raw) -> int | float:
    return number_of(raw[0] or "0")


def _level_and_type(raw: Raw) -> str:
    return f"{raw[0] or ''}{raw[1] or ''}"


def _other(raw: Raw) -> Any:
    text = raw[0] or ""
    try:
        return number_of(text)
    except ValueError:
        return text


_REFERENCE_TIME = {"standard_name": "forecast_reference_time", "long_name": "initial time of forecast"}
_PERIOD = {"standard_name": "forecast_period", "long_name": "time since forecast_reference_time"}
_VALID_TIME = {"standard_name": "time", "long_name": "time"}
_REALIZATION = {"standard_name": "realization", "long_name": "ensemble member numerical id", "units": "1"}
VALID_TIME_ATTRIBUTES: Mapping[str, str] = _VALID_TIME

PREDEFINED: Mapping[str, Axis] = {
    axis.name: axis
    for axis in (
        Axis("number", ("number",), _integer, _REALIZATION),
        Axis("forecast_reference_time", ("date", "time"), base_time, _REFERENCE_TIME),
        Axis("valid_time", ("date", "time", "step"), _valid_time, _VALID_TIME),
        Axis("date", ("date",), _date, {"long_name": "base date"}),
        Axis("time", ("time",), lambda raw: time_of_day(raw[0] or "0000"), {"long_name": "base time"}),
        Axis("step", ("step",), end_step, _PERIOD),
        Axis("level", ("levelist",), _level),
        Axis("level_and_type", ("levelist", "levtype"), _level_and_type, {"long_name": "level and type"}),
    )
}
"""The axes by name. Those of time are the values of ``time_dims``."""
CFGRIB_LEVEL = Axis("level", ("levelist",), lambda raw: float(raw[0] or 0), descends_on=("pl",))
"""Levels as cfgrib has them."""

TIMES = ("forecast_reference_time", "step", "valid_time", "date", "time")


def axis_of(name: str, key: str) -> Axis:
    """The axis of any key under a name."""
    if key in PREDEFINED and key not in ("level", "level_and_type"):
        known = PREDEFINED[key]
        return Axis(name, known.keys, known.value, known.attributes)
    if key in ("level", "levelist"):
        return Axis(name, ("levelist",), _level)
    if key in _DATE_KEYS:
        return Axis(name, (key,), _date)
    return Axis(name, (key,), _other)


def coordinate(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Coordinates as an array: whole numbers as int64, and text where there is any."""
    if any(isinstance(value, str) for value in values):
        return np.array([str(value) for value in values])
    return np.array(values)


LEVELS: Mapping[str, Mapping[str, str]] = {
    "pl": {"standard_name": "air_pressure", "long_name": "pressure", "units": "hPa", "positive": "down"},
    "ml": {
        "standard_name": "atmosphere_hybrid_sigma_pressure_coordinate",
        "long_name": "hybrid level",
        "units": "1",
        "positive": "down",
    },
    "pt": {"standard_name": "air_potential_temperature", "long_name": "potential temperature", "units": "K"},
    "pv": {
        "standard_name": "ertel_potential_vorticity",
        "long_name": "potential vorticity",
        "units": "1e-9 K m2 kg-1 s-1",
    },
    "hl": {"standard_name": "height", "long_name": "height above the ground", "units": "m", "positive": "up"},
    "sol": {"long_name": "layer of soil, snow or ice", "units": "1", "positive": "down"},
    "o3d": {"long_name": "ocean layer", "units": "1", "positive": "down"},
}
"""CF attributes of levels for each levtype, whose values are in the units of MARS."""


def level_attributes(levtype: str | None, type_of_level: str | None) -> dict[str, str]:
    """The attributes of a level coordinate, with the type of level."""
    attributes = dict(LEVELS.get(levtype or "", {"long_name": "level"}))
    if levtype:
        attributes["level_type"] = levtype
    if type_of_level:
        attributes["GRIB_typeOfLevel"] = type_of_level
    return attributes
