"""Values of chosen points of many fields, without reading the rest of them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isotach import _isotach
from isotach._arguments import RequestLike, request_of
from isotach._extras import extra
from isotach._reports import Key, Missing
from isotach._retrieval import WhenMissing, checked, report_missing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Choice = tuple[str, Any]
"""How points are chosen, and by what: see the native module."""


@dataclass(frozen=True, slots=True, eq=False)
class PointValues:
    """The values of chosen points of the fields of a request; see :meth:`Store.values`."""

    keys: list[Key]
    """The key of each field that was found, in the request's order."""
    values: NDArray[np.float64] = field(repr=False)
    """One row for each field, one column for each point. NaN only where a field's bitmap says that the value is missing."""
    indices: NDArray[np.int64] = field(repr=False)
    """The place of each point among the values of the (first) field."""
    latitudes: NDArray[np.float64] | None = field(repr=False)
    """Degrees north of each point. None if the points were chosen by place."""
    longitudes: NDArray[np.float64] | None = field(repr=False)
    """Degrees east of each point, from 0 to below 360. None if the points were chosen by place."""
    grids: list[str] = field(repr=False)
    """The hash of each field's grid: ecCodes' key ``md5GridSection``."""
    whole: int
    """The number of fields whose packing cannot be decoded point by point. ecCodes decoded them as a whole."""
    indexed: int
    """The number of fields that were read as a whole because their jump index was not made yet, was damaged, or has another
    version. Where the store can be written to, the first two have one now."""
    missing: Missing | None = field(repr=False)
    """The fields of the request that do not exist. None if a whole dataset could not be read."""

    @property
    def grid(self) -> str | None:
        """The hash of the grid of all fields. None without fields, and for several grids."""
        grids = set(self.grids)
        return grids.pop() if len(grids) == 1 else None

    def __len__(self) -> int:
        """The number of fields."""
        return len(self.keys)


class PointReader:
    """The part of a store that reads values of points."""

    __slots__ = ()

    _native: _isotach.Handle

    def values(
        self,
        request: RequestLike = None,
        /,
        *,
        points: Any = None,
        box: Sequence[float] | None = None,
        ranges: Iterable[tuple[int, int]] | None = None,
        grid_hash: str | None = None,
        any_grid: bool = False,
        missing: WhenMissing = "raise",
        threads: int | None = None,
        **keywords: Any,
    ) -> PointValues:
        """The values of chosen points of the fields that a request names.

        Only the bytes of these points are read, of many fields at once, and decoded, by threads that do not hold the
        interpreter's lock. This needs the field's jump index, which is made when the field is archived, or when it is first
        used. A packing other than simple and CCSDS has none: its fields are decoded as a whole by ecCodes, and counted in
        :attr:`PointValues.whole`. The values are those of ecCodes, bit for bit.

        Give one of ``points``, ``box`` and ``ranges``.

        Parameters
        ----------
        points
            Places among the values of a field, counted from 0; or pairs of latitude and longitude in degrees, for each of
            which the nearest grid point is taken.
        box
            North, west, south, east in degrees: all grid points within, borders included, in the order of the field.
        ranges
            Pairs of a first place and the place behind the last.
        grid_hash
            The hash that the grid of each field must have. Without it, all must have the same grid.
        any_grid
            Permits several grids. The same places are then different points. Not with ``grid_hash``.
        missing
            What happens if fields of the request do not exist: see :meth:`retrieve`. With ``"raise"`` nothing is returned.
        threads
            How many threads share the work. None for one on each processor.

        Returns
        -------
        The values, of shape (fields, points), with keys, places and coordinates.

        Raises
        ------
        InvalidInputError
            The request cannot be understood, or a point is not on the grid of a field.
        GridError
            A field has another grid than expected.
        CorruptError
            A field is damaged.
        MessageError
            ecCodes is missing or refuses a field that has to be decoded as a whole.
        ImportError
            numpy is not installed.
        """
        _check_numpy()
        how = checked(missing)
        choice = _choice(points, box, ranges)
        if any_grid and grid_hash is not None:
            raise ValueError("both grid_hash and any_grid: expected one of them")
        if threads is not None and threads < 1:
            raise ValueError(f"threads={threads}: expected at least 1")
        asked = request_of(request, keywords)
        found = _isotach.values(self._native, asked, choice, (grid_hash, any_grid), threads or 0)
        explain = None if found["keys"] else lambda: self._native.explain(asked)
        report_missing(found["missing"], how, explain, stacklevel=3)
        return _result(choice, found)


def _check_numpy() -> None:
    """Refuses a call without numpy before anything is read."""
    with extra("values"):
        import numpy as np  # noqa: F401


def _choice(points: Any, box: Any, ranges: Any) -> Choice:
    """The points of a call."""
    given = [
        name for name, value in (("points", points), ("box", box), ("ranges", ranges)) if value is not None
    ]
    if len(given) != 1:
        raise TypeError(f"{' and '.join(given) or 'no points'}: expected one of points, box and ranges")
    if box is not None:
        corners = tuple(float(corner) for corner in box)
        if len(corners) != 4:
            raise ValueError(f"box={box!r}: expected north, west, south, east")
        return "box", corners
    if ranges is not None:
        return "ranges", [_range(pair) for pair in ranges]
    listed = points.tolist() if hasattr(points, "tolist") else list(points)
    if any(isinstance(point, (Sequence, tuple)) for point in listed):
        return "nearest", [_location(point) for point in listed]
    if any(isinstance(point, bool) for point in listed):
        raise TypeError(
            "points: expected places or pairs of latitude and longitude; numpy.flatnonzero(mask) gives the places of a mask"
        )
    return "ranges", [_range((point, operator.index(point) + 1)) for point in listed]


def _range(pair: Any) -> tuple[int, int]:
    start, end = (operator.index(place) for place in pair)
    if not 0 <= start <= end:
        raise ValueError(
            f"points {start} to {end}: expected 0 or more, and an end that is not before the start"
        )
    return start, end


def _location(pair: Any) -> tuple[float, float]:
    try:
        latitude, longitude = pair
    except (TypeError, ValueError):
        raise ValueError(f"point {pair!r}: expected latitude and longitude") from None
    return float(latitude), float(longitude)


def _result(choice: Choice, found: dict[str, Any]) -> PointValues:
    with extra("values"):
        import numpy as np
    kind, points = choice
    values = np.frombuffer(found["values"], dtype="<f8")
    latitudes = longitudes = None
    if kind == "ranges":
        spans = [np.arange(start, end, dtype=np.int64) for start, end in points]
        indices = np.concatenate(spans) if spans else np.empty(0, np.int64)
    else:
        indices = np.frombuffer(found["indices"], dtype="<i8")
        latitudes = np.frombuffer(found["latitudes"], dtype="<f8")
        longitudes = np.frombuffer(found["longitudes"], dtype="<f8")
    return PointValues(
        keys=found["keys"],
        values=values.reshape(len(found["keys"]), len(indices)),
        indices=indices,
        latitudes=latitudes,
        longitudes=longitudes,
        grids=found["grids"],
        whole=found["whole"],
        indexed=found["indexed"],
        missing=found["missing"],
    )
