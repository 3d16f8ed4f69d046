"""Whether two messages have the same points, whose grid sections may differ: in a flag, or in the edition of GRIB."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isotach._xarray.grid import Grid, points_of
from isotach._xarray.message import Message, opened

DEGREES_APART_MAX = 1e-3
"""How far points may be apart: more than the rounding of GRIB 1, and less than any grid's distance."""
_OF_SPECTRUM = ("J", "K", "M")
_ALTERNATING = "alternativeRowScanning"
"""The flag of rows of alternating direction, for which ecCodes gives the same points as without it."""
_PAIRS_MAX = 1000

_differences: dict[tuple[str, str], str | None] = {}
"""What differs between grids of two hashes. None if their points are the same."""


def differing(message: Message, grid: Grid, reference: Callable[[], Any]) -> str | None:
    """What differs between the points of a message and those of a grid, in words. None if they are the same.

    The reference is a message on the grid. It is read once for each hash of a grid section.
    """
    found = message.text("md5GridSection") or ""
    if found == grid.hash:
        return None
    if (grid.hash, found) in _differences:
        return _differences[grid.hash, found]
    with opened(reference()) as other:
        if other.text("md5GridSection") != grid.hash:
            return "the field that the grid is from was replaced"
        differs = difference(message, other)
    if len(_differences) >= _PAIRS_MAX:
        _differences.clear()
    _differences[grid.hash, found] = differs
    return differs


def difference(message: Message, other: Message) -> str | None:
    """What differs between the points of two messages, in words. None if these are the same in the same order."""
    kind = message.text("gridType")
    facts = {"gridType": (kind, other.text("gridType")), "points": (message.size(), other.size())}
    keys = _OF_SPECTRUM if kind == "sh" else (_ALTERNATING,)
    facts |= {key: (message.get(key) or 0, other.get(key) or 0) for key in keys}
    for name, (found, expected) in facts.items():
        if found != expected:
            return f"{name}={found}, expected {expected}"
    if kind == "sh":
        return None
    for name in ("latitude", "longitude"):
        apart = float(np.abs(points_of(message, name) - points_of(other, name)).max(initial=0))
        if not apart <= DEGREES_APART_MAX:
            return f"{name}s up to {apart:g} degrees apart"
    return None
