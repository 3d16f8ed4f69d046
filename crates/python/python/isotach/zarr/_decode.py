"""GRIB messages as arrays, through ecCodes."""

from __future__ import annotations

import importlib
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotach._exceptions import CorruptError, IsotachError, MessageError

_ALONE = threading.RLock()
_MISSING = -1e34
"""What ecCodes puts in place of a missing point. No field has such a value, and it fits in 32 bits."""


_DEGREES_APART_MAX = 1e-3
"""How far points may be apart: more than the rounding of GRIB 1, and less than any grid's distance."""
_differences: dict[tuple[str, str], str | None] = {}
"""What differs between grids of two digests."""
_DIFFERENCES_MAX = 1000


@dataclass(frozen=True)
class Grid:
    """The points of a grid, in the order of the values of its messages."""

    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    digest: str
    """ecCodes' digest of the section that describes the grid."""
    kind: str
    """ecCodes' name of the type, with what its points do not show."""
    coordinates: tuple[tuple[str, NDArray[np.float64]], ...]
    """Latitudes and longitudes in degrees: one for each row and column of a grid of rows, else one for each point."""

    @property
    def points(self) -> int:
        """The number of points."""
        return int(np.prod(self.shape))

    def difference(self, other: Grid) -> str | None:
        """What differs between the points of two grids, in words. None if they are the same in the same order.

        The section of a grid also has flags that move no point, so that its digest may differ.
        """
        if self.digest == other.digest:
            return None
        if (self.kind, self.shape) != (other.kind, other.shape):
            return f"{self.kind} of shape {self.shape}, expected {other.kind} of shape {other.shape}"
        for (name, places), (_, expected) in zip(self.coordinates, other.coordinates, strict=False):
            apart = float(np.abs(places - expected).max(initial=0))
            if places.size and not apart <= _DEGREES_APART_MAX:
                return f"{name}s up to {apart:g} degrees apart"
        return None


@dataclass(frozen=True)
class Parameter:
    """What a message says of its parameter."""

    short_name: str
    name: str
    units: str


def _eccodes() -> Any:
    """The package eccodes."""
    try:
        if "eccodes" not in sys.modules:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module("eccodes")
        return importlib.import_module("eccodes")
    except (ImportError, RuntimeError) as error:
        raise ImportError("decoding fields needs ecCodes: pip install isotach[zarr]") from error


def _turn() -> AbstractContextManager[Any]:
    """What a thread enters around a use of ecCodes: nothing, or a lock where it was built without threads."""
    features = _eccodes().codes_get_features(_eccodes().CODES_FEATURES_ENABLED)
    return nullcontext() if "ECCODES_THREADS" in features else _ALONE


@contextmanager
def _opened(message: Any) -> Iterator[Any]:
    """A message in ecCodes' hands. Errors of ecCodes become ours."""
    eccodes = _eccodes()
    data = bytes(message)
    if not data.startswith(b"GRIB"):
        raise MessageError(f"a field of {len(data)} bytes that is no GRIB message")
    with _turn():
        try:
            handle = eccodes.codes_new_from_message(data)
        except eccodes.CodesInternalError as error:
            raise MessageError(f"a GRIB message that cannot be decoded: {error}") from error
        try:
            yield handle
        except eccodes.CodesInternalError as error:
            raise MessageError(f"a GRIB message that cannot be decoded: {error}") from error
        finally:
            eccodes.codes_release(handle)


@contextmanager
def naming(key: Mapping[str, str]) -> Iterator[None]:
    """Adds the key of a field to the errors of reading it."""
    try:
        yield
    except IsotachError as error:
        name = ",".join(f"{name}={value}" for name, value in key.items())
        if isinstance(error, CorruptError):
            error.field = error.field or name
        error.add_note(f"field {name}")
        raise


