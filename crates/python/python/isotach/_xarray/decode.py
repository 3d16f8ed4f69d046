"""Decoding: from the bytes of a field to its values. A decoder of another kind would take the place of this one function."""

from __future__ import annotations

from typing import Any

import numpy as np

from isotach._exceptions import MessageError
from isotach._xarray.message import Number, Values, opened


def decode(data: Any, grid: str, dtype: np.dtype[Number]) -> Values:
    """The values of a field in the order of its message, with NaN where its bitmap leaves points out.

    Parameters
    ----------
    data
        The bytes of one GRIB message.
    grid
        The hash of the grid that the field must be on.

    Raises
    ------
    MessageError
        The message cannot be decoded, or the field is on another grid.
    """
    with opened(data) as message:
        found = message.text("md5GridSection")
        if found != grid:
            raise MessageError(f"the field is on another grid: {found}, expected {grid}")
        return message.values(dtype)
