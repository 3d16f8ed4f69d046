"""Grids: the dimensions and coordinates of the points of a field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isotach._xarray.message import Doubles, Message, Values

_SEPARABLE = ("regular_ll", "regular_gg", "mercator")
"""Grids whose latitude depends on the row only, and whose longitude on the column."""


@dataclass(frozen=True)
class Grid:
    """The points of a field, and how the values of a message become an array over them."""

    hash: str
    kind: str
    """ecCodes' gridType."""
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    is_by_column: bool
    """Whether the message has one column after the other."""
    axes: Mapping[str, Doubles]
    """The coordinates of dimensions. Empty where latitude and longitude are functions of the point."""
    has_points: bool
    """Whether every point has a latitude and a longitude."""

    def arranged(self, values: Values) -> Values:
        """The values of a message as an array over the dimensions."""
        if not self.is_by_column:
            return values.reshape(self.shape)
        return values.reshape(self.shape[::-1]).T

    def flattened(self, values: Values) -> Values:
        """An array over the dimensions in the order of the message."""
        return (values.T if self.is_by_column else values).reshape(-1)


def grid_of(message: Message, *, is_flat: bool = False) -> Grid:
    """The grid of a message. A flat one has the dimension ``values`` only."""
    kind = message.text("gridType") or "unknown"
    size = message.size()
    rows, columns = message.get("Nj") or message.get("Ny"), message.get("Ni") or message.get("Nx")
    is_matrix = (
        bool(rows and columns) and rows * columns == size and not message.get("alternativeRowScanning")
    )
    has_points = kind != "sh" and (message.get("numberOfDataPoints") or size) == size
    grid = Grid(
        hash=message.text("md5GridSection") or "",
        kind=kind,
        dims=("values",),
        shape=(size,),
        is_by_column=False,
        axes={},
        has_points=has_points,
    )
    if is_flat or not is_matrix or not has_points:
        return grid
    is_separable = kind in _SEPARABLE
    matrix = Grid(
        hash=grid.hash,
        kind=kind,
        dims=("latitude", "longitude") if is_separable else ("y", "x"),
        shape=(rows, columns),
        is_by_column=bool(message.get("jPointsAreConsecutive")),
        axes={},
        has_points=True,
    )
    return _with_axes(matrix, message) if is_separable else matrix


def _with_axes(grid: Grid, message: Message) -> Grid:
    latitude = grid.arranged(points_of(message, "latitude"))[:, 0].copy()
    longitude = grid.arranged(points_of(message, "longitude"))[0, :].copy()
    return Grid(**{**vars(grid), "axes": {"latitude": latitude, "longitude": longitude}})


def points_of(message: Message, name: str) -> Doubles:
    """The latitude or longitude of every point in degrees, in the order of the message."""
    return message.array(f"{name}s")
