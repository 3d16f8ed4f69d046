"""Decoding: from the bytes of a field to its values. A decoder of another kind would take the place of this one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isotach._exceptions import MessageError
from isotach._xarray.alike import differing
from isotach._xarray.grid import Grid
from isotach._xarray.message import Number, Values, opened


def decode(data: Any, grid: Grid, dtype: np.dtype[Number], reference: Callable[[], Any]) -> Values:
    """The values of a field in the order of its message, with NaN where its bitmap leaves points out.

    Parameters
    ----------
    data
        The bytes of one GRIB message.
    grid
        The grid that the field must be on.
    reference
        Reads a message on this grid.

    Raises
    ------
    MessageError
        The message cannot be decoded, or the field is on another grid.
    """
    with opened(data) as message:
        differs = differing(message, grid, reference)
        if differs is not None:
            raise MessageError(f"the field is on another grid: {differs}")
        return message.values(dtype)