def values_of(message: Any, grid: Grid, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values of a message, in one dimension. Missing points are NaN.

    Raises
    ------
    MessageError
        The field is no GRIB message, cannot be decoded, or has another grid.
    """
    eccodes = _eccodes()
    with _opened(message) as handle:
        differs = _difference(handle, grid)
        if differs is not None:
            raise MessageError(f"a field on another grid than the first field of its view: {differs}")
        has_bitmap = bool(eccodes.codes_get(handle, "bitmapPresent", int))
        if has_bitmap:
            eccodes.codes_set(handle, "missingValue", _MISSING)
        kind = np.float32 if dtype == np.float32 else float
        values: NDArray[Any] = eccodes.codes_get_array(handle, "values", ktype=kind)
    if values.size != grid.points:
        raise MessageError(f"a field of {values.size} values: expected {grid.points}, as the grid has points")
    if has_bitmap:
        values[values == dtype.type(_MISSING)] = np.nan
    return values


def described(message: Any) -> tuple[Grid, Parameter]:
    """The grid and the parameter of a message."""
    eccodes = _eccodes()
    with _opened(message) as handle:
        names = [eccodes.codes_get(handle, key, str) for key in ("shortName", "name", "units")]
        return _grid(handle), Parameter(*names)


def _digest(handle: Any) -> str:
    return str(_eccodes().codes_get(handle, "md5GridSection", str))


def _difference(handle: Any, grid: Grid) -> str | None:
    """What differs between the points of a message and those of a grid. They are compared once for each digest."""
    pair = _digest(handle), grid.digest
    if pair[0] == pair[1]:
        return None
    if pair not in _differences:
        if len(_differences) >= _DIFFERENCES_MAX:
            _differences.clear()
        differs = _differences[pair] = _grid(handle).difference(grid)
        return differs
    return _differences[pair]


def _kind(handle: Any) -> str:
    eccodes = _eccodes()
    kind = str(eccodes.codes_get(handle, "gridType", str))
    if kind == "sh":
        return f"sh of {'/'.join(eccodes.codes_get(handle, name, str) for name in 'JKM')}"
    # ecCodes gives the same places for rows of alternating direction.
    is_defined = bool(eccodes.codes_is_defined(handle, "alternativeRowScanning"))
    is_alternating = is_defined and eccodes.codes_get(handle, "alternativeRowScanning", int)
    return f"{kind} with alternating rows" if is_alternating else kind


def _grid(handle: Any) -> Grid:
    eccodes = _eccodes()
    points = int(eccodes.codes_get_size(handle, "values"))
    try:
        latitudes, longitudes = (
            eccodes.codes_get_array(handle, name, ktype=float) for name in ("latitudes", "longitudes")
        )
    except eccodes.CodesInternalError:
        # Spectral coefficients have no places.
        return Grid(("values",), (points,), _digest(handle), _kind(handle), ())
    rows = _rows(handle, latitudes, longitudes)
    names = ("latitude", "longitude")
    if rows is None:
        coordinates = tuple(zip(names, (latitudes, longitudes), strict=True))
        return Grid(("values",), (points,), _digest(handle), _kind(handle), coordinates)
    shape = (len(rows[0]), len(rows[1]))
    return Grid(names, shape, _digest(handle), _kind(handle), tuple(zip(names, rows, strict=True)))


def _rows(
    handle: Any, latitudes: NDArray[np.float64], longitudes: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The latitudes of the rows and the longitudes of the columns. None if the grid has no such rows."""
    eccodes = _eccodes()
    if eccodes.codes_get(handle, "gridType", str) not in ("regular_ll", "regular_gg"):
        return None
    shape = tuple(int(eccodes.codes_get(handle, key, int)) for key in ("Nj", "Ni"))
    if shape[0] * shape[1] != latitudes.size:
        return None
    by_row, by_column = latitudes.reshape(shape), longitudes.reshape(shape)
    if (by_row == by_row[:, :1]).all() and (by_column == by_column[:1]).all():
        return by_row[:, 0].copy(), by_column[0].copy()
    return None
