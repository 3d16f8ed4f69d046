"""What the header of a message says of a variable: names, units, and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from isotach._xarray.message import Message

_NAMES = ("shortName", "name", "units", "cfName", "cfVarName")
"""Keys that ecCodes looks up in its tables, which takes long."""
_TEXTS = ("dataType", "typeOfLevel", "stepType", "gridType", "gridDefinitionDescription")
_NUMBERS = (
    "paramId",
    "stepUnits",
    "totalNumber",
    "numberOfPoints",
    "uvRelativeToGrid",
    "NV",
    "Nx",
    "Ny",
    "numberOfDirections",
    "numberOfFrequencies",
)
_OF_ORIGIN = ("edition", "centre", "centreDescription", "subCentre")
_OF_OTHER_NAMES = (
    "gridType",
    "Ni",
    "Nj",
    "bitmapPresent",
    "latLonValues",
    "latitudes",
    "longitudes",
    "values",
)


@dataclass(frozen=True)
class Header:
    """What one message says."""

    short_name: str | None
    cf_name: str | None
    """The name of the variable in CF's manner, such as t2m."""
    standard_name: str | None
    long_name: str | None
    units: str | None
    type_of_level: str | None
    attributes: dict[str, Any]
    """GRIB_ attributes of the variable."""
    origin: dict[str, Any]
    """GRIB_ attributes of the producer, which a dataset has for all of its variables if they are equal."""


def header_of(message: Message) -> Header:
    """The header of a message."""
    texts = {name: message.text(name) for name in (*_NAMES, *_TEXTS)}
    names = [*_NUMBERS, *(name for name in message.names("geography") if name not in _OF_OTHER_NAMES)]
    found: dict[str, Any] = {**texts, **{name: message.get(name) for name in dict.fromkeys(names)}}
    return Header(
        short_name=texts["shortName"],
        cf_name=texts["cfVarName"],
        standard_name=texts["cfName"],
        long_name=texts["name"],
        units=texts["units"],
        type_of_level=texts["typeOfLevel"],
        attributes=_attributes(found),
        origin=_attributes({name: message.get(name) for name in _OF_ORIGIN}),
    )


def _attributes(found: dict[str, Any]) -> dict[str, Any]:
    return {f"GRIB_{name}": value for name, value in found.items() if value is not None}
