"""Errors that name the field and its place, which a reader of one chunk of many would not know."""

from __future__ import annotations

from collections.abc import Mapping

from isotach._exceptions import IsotachError
from isotach._isotach import Location


def named(error: IsotachError, key: Mapping[str, str], location: Location | None) -> IsotachError:
    """The error, with the field and the place in its text and as its attributes."""
    field = ",".join(f"{name}={value}" for name, value in key.items())
    place = getattr(error, "place", None)
    if place is None and location is not None:
        place = f"{location.uri}, bytes {location.offset} to {location.offset + location.length}"
    text = type(error)(f"field {field}{f' ({place})' if place else ''}: {error}")
    text.__dict__.update({**vars(error), "field": field, "place": place})
    return text
