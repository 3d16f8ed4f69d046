"""What the header of a message says of a variable: names, units, and attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from isotach._xarray.message import Message

_OF_VARIABLE = (
    "paramId",
    "shortName",
    "name",
    "units",
    "cfName",
    "cfVarName",
    "dataType",
    "typeOfLevel",
    "stepType",
    "stepUnits",
    "totalNumber",
    "numberOfPoints",
    "gridDefinitionDescription",
    "uvRelativeToGrid",
    "NV",
    "Nx",
    "Ny",
    "numberOfDirections",
    "numberOfFrequencies",
)
_OF_ORIGIN = ("edition", "centre", "centreDescription", "subCentre")
_OF_OTHER_NAMES = ("Ni", "Nj", "bitmapPresent", "latLonValues", "latitudes", "longitudes", "values")


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
    names = [*_OF_VARIABLE, *(name for name in message.names("geography") if name not in _OF_OTHER_NAMES)]
    return Header(
        short_name=message.text("shortName"),
        cf_name=message.text("cfVarName"),
        standard_name=message.text("cfName"),
        long_name=message.text("name"),
        units=message.text("units"),
        type_of_level=message.text("typeOfLevel"),
        attributes=_attributes(message, names),
        origin=_attributes(message, _OF_ORIGIN),
    )


def _attributes(message: Message, names: list[str] | tuple[str, ...]) -> dict[str, Any]:
    found = {f"GRIB_{name}": message.get(name) for name in dict.fromkeys(names)}
    return {name: value for name, value in found.items() if value is not None}
